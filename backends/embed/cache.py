"""Passage vectors kept by content, so that loading again costs nothing."""

import asyncio
import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from backends.embed.base import Embedder, Vector, Vectors

_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors ("
    "key BLOB PRIMARY KEY, vector BLOB NOT NULL, generation INTEGER NOT NULL) WITHOUT ROWID"
)
_SLICE = 500


class CachedEmbedder:
    """An embedder that remembers passages in a SQLite file, at most `capacity` of them.

    The key is the inner embedder's fingerprint with the text, so a change of model never
    serves an old vector. The cache is a convenience: where its file is damaged it starts
    anew, where it cannot be written it works without, and `warnings` says so either way.
    The constructor reads the disk: on an event loop use `open`.
    """

    def __init__(self, inner: Embedder, file: Path, capacity: int = 500_000) -> None:
        self._inner = inner
        self._file = file
        self._capacity = capacity
        self._warnings: list[str] = []
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embed-cache")
        self._database = self._connect()

    @classmethod
    async def open(cls, inner: Embedder, file: Path, capacity: int = 500_000) -> "CachedEmbedder":
        """The constructor, off the event loop."""
        return await asyncio.to_thread(cls, inner, file, capacity)

    @property
    def fingerprint(self) -> str:
        return self._inner.fingerprint

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong with the cache so far, for whoever reports to a person."""
        with self._lock:
            return tuple(self._warnings)

    async def embed_query(self, text: str) -> Vector:
        """One question, never kept: questions are personal and seldom come twice."""
        return await self._inner.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages in the order given; only new ones, each once, reach the model."""
        loop = asyncio.get_running_loop()
        keys = [self._key(text) for text in texts]
        known = await loop.run_in_executor(self._thread, self._read, sorted(set(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = await self._inner.embed_passages(list(missing.values()))
            found = dict(zip(missing, fresh, strict=True))
            await loop.run_in_executor(self._thread, self._write, found)
            known |= found
        if not keys:
            return np.empty((0, self.dimension), np.float32)
        return np.stack([known[key] for key in keys])

    async def close(self) -> None:
        """Close the file and the inner embedder; a second call does nothing."""
        await asyncio.to_thread(self._shut)
        await self._inner.close()

    def _shut(self) -> None:
        self._thread.shutdown()
        if self._database is not None:
            self._database.close()
            self._database = None

    def _key(self, text: str) -> bytes:
        body = f"{self._inner.fingerprint}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(body).digest()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        found: dict[bytes, Vector] = {}
        size = self.dimension * np.dtype(np.float32).itemsize
        for start in range(0, len(keys), _SLICE):
            for key, blob in self._rows(keys[start : start + _SLICE]):
                if len(blob) == size:
                    found[key] = np.frombuffer(blob, np.float32)
        return found

    def _rows(self, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        if self._database is None:
            return []
        marks = ",".join("?" * len(keys))
        try:
            query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608
            return self._database.execute(query, keys).fetchall()
        except sqlite3.Error as error:
            self._start_anew(error)
            return []

    def _write(self, found: dict[bytes, Vector]) -> None:
        if self._database is None:
            return
        try:
            with self._database as database:
                (newest,) = database.execute(
                    "SELECT coalesce(max(generation), 0) FROM vectors"
                ).fetchone()
                database.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                    [(key, vector.tobytes(), newest + 1) for key, vector in found.items()],
                )
                database.execute(
                    "DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY generation "
                    "LIMIT max(0, (SELECT count(*) FROM vectors) - ?))",
                    (self._capacity,),
                )
        except sqlite3.Error as error:
            self._start_anew(error)

    def _connect(self) -> sqlite3.Connection | None:
        try:
            return _database(self._file)
        except (sqlite3.Error, OSError) as error:
            return self._anew(error)

    def _start_anew(self, error: sqlite3.Error) -> None:
        if self._database is not None:
            self._database.close()
        self._database = self._anew(error)

    def _anew(self, error: Exception) -> sqlite3.Connection | None:
        """A fresh file where the old one is damaged; None where the disk itself refuses."""
        try:
            if isinstance(error, sqlite3.OperationalError | OSError):
                raise error
            for suffix in ("", "-wal", "-shm"):
                self._file.with_name(self._file.name + suffix).unlink(missing_ok=True)
            fresh = _database(self._file)
        except (sqlite3.Error, OSError) as refused:
            self._warn(
                f"the embedding cache {self._file} cannot be used ({refused}); "
                "vectors are computed each time. Free or repair the disk."
            )
            return None
        self._warn(
            f"the embedding cache {self._file} was damaged ({error}) and starts anew; "
            "nothing is lost but time."
        )
        return fresh

    def _warn(self, message: str) -> None:
        with self._lock:
            self._warnings.append(message)


def _database(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file, check_same_thread=False, timeout=5)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(_TABLE)
        connection.commit()
    except sqlite3.Error:
        connection.close()
        raise
    return connection
