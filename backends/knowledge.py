"""The knowledge as one thing: opened whole, drafted beside what is in use, published at once."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from backends.embed.base import Embedder
from backends.holder import Holder, LockFile
from backends.stores import Knowledge, must_be_whole, open_stores
from backends.versions import Manifest, Versions, explain_full_disk
from domain.errors import KnowledgeError
from runtime.clock import Clock
from runtime.ids import NewId, random_id
from runtime.threads import in_thread

__all__ = ["Knowledge", "KnowledgeHome"]


@dataclass(frozen=True)
class _Draft:
    lock: LockFile
    base: str | None
    fingerprint: str
    dimension: int


class KnowledgeHome:
    """All versions of the knowledge under one DATA_DIR.

    One process at a time has the published version open, and one at a time drafts the next;
    these may be two. Within a process share one home: its opens share the lock.
    """

    def __init__(self, data_dir: Path, clock: Clock, *, new_id: NewId = random_id) -> None:
        self._versions = Versions(data_dir)
        self._data_dir = data_dir
        self._clock = clock
        self._new_id = new_id
        self._holding = LockFile(data_dir / "holder.lock")
        self._opened = 0
        self._opening = asyncio.Lock()
        self._drafts: dict[str, _Draft] = {}

    def current(self) -> str | None:
        """The published version, or None. Blocks for one small file."""
        return self._versions.pointer("CURRENT")

    def kept_draft(self) -> str | None:
        """The version that `keep_draft` left, or None. Blocks for one small file."""
        return self._versions.pointer("DRAFT")

    def holder(self) -> Holder | None:
        """The process that has the knowledge open now, or None. Blocks for one small file."""
        return self._holding.owner()

    async def open(
        self, embedder: Embedder | None = None, *, name: str = "agentic-rag", url: str = ""
    ) -> Knowledge:
        """The published version, for reading.

        `name` and `url` tell other processes who holds it. Raises KnowledgeError where there
        is none, where it is damaged or made by another embedder, StoreBusy where another
        process holds it.
        """
        version = await asyncio.to_thread(self.current)
        if version is None:
            raise KnowledgeError(
                f"there is no knowledge in {self._data_dir} yet. Load documents with "
                "`agentic-rag ingest PATH`."
            )
        async with AsyncExitStack() as stack:
            held = ExitStack()
            stack.push_async_callback(asyncio.to_thread, held.close)
            await self._hold(held, Holder(os.getpid(), name, url))
            manifest = await asyncio.to_thread(self._versions.manifest, version)
            if embedder is not None:
                _must_match(manifest, embedder)
            held.callback(os.close, await asyncio.to_thread(self._versions.use, version))
            directory = self._versions.directory(version)
            with explain_full_disk(self._data_dir, version):
                await asyncio.to_thread(self._versions.must_have_room)
            knowledge = await open_stores(
                directory,
                version,
                manifest.fingerprint,
                manifest.dimension,
                read_only=True,
                release=held.close,
            )
            stack.push_async_callback(knowledge.close)
            await must_be_whole(knowledge, manifest.chunks, directory)
            stack.pop_all()
        return knowledge

    async def draft(self, embedder: Embedder, *, rebuild: bool = False) -> Knowledge:
        """A writable copy of the published version, or an empty one.

        Ends with `publish`, `keep_draft` or `discard`; what a killed process leaves is
        removed by the next draft. Raises KnowledgeError where the published version is
        damaged or made by another embedder (`rebuild` starts empty instead) or the disk is
        full, StoreBusy while another draft is open.
        """
        lock = LockFile(self._data_dir / "ingest.lock")
        owner = Holder(os.getpid(), "agentic-rag ingest")
        with explain_full_disk(self._data_dir, await asyncio.to_thread(self._readable)):
            await lock.acquire(owner, "Wait until that load has ended, then run this one again.")
            version = f"{self._clock.now():%Y%m%dT%H%M%S%fZ}-{self._new_id()[:6]}"
            try:
                base = await in_thread(self._begin, version, embedder, rebuild)
                draft = self._versions.draft_directory(version)
                knowledge = await open_stores(
                    draft, version, embedder.fingerprint, embedder.dimension
                )
            except BaseException:
                await self._abandon(version, lock)
                raise
        self._drafts[version] = _Draft(lock, base, embedder.fingerprint, embedder.dimension)
        return knowledge

    @asynccontextmanager
    async def drafting(
        self, embedder: Embedder, *, rebuild: bool = False
    ) -> AsyncIterator[Knowledge]:
        """A draft that is discarded unless the block publishes or keeps it.

        A full disk met inside, whichever store met it, leaves as a KnowledgeError.
        """
        draft = await self.draft(embedder, rebuild=rebuild)
        try:
            with explain_full_disk(self._data_dir, await asyncio.to_thread(self._readable)):
                yield draft
        finally:
            await self.discard(draft)

    async def publish(self, draft: Knowledge) -> str:
        """Complete a draft and make it current; the version before stays for a rollback."""
        return await self._finish(draft, "CURRENT")

    async def keep_draft(self, draft: Knowledge) -> str:
        """Complete a draft without making it current; `switch` can do that later."""
        return await self._finish(draft, "DRAFT")

    async def switch(self, version: str) -> None:
        """Make a complete version current: the kept draft, or the one before (rollback)."""
        await in_thread(self._versions.manifest, version)
        await in_thread(self._versions.point, "CURRENT", version)

    async def discard(self, draft: Knowledge) -> None:
        """Remove a draft; does nothing for one that was published, kept or discarded."""
        if (state := self._drafts.pop(draft.version, None)) is None:
            return
        with suppress(Exception):  # flushing what is thrown away may fail, as on a full disk
            await draft.close()
        await self._abandon(draft.version, state.lock)

    async def _finish(self, draft: Knowledge, pointer: str) -> str:
        state = self._drafts.get(draft.version)
        if state is None:
            raise KnowledgeError(f"{draft.version} is no open draft. Begin a new one.")
        try:
            with explain_full_disk(self._data_dir, state.base):
                await draft.dense.flush()
                await draft.lexical.flush()
                documents, chunks = await draft.catalog.count()
                await must_be_whole(draft, chunks, self._versions.draft_directory(draft.version))
                await draft.close()
                manifest = Manifest(
                    version=draft.version,
                    created=self._clock.now(),
                    fingerprint=state.fingerprint,
                    dimension=state.dimension,
                    documents=documents,
                    chunks=chunks,
                )
                await in_thread(self._complete, manifest, pointer)
        except BaseException:
            await self.discard(draft)
            raise
        del self._drafts[draft.version]
        await in_thread(state.lock.release)
        return draft.version

    def _complete(self, manifest: Manifest, pointer: str) -> None:
        before = self._readable()
        self._versions.complete(manifest)
        self._versions.point(pointer, manifest.version)
        if before is not None:
            self._versions.prune({before, self.current(), self.kept_draft()})

    def _readable(self) -> str | None:
        # A damaged CURRENT must not stop the rebuild that repairs it.
        with suppress(KnowledgeError):
            return self.current()
        return None

    def _begin(self, version: str, embedder: Embedder, rebuild: bool) -> str | None:
        base = None if rebuild else self.current()
        if base is not None:
            _must_match(self._versions.manifest(base), embedder)
        self._versions.drop_drafts()
        self._versions.begin(version, base)
        return base

    async def _abandon(self, version: str, lock: LockFile) -> None:
        await in_thread(self._versions.drop_draft, version)
        await in_thread(lock.release)

    async def _hold(self, held: ExitStack, owner: Holder) -> None:
        async with self._opening:
            if self._opened == 0:
                await self._holding.acquire(
                    owner, "Ask that process, stop it, or set DATA_DIR to another folder."
                )
            self._opened += 1
        held.callback(self._let_go)

    def _let_go(self) -> None:
        self._opened -= 1
        if self._opened == 0:
            self._holding.release()


def _must_match(manifest: Manifest, embedder: Embedder) -> None:
    made = f"{manifest.fingerprint} ({manifest.dimension} dimensions)"
    now = f"{embedder.fingerprint} ({embedder.dimension} dimensions)"
    if made != now:
        raise KnowledgeError(
            f"the knowledge was made with the embedder {made}, but {now} is set. Load the "
            "documents again with this embedder (`agentic-rag ingest PATH --rebuild`) or set "
            "the old one."
        )
