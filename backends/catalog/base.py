"""What a catalog must offer: the one place where text is kept and read again."""

from collections.abc import Sequence
from typing import Protocol

from domain.identity import Scope
from domain.knowledge import Chunk, Document, Quarantined, Window


class Catalog(Protocol):
    """Documents with their chunks. Nothing blocks the event loop."""

    async def hashes(self, collection: str) -> dict[str, str]:
        """Source -> content hash of every document of a collection."""
        ...

    async def replace(self, document: Document, chunks: Sequence[Chunk]) -> list[str]:
        """Store a document with its chunks in place of an older one; the old chunk ids."""
        ...

    async def remove(self, collection: str, source: str) -> list[str]:
        """Forget a document; the ids of the chunks that went."""
        ...

    async def windows(
        self, chunk_ids: Sequence[str], *, scope: Scope, neighbours: int
    ) -> dict[str, Window]:
        """Each visible chunk with up to `neighbours` each side within its section."""
        ...

    async def siblings(self, chunk_id: str, *, scope: Scope) -> list[Chunk]:
        """All chunks of the section of a visible chunk, in order."""
        ...

    async def documents(self, *, scope: Scope) -> list[Document]:
        """Visible documents by source, with an empty `text`."""
        ...

    async def text(self, document_id: str, start: int, end: int, *, scope: Scope) -> str | None:
        """A verbatim piece of a visible document; None where it is not there or not visible."""
        ...

    async def tenants(self) -> list[str]:
        """The tenants that have at least one document."""
        ...

    async def document(self, document_id: str, *, scope: Scope) -> Document | None:
        """One visible document with its whole text; None where it is not there or not visible."""
        ...

    async def quarantine(
        self, collection: str, entries: Sequence[Quarantined], *, tenant: str
    ) -> None:
        """Replace the quarantine of a collection, which belongs to `tenant`."""
        ...

    async def quarantined(self, *, tenant: str) -> list[Quarantined]:
        """What was not loaded for a tenant, and why."""
        ...

    async def count(self, tenant: str = "") -> tuple[int, int]:
        """Documents and chunks, of one tenant or of all."""
        ...

    async def close(self) -> None:
        """Let go of the database."""
        ...
