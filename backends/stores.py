"""All stores of one knowledge version, opened and closed together."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from backends.catalog.base import Catalog
from backends.catalog.sqlite import SqliteCatalog
from backends.dense.base import DenseStore
from backends.dense.edge import EdgeDenseStore
from backends.entities.base import EntityStore
from backends.entities.kglite_graph import KgliteStore
from backends.lexical.base import LexicalStore
from backends.lexical.tantivy_index import TantivyStore
from backends.relational.base import Relational
from backends.relational.sqlite import SqliteRelational
from backends.versions import damaged, is_full_disk
from domain.errors import AgenticRagError, StoreBusy
from runtime.threads import in_thread


class _Closable(Protocol):
    async def close(self) -> None: ...


S = TypeVar("S", bound=_Closable)


@dataclass(frozen=True)
class Knowledge:
    """One version of everything that is known, open; `fingerprint` is its embedder's."""

    version: str
    catalog: Catalog
    dense: DenseStore
    lexical: LexicalStore
    entities: EntityStore
    relational: Relational
    fingerprint: str
    release: Callable[[], None] = field(default=lambda: None, repr=False, compare=False)

    async def close(self) -> None:
        """Close every store, each even if another one fails, and let others have them."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(asyncio.to_thread, self.release)
            for part in (self.catalog, self.dense, self.lexical, self.entities, self.relational):
                stack.push_async_callback(part.close)


async def open_stores(
    directory: Path,
    version: str,
    fingerprint: str,
    dimension: int,
    *,
    read_only: bool = False,
    release: Callable[[], None] = lambda: None,
) -> Knowledge:
    """Open the stores of a directory; what was opened before one fails is closed again.

    Raises KnowledgeError naming the directory where one is damaged, StoreBusy where another
    process has it, OSError on a full disk.
    """
    async with AsyncExitStack() as opened:

        async def store(open_: Callable[[], S]) -> S:
            part = await in_thread(open_)
            opened.push_async_callback(part.close)
            return part

        try:
            knowledge = Knowledge(
                version=version,
                catalog=await store(
                    lambda: SqliteCatalog(directory / "catalog.sqlite", read_only=read_only)
                ),
                dense=await store(lambda: EdgeDenseStore(directory / "dense", dimension)),
                lexical=await store(lambda: TantivyStore(directory / "lexical")),
                entities=await store(lambda: KgliteStore(directory / "entities")),
                relational=await store(lambda: SqliteRelational(directory / "relational")),
                fingerprint=fingerprint,
                release=release,
            )
        except StoreBusy:
            raise
        except Exception as error:
            if is_full_disk(error):
                raise
            reason = str(error) if isinstance(error, AgenticRagError) else repr(error)
            raise damaged(directory, reason) from error
        opened.pop_all()
    return knowledge


async def must_be_whole(knowledge: Knowledge, chunks: int, directory: Path) -> None:
    """Raises KnowledgeError unless every store holds that many chunks."""
    _, catalog = await knowledge.catalog.count()
    counts = {
        "catalog": catalog,
        "dense": await knowledge.dense.count(),
        "lexical": await knowledge.lexical.count(),
    }
    if set(counts.values()) != {chunks}:
        held = ", ".join(f"{part} {number}" for part, number in counts.items())
        raise damaged(directory, f"it should hold {chunks} chunks everywhere, but holds {held}")
