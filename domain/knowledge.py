"""Documents, their chunks and the metadata that decides who sees them."""

from datetime import date
from typing import Literal

from pydantic import Field

from domain.base import Model
from domain.identity import EVERYONE

DocType = Literal["document", "faq", "policy", "api", "runbook", "ticket", "change"]
Approval = Literal["approved", "draft", "retired"]
ChunkKind = Literal["prose", "table", "code", "procedure", "record"]


class Metadata(Model):
    """What is known about a document besides its text; an empty string means "not stated".

    `effective_to` is the first day on which the document is no longer in force.
    `authority` runs from 0 (hearsay) to 100 (binding). `access` lists the tags of which a
    reader needs at least one.
    """

    tenant: str
    domain: str = ""
    department: str = ""
    region: str = ""
    product: str = ""
    doc_type: DocType = "document"
    env: str = ""
    version: str = ""
    effective_from: date | None = None
    effective_to: date | None = None
    approval: Approval = "approved"
    authority: int = Field(default=50, ge=0, le=100)
    author: str = ""
    language: str = ""
    access: tuple[str, ...] = (EVERYONE,)

    def in_force(self, day: date) -> bool:
        """Whether the document applies on `day`; open ends are open."""
        started = self.effective_from is None or self.effective_from <= day
        return started and (self.effective_to is None or day < self.effective_to)


class Document(Model):
    """A loaded file or record. `text` is canonical: all offsets and quotes refer to it.

    `source` is the path or name as given at loading. `collection` names the load
    (tenant and root) within which a vanished file counts as removed. `pages` holds the
    start offset of each page in `text`, empty where the format has no pages.
    """

    id: str
    collection: str
    source: str
    title: str
    text: str
    content_hash: str
    meta: Metadata
    pages: tuple[int, ...] = ()


class Chunk(Model):
    """The unit that is found. `text == document.text[start:end]`, always.

    `section` groups the chunks under one heading: the parent that is read is the chunk
    with up to three neighbours each side within its section. `context` is what the search
    engines see besides the text: the title, the heading path and, for the later parts of a
    table, its header row.
    """

    id: str
    document_id: str
    source: str
    title: str
    ordinal: int
    section: str
    text: str
    start: int
    end: int
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    kind: ChunkKind = "prose"
    context: str = ""
    meta: Metadata


class Window(Model):
    """A chunk with its neighbours: one contiguous, verbatim piece of the document."""

    chunk: Chunk
    text: str
    start: int
    end: int


class Quarantined(Model):
    """A file that was not loaded, and why."""

    collection: str
    source: str
    reason: str


class Entity(Model):
    """A node of the entity graph. `score` says how surely the text named it, 0 to 1."""

    id: str
    type: str
    name: str
    aliases: tuple[str, ...] = ()
    score: float = 1.0

    def called_in(self, text: str) -> str:
        """The name by which a text calls it; its own where it uses none."""
        folded = text.casefold()
        names = (self.name, *self.aliases, self.id)
        return next((name for name in names if name.casefold() in folded), self.name)


class Relation(Model):
    """A directed edge with its provenance: the source that states it, and the words there."""

    id: str
    start: str
    start_name: str
    start_type: str = ""
    type: str
    end: str
    end_name: str
    end_type: str = ""
    source: str
    quote: str
    access: tuple[str, ...] = (EVERYONE,)
    effective_from: date | None = None


class Path(Model):
    """Relations in walking order; each shares an entity with the one before it."""

    relations: tuple[Relation, ...]
