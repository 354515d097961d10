"""The open knowledge: opened on first use, swapped when a new version is published."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from backends.embed import Embedder
from backends.embed.cache import CachedEmbedder
from backends.knowledge import Knowledge, KnowledgeHome


@dataclass
class Library:
    """Gives every run a consistent version while newer ones are published.

    Two versions stay open: the current one and the one that was current before it, whichever
    was made first (a rollback makes an older one current), so that a run which began before
    a swap ends on its version. A run older than two swaps continues on the current one, and
    a search of it that is still going on at that moment fails as a degraded call.
    """

    home: KnowledgeHome
    open_embedder: Callable[[], Awaitable[Embedder]]
    name: str = "agentic-rag"
    url: str = ""
    _open: dict[str, Knowledge] = field(default_factory=dict)  # the current one last
    _embedder: Embedder | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def embedder(self) -> Embedder:
        """The embedder; its weights are read, and touched once, on first use."""
        if self._embedder is None:
            async with self._lock:
                if self._embedder is None:
                    opened = await self.open_embedder()
                    await opened.embed_query("warm up 预热")
                    self._embedder = opened
        return self._embedder

    async def current(self) -> Knowledge:
        """The published version; raises KnowledgeError where there is none or it is damaged."""
        version = await asyncio.to_thread(self.home.current)
        if version is not None and version == next(reversed(self._open), None):
            return self._open[version]
        embedder = await self.embedder()
        async with self._lock:
            version = await asyncio.to_thread(self.home.current)
            knowledge = self._open.get(version or "")
            if knowledge is None:
                knowledge = await self.home.open(embedder, name=self.name, url=self.url)
            await self._swap_to(knowledge)
            return knowledge

    async def version(self, version: str) -> Knowledge:
        """The version a run is bound to while it is open, else the current one."""
        return self._open.get(version) or await self.current()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong with the cache of vectors so far: nothing was lost but time."""
        return self._embedder.warnings if isinstance(self._embedder, CachedEmbedder) else ()

    async def close(self) -> None:
        """Close every open version and the embedder."""
        async with self._lock:
            for knowledge in self._open.values():
                await knowledge.close()
            self._open.clear()
        if self._embedder is not None:
            await self._embedder.close()
            self._embedder = None

    async def _swap_to(self, knowledge: Knowledge) -> None:
        self._open.pop(knowledge.version, None)
        self._open[knowledge.version] = knowledge
        for old in list(self._open)[:-2]:
            await self._open.pop(old).close()
