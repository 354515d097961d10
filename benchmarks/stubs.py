"""A knowledge that answers at once from memory, so that only the graph itself is measured."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from backends.embed.base import Vector, Vectors
from backends.library import Library
from backends.stores import Knowledge
from domain.evidence import Hit, ToolResult
from domain.identity import Scope
from domain.knowledge import Chunk, Document, Entity, Metadata, Relation, Window
from graph.services import Services
from runtime.clock import SystemClock
from runtime.identity import Identity
from runtime.ids import random_id
from runtime.policy import Policies
from runtime.settings import Settings
from tools.base import ToolArgs, make_tool
from tools.guard import Guard
from tools.knowledge import SEARCHES, SearchArgs
from tools.reader import EvidenceReader, OutsideCache

PAGES = {
    "limits.md": "A tenant limit is the highest number of concurrent requests that the gateway "
    "accepts from one merchant. Requests above it are refused with the error code E4291.",
    "glossary.md": "The gateway counts requests of payments, refunds and risk callbacks against "
    "the tenant limit of the merchant.",
    "raising.md": "A tenant limit is raised by the gateway team after a load test. The request "
    "needs the expected peak of concurrent requests.",
}
META = Metadata(tenant="demo", doc_type="document", language="en", authority=80)


class StubCatalog:
    """Documents of one chunk each."""

    def __init__(self) -> None:
        self.chunks = {source: _chunk(source, text) for source, text in PAGES.items()}

    async def count(self, tenant: str = "") -> tuple[int, int]:
        return len(self.chunks), len(self.chunks)

    async def windows(
        self, chunk_ids: Sequence[str], *, scope: Scope, neighbours: int
    ) -> dict[str, Window]:
        return {
            id: Window(chunk=(chunk := self.chunks[id]), text=chunk.text, start=0, end=chunk.end)
            for id in chunk_ids
        }

    async def document(self, document_id: str, *, scope: Scope) -> Document:
        return Document(
            id=document_id,
            collection="demo",
            source=document_id,
            title=document_id,
            text=PAGES[document_id],
            content_hash="-",
            meta=META,
        )

    async def documents(self, *, scope: Scope) -> list[Document]:
        return []

    async def siblings(self, chunk_id: str, *, scope: Scope) -> list[Chunk]:
        return [self.chunks[chunk_id]]


class StubLexical:
    """Every asked term stands in one chunk."""

    async def document_frequency(self, terms: Sequence[str], *, scope: Scope) -> dict[str, int]:
        return dict.fromkeys(terms, 1)


class StubEntities:
    """No entities."""

    async def link(self, text: str, *, scope: Scope) -> list[Entity]:
        return []

    async def relations(self, ids: Sequence[str], *, scope: Scope) -> list[Relation]:
        return []


class StubRelational:
    """No templates."""

    async def templates(self, *, scope: Scope) -> list[Any]:
        return []


class StubEmbedder:
    """Every text is as near to every other as can be."""

    fingerprint = "stub"
    dimension = 8

    async def embed_query(self, text: str) -> Vector:
        return np.full(8, 8**-0.5, np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.full((len(texts), 8), 8**-0.5, np.float32)

    async def close(self) -> None:
        await asyncio.sleep(0)


class StubLibrary:
    """One version, always open."""

    def __init__(self) -> None:
        stubs: dict[str, Any] = {
            "catalog": StubCatalog(),
            "dense": None,
            "lexical": StubLexical(),
            "entities": StubEntities(),
            "relational": StubRelational(),
        }
        self.knowledge = Knowledge(version="v1", fingerprint="stub", **stubs)

    async def embedder(self) -> StubEmbedder:
        return StubEmbedder()

    async def current(self) -> Knowledge:
        return self.knowledge

    async def version(self, version: str) -> Knowledge:
        return self.knowledge


def stub_services() -> Services:
    """The real services over stub stores, with stub tools behind the real guard."""
    settings = Settings(_env_file=None, data_dir=Path("unused"))
    library = cast(Library, StubLibrary())
    outside = OutsideCache()
    tools = [make_tool(spec.name, spec.description, SearchArgs, _found) for spec in SEARCHES]
    return Services(
        settings=settings,
        clock=SystemClock(),
        new_id=random_id,
        identity=Identity(settings.developer),
        policies=Policies(),
        library=library,
        guard=Guard({tool.name: tool for tool in tools}, Policies()),
        reader=EvidenceReader(library, outside),
    )


async def _found(args: ToolArgs, scope: Scope) -> ToolResult:
    hits = tuple(Hit(chunk_id=id, score=0.9 - rank / 10) for rank, id in enumerate(PAGES))
    return ToolResult(tool="knowledge_search", arms={"dense": hits, "lexical": hits})


def _chunk(source: str, text: str) -> Chunk:
    return Chunk(
        id=source,
        document_id=source,
        source=source,
        title=source.removesuffix(".md").capitalize(),
        ordinal=0,
        section="1",
        text=text,
        start=0,
        end=len(text),
        meta=META,
    )
