"""Loads sources into a new version of the knowledge, or leaves everything as it was."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langsmith import traceable

from backends.embed import Embedder
from backends.knowledge import Knowledge, KnowledgeHome
from domain.errors import InputError
from domain.knowledge import Quarantined
from ingest.chunking import Chunker
from ingest.declaration import SourceOptions
from ingest.parsers import PARSERS
from ingest.prepare import Prepared, Preparer, owns
from ingest.report import LoadReport, OnProgress, Progress
from ingest.scan import File, Source, find_files, find_sources
from ingest.structured_load import load_structured
from ingest.writing import Writer
from runtime.clock import Clock, SystemClock
from runtime.settings import Settings


def _traced(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"paths": [str(path) for path in arguments["paths"]], "draft": arguments["draft"]}


@traceable(name="ingest", process_inputs=_traced)
async def load(
    paths: Sequence[Path],
    *,
    home: KnowledgeHome,
    embedder: Embedder,
    settings: Settings,
    options: SourceOptions | None = None,
    draft: bool = False,
    rebuild: bool = False,
    progress: OnProgress = lambda _: None,
    clock: Clock | None = None,
) -> LoadReport:
    """Load files, folders or declarations and publish the result unless it is a `draft`.

    Loading the same again makes no new version. A changed file replaces its chunks, one that
    is gone from its root goes, a broken one is quarantined with its reason and what was
    loaded from it earlier stays. Fails as a whole, and then leaves what was there: InputError
    for a path that is not there, ConfigurationError for a declaration, StoreBusy,
    KnowledgeError (damaged, other embedder, disk full), BackendError.
    """
    clock = clock or SystemClock()
    begun = clock.monotonic()
    sources = await asyncio.to_thread(find_sources, paths, options, settings.dev_tenant)
    async with home.drafting(embedder, rebuild=rebuild) as knowledge:
        loading = _Loading(knowledge, Writer(knowledge, embedder, clock), settings, progress, clock)
        await loading.run(sources)
        if loading.changed:
            version = await (home.keep_draft if draft else home.publish)(knowledge)
        else:
            current = await asyncio.to_thread(home.current)
            version = current or ""
    return loading.report(version, draft=draft, seconds=clock.monotonic() - begun)


class _Loading:
    """One run over all sources, and what it counts."""

    def __init__(
        self,
        knowledge: Knowledge,
        writer: Writer,
        settings: Settings,
        progress: OnProgress,
        clock: Clock,
    ) -> None:
        self._knowledge = knowledge
        self._writer = writer
        self._settings = settings
        self._progress = progress
        self._clock = clock
        self._chunker = Chunker()
        self._counts = {"loaded": 0, "unchanged": 0, "replaced": 0, "removed": 0}
        self._quarantined: list[Quarantined] = []
        self._skipped: list[str] = []
        self._done = self._total = 0
        self._parse_seconds = 0.0
        self.changed = False

    async def run(self, sources: Sequence[Source]) -> None:
        found = []
        for source in sources:
            is_data = source.kind != "documents"
            files, skipped = ([], []) if is_data else await asyncio.to_thread(find_files, source)
            found.append((source, files))
            self._skipped.extend(skipped)
            self._total += len(files)
        for source, files in found:
            if source.kind == "documents":
                await self._load_source(source, files)
        await self._writer.flush()
        await self._load_data([source for source in sources if source.kind != "documents"])

    def report(self, version: str, *, draft: bool, seconds: float) -> LoadReport:
        return LoadReport(
            version=version,
            changed=self.changed,
            draft=draft and self.changed,
            chunks=self._writer.chunks,
            quarantined=tuple(self._quarantined),
            skipped=tuple(self._skipped),
            seconds=seconds,
            timings=self._writer.timings(self._parse_seconds),
            **self._counts,
        )

    async def _load_source(self, source: Source, files: Sequence[File]) -> None:
        known = await self._knowledge.catalog.hashes(source.collection)
        if not files and not known:
            raise InputError(f"{source.root} holds no file that can be read ({' '.join(PARSERS)}).")
        preparer = Preparer(source, known, self._chunker, self._settings.max_file_mb)
        kept: set[str] = set()
        refused: list[Quarantined] = []
        for file in files:
            begun = self._clock.monotonic()
            prepared = await asyncio.to_thread(preparer.prepare, file)
            self._parse_seconds += self._clock.monotonic() - begun
            kept |= await self._take(file, prepared, known)
            refused += _entries(source, prepared, known)
            self._done += 1
            self._progress(Progress(self._done, self._total, file.source, self._writer.chunks))
        for gone in sorted(known.keys() - kept):
            await self._writer.remove(source.collection, gone)
            self._count("removed")
        await self._quarantine(source.tenant, source.collection, refused)

    async def _take(self, file: File, prepared: Prepared, known: dict[str, str]) -> set[str]:
        """Write what is new; the sources that stay in the knowledge."""
        for document, chunks in prepared.documents:
            await self._writer.add(document, chunks)
            self._count("replaced" if document.source in known else "loaded")
        self._counts["unchanged"] += len(prepared.known)
        kept = {document.source for document, _ in prepared.documents} | set(prepared.known)
        if prepared.keeps_old:
            kept |= {source for source in known if owns(file, source)}
        return kept

    async def _load_data(self, sources: Sequence[Source]) -> None:
        for outcome in await load_structured(sources, self._knowledge):
            await self._quarantine(outcome.tenant, outcome.collection, list(outcome.refused))
            for name in outcome.counts:
                if name == "unchanged":
                    self._counts[name] += 1
                else:
                    self._count(name)

    async def _quarantine(self, tenant: str, collection: str, entries: list[Quarantined]) -> None:
        self._quarantined.extend(entries)
        everything = await self._knowledge.catalog.quarantined(tenant=tenant)
        before = {e.source: e.reason for e in everything if e.collection == collection}
        if before != {entry.source: entry.reason for entry in entries}:
            await self._knowledge.catalog.quarantine(collection, entries, tenant=tenant)
            self.changed = True

    def _count(self, what: str) -> None:
        self._counts[what] += 1
        self.changed = True


def _entries(source: Source, prepared: Prepared, known: dict[str, str]) -> list[Quarantined]:
    return [
        Quarantined(
            collection=source.collection,
            source=name,
            reason=reason + _STAYS if prepared.keeps_old and name in known else reason,
        )
        for name, reason in prepared.refused
    ]


_STAYS = " What was loaded from it before stays in use."
