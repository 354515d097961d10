"""Vectors in Qdrant's own engine, embedded.

The shard is never optimised here: that would hold the interpreter for minutes. Searches over
an unoptimised shard are exact.
"""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import qdrant_edge as qe

from backends.embed.base import Vector, Vectors
from backends.scoping import INTEGERS, KEYWORDS, Condensed, Condition, condense, fields
from domain.errors import BackendError, KnowledgeError, StoreBusy
from domain.evidence import Hit
from domain.identity import Scope
from domain.knowledge import Chunk

T = TypeVar("T")

_NAMESPACE = uuid.UUID("6f0d7f1e-4f0c-5a3e-9a55-2f4f5a1c9b61")
_BATCH = 256
_SEARCH_THREADS = 4


class EdgeDenseStore:
    """A DenseStore in a directory that one process holds at a time.

    The constructor reads the disk: on an event loop use `open`. Every acknowledged write
    survives the process (write-ahead log). Raises StoreBusy where another process has the
    directory, KnowledgeError where it is damaged or holds vectors of another dimension.
    """

    def __init__(self, directory: Path, dimension: int) -> None:
        self._directory = directory
        self._shard = _open(directory, dimension)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="dense-write")
        self._readers = ThreadPoolExecutor(_SEARCH_THREADS, thread_name_prefix="dense-read")
        self._closed = False

    @classmethod
    async def open(cls, directory: Path, dimension: int) -> "EdgeDenseStore":
        """The constructor, off the event loop."""
        return await asyncio.to_thread(cls, directory, dimension)

    async def upsert(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Write or replace; `vectors[i]` belongs to `chunks[i]`."""
        if len(chunks) != len(vectors):
            raise BackendError(f"{len(chunks)} chunks came with {len(vectors)} vectors")
        for start in range(0, len(chunks), _BATCH):
            part = slice(start, start + _BATCH)
            await self._run(self._writer, partial(self._write, chunks[part], vectors[part]))

    async def delete(self, chunk_ids: Sequence[str]) -> None:
        """Remove; ids that are not there are no error."""
        if chunk_ids:
            operation = qe.UpdateOperation.delete_points([_point_id(i) for i in chunk_ids])
            await self._run(self._writer, lambda: self._shard.update(operation))

    async def search(self, vector: Vector, *, scope: Scope, limit: int) -> list[Hit]:
        """The `limit` nearest chunks within the scope, best first, score = cosine."""
        condensed = condense(scope)
        if condensed is None or limit < 1:
            return []
        request = qe.QueryRequest(
            query=qe.Query.Nearest(vector.tolist()),
            filter=_filter(condensed),
            limit=limit,
            with_payload=qe.PayloadSelector.Include(["chunk_id"]),
        )
        points = await self._run(self._readers, lambda: self._shard.query(request))
        hits = [Hit(chunk_id=str((p.payload or {})["chunk_id"]), score=p.score) for p in points]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    async def count(self) -> int:
        """How many chunks are stored, over all tenants."""
        request = qe.CountRequest(exact=True)
        return await self._run(self._readers, lambda: self._shard.count(request))

    async def flush(self) -> None:
        """Make everything written durable."""
        await self._run(self._writer, self._shard.flush)

    async def close(self) -> None:
        """Flush and let go of the files; a second call does nothing."""
        if self._closed:
            return
        await self.flush()
        self._closed = True
        await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        self._shard.close()

    def _write(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        points = [
            qe.Point(_point_id(chunk.id), vector, {**fields(chunk), "chunk_id": chunk.id})
            for chunk, vector in zip(chunks, vectors.tolist(), strict=True)
        ]
        self._shard.update(qe.UpdateOperation.upsert_points(points))

    async def _run(self, pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        if self._closed:
            raise BackendError(f"the vector store in {self._directory} is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, call)
        except Exception as error:  # the engine raises nothing narrower
            raise BackendError(f"the vector store in {self._directory} failed: {error}") from error


def _point_id(chunk_id: str) -> uuid.UUID:
    return uuid.uuid5(_NAMESPACE, chunk_id)


def _open(directory: Path, dimension: int) -> qe.EdgeShard:
    directory.mkdir(parents=True, exist_ok=True)
    config = qe.EdgeConfig(
        vectors=qe.EdgeVectorParams(size=dimension, distance=qe.Distance.Cosine),
        wal_enabled=True,
    )
    new = not (directory / "edge_config.json").exists()
    try:
        if not new:
            return qe.EdgeShard.load(str(directory), config)
        shard = qe.EdgeShard.create(str(directory), config)
        for name in (*KEYWORDS, *INTEGERS):
            kind = qe.PayloadSchemaType
            schema = kind.Keyword if name in KEYWORDS else kind.Integer
            shard.update(qe.UpdateOperation.create_field_index(name, schema))
        shard.flush()
    except Exception as error:  # the engine raises nothing narrower
        raise _explained(directory, dimension, error) from error
    return shard


def _explained(directory: Path, dimension: int, error: Exception) -> KnowledgeError:
    text = str(error)
    if "WouldBlock" in text:
        return StoreBusy(
            f"the vector store in {directory} is in use by another process. Stop that process, "
            "or put your question to it instead of opening its data."
        )
    if "vector size" in text:
        return KnowledgeError(
            f"the vector store in {directory} was made with another embedder: {dimension} "
            "dimensions are expected. Load the documents again, or set the embedder back."
        )
    return KnowledgeError(
        f"the vector store in {directory} cannot be opened: {text}. It is damaged or not a "
        "vector store; move it away and load the documents again."
    )


def _filter(wanted: Condensed) -> qe.Filter:
    must: list[qe.ConditionType] = [
        _matches("tenant", (wanted.tenant,)),
        _matches("approval", ("approved",)),
        _matches("access", wanted.access),
    ]
    must_not: list[qe.ConditionType] = []
    if wanted.begun_by is not None:
        must_not.append(
            qe.FieldCondition("effective_from", range=qe.RangeFloat(gt=wanted.begun_by))
        )
    for condition in wanted.conditions:
        if condition.op == "ne":
            must_not.append(_matches(condition.field, condition.values))
        else:
            must.append(_positive(condition))
    return qe.Filter(must=must, must_not=must_not)


def _positive(condition: Condition) -> qe.FieldCondition:
    if condition.op in ("eq", "in"):
        return _matches(condition.field, condition.values)
    bound = float(condition.values[0])
    span = qe.RangeFloat(gte=bound) if condition.op == "gte" else qe.RangeFloat(lte=bound)
    return qe.FieldCondition(condition.field, range=span)


def _matches(field: str, values: Sequence[str | int]) -> qe.FieldCondition:
    numbers = [value for value in values if isinstance(value, int)]
    words = [value for value in values if isinstance(value, str)]
    return qe.FieldCondition(field, match=qe.MatchAny(numbers or words))
