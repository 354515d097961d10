"""Puts prepared documents into all stores of a draft, in batches."""

import re
from collections.abc import Sequence

from backends.embed import Embedder
from backends.knowledge import Knowledge
from domain.knowledge import Chunk, Document
from ingest.report import Timings
from runtime.clock import Clock

_BATCH = 64
_PADDING = re.compile(r"[ \t]{2,}|-{4,}")


class Writer:
    """Collects documents until a batch is worth embedding. `chunks` counts what was written."""

    def __init__(self, knowledge: Knowledge, embedder: Embedder, clock: Clock) -> None:
        self._knowledge = knowledge
        self._embedder = embedder
        self._clock = clock
        self._waiting: list[tuple[Document, tuple[Chunk, ...]]] = []
        self.chunks = 0
        self.embed_seconds = 0.0
        self.index_seconds = 0.0

    async def add(self, document: Document, chunks: tuple[Chunk, ...]) -> None:
        self._waiting.append((document, chunks))
        if sum(len(chunks) for _, chunks in self._waiting) >= _BATCH:
            await self.flush()

    async def remove(self, collection: str, source: str) -> None:
        """Take a document out of every store."""
        gone = await self._knowledge.catalog.remove(collection, source)
        await self._delete(gone)

    async def flush(self) -> None:
        """Embed and write everything that waits."""
        waiting, self._waiting = self._waiting, []
        chunks = [chunk for _, some in waiting for chunk in some]
        if not waiting:
            return
        begun = self._clock.monotonic()
        vectors = await self._embedder.embed_passages([searched_text(chunk) for chunk in chunks])
        embedded = self._clock.monotonic()
        for document, some in waiting:
            old = await self._knowledge.catalog.replace(document, some)
            await self._delete(old)
        if chunks:
            await self._knowledge.dense.upsert(chunks, vectors)
            await self._knowledge.lexical.upsert(chunks)
        self.chunks += len(chunks)
        self.embed_seconds += embedded - begun
        self.index_seconds += self._clock.monotonic() - embedded

    def timings(self, parse: float) -> Timings:
        return Timings(parse=parse, embed=self.embed_seconds, index=self.index_seconds)

    async def _delete(self, chunk_ids: Sequence[str]) -> None:
        if chunk_ids:
            await self._knowledge.dense.delete(chunk_ids)
            await self._knowledge.lexical.delete(chunk_ids)


def searched_text(chunk: Chunk) -> str:
    """What an embedder reads: the context and the text without the padding of tables."""
    return _PADDING.sub(" ", f"{chunk.context}\n{chunk.text}")
