"""Reads evidence again from its store: SAFE_GUARD believes nothing that stands in the State."""

import json
from collections import OrderedDict
from dataclasses import dataclass, field

from backends.library import Library
from domain.base import Model
from domain.errors import AccessDenied, InputError
from domain.evidence import Evidence
from domain.identity import Scope
from domain.knowledge import Metadata
from tools.evidence import render_relation, render_rows


@dataclass(frozen=True)
class OutsideCache:
    """What web and API tools returned, by evidence id: such text has no store to read it from.

    Bounded; the oldest entry goes first, and a citation to it then fails closed.
    """

    size: int = 2_000
    _entries: OrderedDict[tuple[str, str], str] = field(default_factory=OrderedDict)

    def put(self, tenant: str, evidence: Evidence) -> None:
        """Remember the text under its tenant."""
        self._entries[tenant, evidence.id] = evidence.text
        while len(self._entries) > self.size:
            self._entries.popitem(last=False)

    def get(self, tenant: str, id: str) -> str | None:
        """The text, where this tenant's tools returned it."""
        return self._entries.get((tenant, id))


class Source(Model):
    """What the store holds now: the text, and the metadata a statement may lean on."""

    text: str
    title: str
    meta: Metadata


@dataclass(frozen=True)
class EvidenceReader:
    """Finds the text behind a piece of evidence, within a scope."""

    library: Library
    outside: OutsideCache

    async def read(self, evidence: Evidence, *, scope: Scope, version: str) -> Source | None:
        """The source as its store has it now; None where it is gone, changed or not visible."""
        kind, _, rest = evidence.ref.partition(":")
        if kind == "text":
            return await self._text(rest, scope, version)
        text = await self._other(kind, rest, evidence, scope, version)
        if text is None:
            return None
        meta = evidence.meta.model_copy(update={"tenant": scope.tenant})
        return Source(text=text, title=evidence.title, meta=meta)

    async def _other(
        self, kind: str, rest: str, evidence: Evidence, scope: Scope, version: str
    ) -> str | None:
        if kind == "rows":
            return await self._rows(rest, scope, version)
        if kind == "relations":
            return await self._relations(rest, scope, version)
        return self.outside.get(scope.tenant, evidence.id)

    async def _text(self, rest: str, scope: Scope, version: str) -> Source | None:
        document_id, start, end = rest.rsplit(":", 2)
        catalog = (await self.library.version(version)).catalog
        document = await catalog.document(document_id, scope=scope)
        if document is None:
            return None
        text = document.text[int(start) : int(end)]
        return Source(text=text, title=document.title, meta=document.meta)

    async def _rows(self, rest: str, scope: Scope, version: str) -> str | None:
        call = json.loads(rest)
        relational = (await self.library.version(version)).relational
        templates = {t.name: t for t in await relational.templates(scope=scope)}
        template = templates.get(call["template"])
        if template is None:
            return None
        try:
            rows = await relational.run(template.name, call["parameters"], scope=scope)
        except (InputError, AccessDenied):
            return None
        return render_rows(rows, template, call["language"])

    async def _relations(self, rest: str, scope: Scope, version: str) -> str | None:
        entities = (await self.library.version(version)).entities
        found = await entities.relations([rest], scope=scope)
        return render_relation(found[0]) if found else None
