"""What a vector store must offer."""

from collections.abc import Sequence
from typing import Protocol

from backends.embed.base import Vector, Vectors
from domain.evidence import Hit
from domain.identity import Scope
from domain.knowledge import Chunk


class DenseStore(Protocol):
    """Chunks by the nearness of their vectors. Nothing here blocks the event loop."""

    async def upsert(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Write or replace; `vectors[i]` belongs to `chunks[i]`."""
        ...

    async def delete(self, chunk_ids: Sequence[str]) -> None:
        """Remove; ids that are not there are no error."""
        ...

    async def search(self, vector: Vector, *, scope: Scope, limit: int) -> list[Hit]:
        """The `limit` nearest chunks within the scope, best first, score = cosine.

        As many as the scope holds, up to `limit`: a filter never makes the result short.
        """
        ...

    async def count(self) -> int:
        """How many chunks are stored, over all tenants."""
        ...

    async def flush(self) -> None:
        """Make everything written durable."""
        ...

    async def close(self) -> None:
        """Flush and let go of the files."""
        ...
