"""What a word index must offer."""

from collections.abc import Sequence
from typing import Protocol

from domain.evidence import Hit
from domain.identity import Scope
from domain.knowledge import Chunk


class LexicalStore(Protocol):
    """Chunks by the words they share with a question (BM25). Nothing blocks the event loop."""

    async def upsert(self, chunks: Sequence[Chunk]) -> None:
        """Write or replace; visible to searches after `flush`."""
        ...

    async def delete(self, chunk_ids: Sequence[str]) -> None:
        """Remove; ids that are not there are no error; visible after `flush`."""
        ...

    async def search(self, query: str, *, scope: Scope, limit: int) -> list[Hit]:
        """The best `limit` chunks of the scope that share a word with `query`, best first.

        A question that matches no word gives an empty list. `query` is plain text: no
        character of it is an operator.
        """
        ...

    async def document_frequency(self, terms: Sequence[str], *, scope: Scope) -> dict[str, int]:
        """For each analysed term the number of chunks of the scope that hold it."""
        ...

    async def count(self) -> int:
        """How many chunks are stored, over all tenants."""
        ...

    async def flush(self) -> None:
        """Commit: durable and visible."""
        ...

    async def close(self) -> None:
        """Flush and let go of the files."""
        ...
