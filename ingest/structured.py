"""Entity graphs and relational data, as a declaration names them."""

from datetime import date
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from backends.relational.base import Template
from domain.base import Model
from domain.errors import ConfigurationError, IngestError
from domain.knowledge import Entity, Metadata, Relation
from ingest.declaration import read_yaml, validated
from ingest.metadata import narrowed
from runtime.ids import stable_id

M = TypeVar("M", bound=Model)


class _EntityEntry(Model):
    id: str = Field(min_length=1, max_length=200)
    type: str = Field(min_length=1, max_length=100)
    name: str = Field(min_length=1, max_length=200)
    aliases: tuple[str, ...] = ()


class _RelationEntry(Model):
    start: str = Field(alias="from")
    type: str = Field(min_length=1, max_length=100)
    end: str = Field(alias="to")
    source: str = Field(min_length=1)
    quote: str = Field(min_length=1)
    access: tuple[str, ...] | None = None
    effective_from: date | None = None


class _EntityFile(Model):
    entities: tuple[_EntityEntry, ...]
    relations: tuple[_RelationEntry, ...] = ()


class _TemplateFile(Model):
    templates: tuple[Template, ...]


def read_entities(path: Path, meta: Metadata) -> tuple[list[Entity], list[Relation]]:
    """The graph of an `entities.yaml`.

    Raises IngestError for unknown keys, repeated ids, a relation between unknown entities
    or one that would widen the source's access.
    """
    file = _as_ingest(_EntityFile, path)
    known = {entry.id: entry for entry in file.entities}
    if len(known) < len(file.entities):
        ids = [entry.id for entry in file.entities]
        twice = next(id for id in ids if ids.count(id) > 1)
        raise IngestError(f"{path.name}: the entity id {twice!r} is used twice.")
    entities = [Entity(**entry.model_dump()) for entry in file.entities]
    relations = {r.id: r for r in (_relation(entry, known, path, meta) for entry in file.relations)}
    return entities, list(relations.values())


def read_templates(path: Path, meta: Metadata) -> tuple[Template, ...]:
    """The templates of a file; one without `access` has that of its source.

    Raises IngestError naming the key that is wrong or the template that would widen access.
    """
    return tuple(
        template.model_copy(update={"access": _template_access(template, path, meta)})
        for template in _as_ingest(_TemplateFile, path).templates
    )


def _template_access(template: Template, path: Path, meta: Metadata) -> tuple[str, ...]:
    if "access" not in template.model_fields_set:
        return meta.access
    claims = {"access": list(template.access)}
    return narrowed(meta, claims, f"{path.name}: the template {template.name!r}").access


def _relation(
    entry: _RelationEntry, known: dict[str, _EntityEntry], path: Path, meta: Metadata
) -> Relation:
    who = f"{path.name}: the relation {entry.start} {entry.type} {entry.end}"
    for id in (entry.start, entry.end):
        if id not in known:
            raise IngestError(f"{who} names the unknown entity {id!r}. Add it to `entities`.")
    claims = {"access": None if entry.access is None else list(entry.access)}
    return Relation(
        id=stable_id("r", meta.tenant, entry.start, entry.type, entry.end, entry.source),
        start=entry.start,
        start_name=known[entry.start].name,
        start_type=known[entry.start].type,
        type=entry.type,
        end=entry.end,
        end_name=known[entry.end].name,
        end_type=known[entry.end].type,
        source=entry.source,
        quote=entry.quote,
        access=narrowed(meta, claims, who).access,
        effective_from=entry.effective_from or meta.effective_from,
    )


def _as_ingest(model: type[M], path: Path) -> M:
    """A broken data file costs only itself, unlike a broken `sources.yaml`."""
    try:
        return validated(model, read_yaml(path), path)
    except ConfigurationError as error:
        raise IngestError(str(error)) from None
