"""Entity graphs and databases into their stores, once for each change."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from backends.knowledge import Knowledge
from backends.relational import Template
from domain.errors import IngestError
from domain.knowledge import Document, Entity, Quarantined, Relation
from ingest.declaration import SourceDeclaration
from ingest.metadata import declared
from ingest.parsers.decode import decode
from ingest.prepare import fingerprint
from ingest.scan import File, Source, read_file
from ingest.structured import read_entities, read_templates
from runtime.ids import stable_id

_MAX_MB = 64


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one data source; `counts` names the counter to raise."""

    tenant: str
    collection: str
    counts: tuple[str, ...] = ()
    refused: tuple[Quarantined, ...] = ()


async def load_structured(sources: Sequence[Source], knowledge: Knowledge) -> list[Outcome]:
    """Load each kind of data of each tenant where one of its files changed.

    A store replaces all that a tenant has of a kind, so its sources are loaded together. A
    broken file leaves the store as it was.
    """
    ordered = sorted(sources, key=lambda source: (source.tenant, source.kind))
    outcomes: list[Outcome] = []
    for _, group in groupby(ordered, key=lambda source: (source.tenant, source.kind)):
        outcomes += await _load_group(list(group), knowledge)
    return outcomes


async def _load_group(group: list[Source], knowledge: Knowledge) -> list[Outcome]:
    known = {s.collection: await knowledge.catalog.hashes(s.collection) for s in group}
    try:
        markers = [await asyncio.to_thread(_marker, source) for source in group]
        if all(known[m.collection].get(m.source) == m.content_hash for m in markers):
            return [Outcome(s.tenant, s.collection, ("unchanged",)) for s in group]
        await _store(group, knowledge)
    except IngestError as error:
        return [_refused(source, str(error)) for source in group]
    for marker in markers:
        await knowledge.catalog.replace(marker, [])
    return [
        Outcome(s.tenant, s.collection, ("replaced" if known[s.collection] else "loaded",))
        for s in group
    ]


async def _store(group: list[Source], knowledge: Knowledge) -> None:
    tenant = group[0].tenant
    if group[0].kind == "entities":
        entities: list[Entity] = []
        relations: list[Relation] = []
        for source in group:
            meta = declared(source.declaration, tenant, source.root.name)
            some = await asyncio.to_thread(read_entities, source.root, meta)
            entities += some[0]
            relations += some[1]
        await knowledge.entities.load(tenant, entities, relations)
        return
    script = await asyncio.to_thread(_read, group[0])
    templates: tuple[Template, ...] = ()
    if name := _templates(group[0]):
        meta = declared(group[0].declaration, tenant, name)
        templates = await asyncio.to_thread(read_templates, group[0].base / name, meta)
    await knowledge.relational.build(tenant, decode(script, str(group[0].given)), templates)


def _marker(source: Source) -> Document:
    """A document nobody sees (a draft without chunks): it remembers what was loaded."""
    raw = _read(source)
    if templates := _templates(source):
        path = source.base / templates
        raw += read_file(File(path, templates, path.name), path, _MAX_MB)
    meta = declared(source.declaration, source.tenant, source.root.name)
    name = source.given.as_posix()
    return Document(
        id=stable_id("d", source.tenant, source.collection, name),
        collection=source.collection,
        source=name,
        title=name,
        text="",
        content_hash=fingerprint(raw, meta),
        meta=meta.model_copy(update={"approval": "draft"}),
    )


def _read(source: Source) -> bytes:
    file = File(source.root, source.given.as_posix(), source.root.name)
    return read_file(file, source.root, _MAX_MB)


def _templates(source: Source) -> str:
    declaration = source.declaration
    return declaration.templates if isinstance(declaration, SourceDeclaration) else ""


def _refused(source: Source, reason: str) -> Outcome:
    entry = Quarantined(collection=source.collection, source=source.given.as_posix(), reason=reason)
    return Outcome(source.tenant, source.collection, refused=(entry,))
