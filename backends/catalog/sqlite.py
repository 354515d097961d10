"""The catalog in one SQLite file."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from backends.catalog.queries import forget, found, piece, section, visible_document
from backends.catalog.rows import (
    Row,
    block_rows,
    chunk_row,
    document_row,
    must_belong,
    read_chunk,
    read_document,
)
from backends.catalog.schema import BLOCKS, CHUNKS, DOCUMENTS, QUARANTINE, TABLES, within
from domain.errors import KnowledgeError
from domain.identity import Scope
from domain.knowledge import Chunk, Document, Quarantined, Window
from domain.visibility import visible

T = TypeVar("T")
_READERS = 4


class SqliteCatalog:
    """Documents, chunks and quarantine; the text stands here once and nowhere else.

    `read_only` opens a finished file that nobody writes any more: no lock is taken and no
    file beside it is made, so any number of processes may read it. Raises KnowledgeError
    where the file is not a catalog.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._writing = threading.Lock()
        self._executor = ThreadPoolExecutor(_READERS, thread_name_prefix="catalog")
        self._engine = sa.create_engine(
            "sqlite://",
            creator=partial(_connect, path, read_only),
            poolclass=sa.QueuePool,
            pool_size=_READERS,
        )
        self._read_only = read_only
        self._closed = False
        try:
            self._check() if read_only else TABLES.create_all(self._engine)
        except sa.exc.DatabaseError as error:
            self._engine.dispose()
            raise KnowledgeError(
                f"{path} is not a usable catalog ({error.orig}). Load the documents again "
                "with `agentic-rag ingest PATH`."
            ) from error

    async def hashes(self, collection: str) -> dict[str, str]:
        columns = sa.select(DOCUMENTS.c.source, DOCUMENTS.c.content_hash)
        rows = await self._read(columns.where(DOCUMENTS.c.collection == collection))
        return {row.source: row.content_hash for row in rows}

    async def replace(self, document: Document, chunks: Sequence[Chunk]) -> list[str]:
        for chunk in chunks:
            must_belong(chunk, document)

        def write(connection: sa.Connection) -> list[str]:
            old = forget(connection, document.collection, document.source)
            added = connection.execute(sa.insert(DOCUMENTS).values(document_row(document)))
            (key,) = added.inserted_primary_key or (0,)
            if blocks := block_rows(key, document.text):
                connection.execute(sa.insert(BLOCKS), blocks)
            if chunks:
                connection.execute(sa.insert(CHUNKS), [chunk_row(key, item) for item in chunks])
            return old

        return await self._write(write)

    async def remove(self, collection: str, source: str) -> list[str]:
        return await self._write(partial(forget, collection=collection, source=source))

    async def windows(
        self, chunk_ids: Sequence[str], *, scope: Scope, neighbours: int
    ) -> dict[str, Window]:
        def read(connection: sa.Connection) -> dict[str, Window]:
            windows = {}
            for row in found(connection, chunk_ids, scope):
                around = section(connection, row, neighbours)
                start, end = min(r.start for r in around), max(r.end for r in around)
                text = piece(connection, row.document, start, end)
                chunk = read_chunk(row, row, text[row.start - start : row.end - start])
                windows[chunk.id] = Window(chunk=chunk, text=text, start=start, end=end)
            return {id: windows[id] for id in chunk_ids if id in windows}

        return await self._run(read)

    async def siblings(self, chunk_id: str, *, scope: Scope) -> list[Chunk]:
        def read(connection: sa.Connection) -> list[Chunk]:
            return [
                read_chunk(row, member, piece(connection, row.document, member.start, member.end))
                for row in found(connection, [chunk_id], scope)
                for member in section(connection, row, None)
            ]

        return await self._run(read)

    async def documents(self, *, scope: Scope) -> list[Document]:
        statement = sa.select(DOCUMENTS).where(within(scope)).order_by(DOCUMENTS.c.source)
        rows = [read_document(row) for row in await self._read(statement)]
        return [item for item in rows if visible(item.meta, scope, item.source)]

    async def document(self, document_id: str, *, scope: Scope) -> Document | None:
        """One visible document with its whole text, or None."""

        def read(connection: sa.Connection) -> Document | None:
            row = visible_document(connection, document_id, scope)
            return row and read_document(row, piece(connection, row.key, 0, None))

        return await self._run(read)

    async def text(self, document_id: str, start: int, end: int, *, scope: Scope) -> str | None:
        def read(connection: sa.Connection) -> str | None:
            row = visible_document(connection, document_id, scope)
            if row is None or not 0 <= start <= end:
                return None
            text = piece(connection, row.key, start, end)
            return text if len(text) == end - start else None

        return await self._run(read)

    async def tenants(self) -> list[str]:
        tenant = DOCUMENTS.c.tenant
        rows = await self._read(sa.select(tenant).distinct().order_by(tenant))
        return [row.tenant for row in rows]

    async def quarantine(
        self, collection: str, entries: Sequence[Quarantined], *, tenant: str
    ) -> None:
        rows = {entry.source: {**entry.model_dump(), "tenant": tenant} for entry in entries}

        def write(connection: sa.Connection) -> None:
            old = QUARANTINE.c.collection == collection
            connection.execute(sa.delete(QUARANTINE).where(old))
            if rows:
                connection.execute(sa.insert(QUARANTINE), list(rows.values()))

        await self._write(write)

    async def quarantined(self, *, tenant: str) -> list[Quarantined]:
        columns = QUARANTINE.c.collection, QUARANTINE.c.source, QUARANTINE.c.reason
        mine = sa.select(*columns).where(QUARANTINE.c.tenant == tenant)
        rows = await self._read(mine.order_by(QUARANTINE.c.collection, QUARANTINE.c.source))
        return [Quarantined(**row._mapping) for row in rows]

    async def count(self, tenant: str = "") -> tuple[int, int]:
        documents = sa.select(sa.func.count()).select_from(DOCUMENTS)
        chunks = sa.select(sa.func.count()).select_from(CHUNKS.join(DOCUMENTS))
        if tenant:
            documents = documents.where(DOCUMENTS.c.tenant == tenant)
            chunks = chunks.where(DOCUMENTS.c.tenant == tenant)
        both = sa.union_all(documents, chunks)
        first, second = await self._run(lambda connection: connection.scalars(both).all())
        return first, second

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._executor.shutdown(wait=True)
        if not self._read_only:
            with self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
                self._engine.dispose()
                connection.exec_driver_sql("PRAGMA journal_mode=DELETE")
        self._engine.dispose()

    def _check(self) -> None:
        present = set(sa.inspect(self._engine).get_table_names())
        if missing := sorted(set(TABLES.tables) - present):
            message = f"no table {missing[0]}"
            raise sa.exc.DatabaseError(None, None, sqlite3.DatabaseError(message))

    async def _read(self, statement: sa.Select[Any]) -> Sequence[Row]:
        return await self._run(lambda connection: connection.execute(statement).all())

    async def _run(self, work: Callable[[sa.Connection], T]) -> T:
        """Run in a worker thread; a cancelled caller leaves, the thread ends its work."""

        def job() -> T:
            with self._engine.connect() as connection:
                return work(connection)

        return await asyncio.get_running_loop().run_in_executor(self._executor, job)

    async def _write(self, work: Callable[[sa.Connection], T]) -> T:
        """One transaction at a time: a cancelled caller's write is done whole or not at all."""

        def job() -> T:
            with self._writing, self._engine.begin() as connection:
                return work(connection)

        return await asyncio.get_running_loop().run_in_executor(self._executor, job)


def _connect(path: Path, read_only: bool) -> sqlite3.Connection:
    mode = "mode=ro&immutable=1" if read_only else "mode=rwc"
    uri = f"{path.resolve().as_uri()}?{mode}"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=30)
    connection.execute("PRAGMA foreign_keys=ON")
    if not read_only:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
    return connection
