"""Reads evidence again from its store: SAFE_GUARD believes nothing that stands in the State."""

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from backends.knowledge import Knowledge
from backends.library import Library
from domain.errors import AgenticRagError
from domain.evidence import Evidence, Scores
from domain.identity import Scope
from domain.limits import Degradation
from tools.evidence import NEIGHBOURS, from_relation, from_rows, from_window

TENANT_BYTES = 8 * 2**20


@dataclass(frozen=True)
class OutsideCache:
    """What web and API tools returned, by evidence id: such text has no store to read it from.

    Bounded by bytes a tenant; the oldest entry goes first, and a citation to it then fails
    closed.
    """

    bytes_per_tenant: int = TENANT_BYTES
    _entries: dict[str, OrderedDict[str, Evidence]] = field(default_factory=dict)

    def put(self, tenant: str, evidence: Evidence) -> None:
        """Remember it under its tenant."""
        mine = self._entries.setdefault(tenant, OrderedDict())
        mine[evidence.id] = evidence
        while len(mine) > 1 and sum(len(e.text) for e in mine.values()) > self.bytes_per_tenant:
            mine.popitem(last=False)

    def get(self, tenant: str, id: str) -> Evidence | None:
        """What this tenant's tools returned under the id."""
        return self._entries.get(tenant, OrderedDict()).get(id)


@dataclass(frozen=True)
class EvidenceReader:
    """Rebuilds pieces of evidence from their stores, within a scope.

    Nothing but the reference is taken from the piece that is handed in: text, title, source,
    metadata and place come from the store, and the id, which hashes the text, must come out the
    same.
    """

    library: Library
    outside: OutsideCache

    async def read(
        self, pieces: Iterable[Evidence], *, scope: Scope, version: str
    ) -> tuple[dict[str, Evidence], tuple[Degradation, ...]]:
        """By id what the stores hold now; what is gone, changed or not visible is left out.

        A store that fails costs its pieces and is told as a Degradation.
        """
        knowledge = await self.library.version(version)
        found: dict[str, Evidence] = {}
        notes: list[Degradation] = []
        by_kind: dict[str, list[Evidence]] = {}
        for piece in pieces:
            by_kind.setdefault(piece.ref.partition(":")[0], []).append(piece)
        for kind, wanted in by_kind.items():
            try:
                rebuilt = await self._rebuild(kind, wanted, knowledge, scope)
            except (AgenticRagError, ValueError, KeyError, TypeError) as error:
                cause = f"{type(error).__name__} while reading {kind} again"
                notes.append(
                    Degradation(stage="safe_guard", cause=cause, effect="its citations are dropped")
                )
                continue
            ids = {piece.id for piece in wanted}
            found |= {item.id: item for item in rebuilt if item.id in ids}
        return {id: item for id, item in found.items() if item.meta.tenant == scope.tenant}, tuple(
            notes
        )

    async def _rebuild(
        self, kind: str, wanted: list[Evidence], knowledge: Knowledge, scope: Scope
    ) -> list[Evidence]:
        refs = {piece.ref.partition(":")[2]: piece for piece in wanted}
        match kind:
            case "chunk":
                windows = await knowledge.catalog.windows(
                    list(refs), scope=scope, neighbours=NEIGHBOURS
                )
                return [
                    from_window(window, tool=refs[id].tool, scores=Scores())
                    for id, window in windows.items()
                ]
            case "rows":
                rebuilt = [await _rows(ref, knowledge, scope) for ref in refs]
                return [item for item in rebuilt if item is not None]
            case "relations":
                relations = await knowledge.entities.relations(list(refs), scope=scope)
                return [from_relation(r, tenant=scope.tenant) for r in relations]
            case _:
                kept = [self.outside.get(scope.tenant, piece.id) for piece in wanted]
                return [item for item in kept if item is not None]


async def _rows(ref: str, knowledge: Knowledge, scope: Scope) -> Evidence | None:
    call = json.loads(ref)
    templates = {t.name: t for t in await knowledge.relational.templates(scope=scope)}
    template = templates.get(call["template"])
    if template is None:
        return None
    rows = await knowledge.relational.run(template.name, call["parameters"], scope=scope)
    return from_rows(rows, template, tenant=scope.tenant, language=call["language"])
