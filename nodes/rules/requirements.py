"""What the evidence has to cover before the answer to a planned question may be called complete."""

from collections.abc import Sequence

from domain.knowledge import Entity
from domain.plan import OF_VERSION, Requirement, Route, SubQuery
from nodes.rules.identifiers import version_values
from nodes.rules.slots import DIAGNOSIS
from runtime.text.analyzer import content_terms


def requirements(
    route: Route, entities: Sequence[Entity], sub_queries: Sequence[SubQuery]
) -> list[Requirement]:
    """Entities, identifiers, versions, slots and sub-questions, each to be covered."""
    found = [
        Requirement(
            id=f"entity:{entity.id}",
            kind="entity",
            text=entity.called_in(route.standalone),
            terms=(entity.name, *entity.aliases, entity.id.rsplit(":", 1)[-1]),
            essential=route.intent not in ("decision", "how_to"),
        )
        for entity in entities
    ]
    named = {term.casefold() for r in found for term in r.terms}
    found += [
        Requirement(id=f"identifier:{name}", kind="constraint", text=name, terms=(name,))
        for name in route.identifiers
        if name.casefold() not in named
    ]
    for query in sub_queries:
        found.extend(_of(query))
    if route.period is not None and route.intent == "diagnosis":
        found.append(Requirement(id="time", kind="time", text=route.period.text, essential=False))
    return found


def _of(query: SubQuery) -> list[Requirement]:
    if query.slot.startswith("version:"):
        version = query.slot.partition(":")[2]
        return [
            Requirement(
                id=query.slot,
                kind="version",
                text=f"v{version}",
                terms=version_values(version),
                sub_query=query.id,
            )
        ]
    if query.slot == "relations" and query.depends_on:
        return []
    if query.slot == OF_VERSION:
        spellings = _spellings(query)
        return [
            Requirement(
                id=f"version:{spellings[0]}",
                kind="version",
                text=f"v{spellings[0]}",
                terms=spellings,
                sub_query=query.id,
            )
        ]
    if query.slot in DIAGNOSIS:
        return [
            Requirement(
                id=f"slot:{query.slot}",
                kind="slot",
                text=query.slot,
                sub_query=query.id,
                essential=query.slot in ("symptom", "cause"),
            )
        ]
    return [
        Requirement(
            id=f"question:{query.id}",
            kind="sub_question",
            text=query.question,
            terms=tuple(content_terms(query.question)),
            sub_query=query.id,
            essential=query.slot != "options",
        )
    ]


def _spellings(query: SubQuery) -> tuple[str, ...]:
    """The spellings of the version that a sub-query is confined to."""
    [only] = [f.value for f in query.filters if f.field == "version"]
    return only if isinstance(only, tuple) else (str(only),)
