"""The open knowledge: opened on first use, swapped when a new version is published."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from backends.embed import Embedder
from backends.knowledge import Knowledge, KnowledgeHome


@dataclass
class Library:
    """Gives every run a consistent version while newer ones are published.

    The version before the current one stays open, so that a run which began on it ends on
    it; an older run continues on the current one.
    """

    home: KnowledgeHome
    open_embedder: Callable[[], Awaitable[Embedder]]
    name: str = "agentic-rag"
    url: str = ""
    _open: dict[str, Knowledge] = field(default_factory=dict)
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
        if version is not None and version in self._open:
            return self._open[version]
        embedder = await self.embedder()
        async with self._lock:
            version = await asyncio.to_thread(self.home.current)
            if version is None or version not in self._open:
                knowledge = await self.home.open(embedder, name=self.name, url=self.url)
                await self._keep(knowledge)
                return knowledge
            return self._open[version]

    async def version(self, version: str) -> Knowledge:
        """The version a run is bound to while it is open, else the current one."""
        return self._open.get(version) or await self.current()

    async def close(self) -> None:
        """Close every open version and the embedder."""
        async with self._lock:
            for knowledge in self._open.values():
                await knowledge.close()
            self._open.clear()
        if self._embedder is not None:
            await self._embedder.close()
            self._embedder = None

    async def _keep(self, knowledge: Knowledge) -> None:
        self._open[knowledge.version] = knowledge
        for old in sorted(self._open)[:-2]:
            await self._open.pop(old).close()
