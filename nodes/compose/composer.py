"""ANSWER without a model: statements made of evidence sentences, shaped by the question."""

from dataclasses import dataclass

from domain.answer import Draft
from domain.assessment import Assessment
from domain.identity import Scope
from domain.plan import Route
from domain.state import State
from nodes.compose.base import Material, Writer
from nodes.compose.comparison import compose_comparison
from nodes.compose.decision import compose_decision
from nodes.compose.diagnosis import Diagnosis
from nodes.compose.direct import direct_reply
from nodes.compose.facts import compose_facts
from nodes.compose.procedure import compose_procedure
from nodes.rules.days import day_asked
from nodes.rules.evaluator import EvidenceDesk
from nodes.rules.select import Candidate, units_of
from nodes.rules.walks import Edge, best_walk, edges

MOST_ROWS = 24


@dataclass(frozen=True)
class RuleComposer:
    """Says nothing of its own: every statement is a sentence, row or relation that was found."""

    desk: EvidenceDesk

    async def compose(self, state: State, *, scope: Scope) -> Draft:
        route = state["route"]
        if route.mode == "direct":
            reply = direct_reply(route)
            return Draft(statements=(reply,)) if reply else Draft(missing=(route.standalone,))
        assessments = state.get("assessments", ())
        if route.mode == "clarify" or not state.get("evidence") or not assessments:
            return Draft(missing=(route.missing or route.standalone,))
        reading = await self.desk.read(state, scope)
        material = Material(
            route,
            state["plan"],
            reading,
            assessments[-1],
            day_asked(route, state["run"].day),
        )
        writer = Writer()
        _compose(material, writer)
        return Draft(
            statements=tuple(writer.statements),
            missing=_missing(route, assessments[-1], writer),
        )


def _compose(material: Material, writer: Writer) -> None:
    """The shape for the intent; where its material is lacking, plain facts."""
    match material.route.intent:
        case "version_difference":
            done = compose_comparison(material, writer)
        case "diagnosis":
            done = Diagnosis(material, writer).compose()
        case "decision":
            done = compose_decision(material, writer)
        case "statistics":
            done = _figures(material, writer)
        case "relation":
            done = _relations(material, writer)
        case "how_to":
            done = _covered(material) and compose_procedure(material, writer)
        case _:
            done = _figures(material, writer)
    if not done and material.route.intent != "diagnosis":
        compose_facts(material, writer)


def _covered(material: Material) -> bool:
    return not any(gap.requirement.essential for gap in material.assessment.gaps)


def _figures(material: Material, writer: Writer) -> bool:
    rows = [c for c in material.reading.candidates if c.evidence.kind == "rows"]
    for position, candidate in enumerate(rows[:MOST_ROWS]):
        writer.say(candidate, slot="figures", essential=position == 0)
    return bool(rows)


def _relations(material: Material, writer: Writer) -> bool:
    route = material.route
    walk = best_walk(route.standalone, route.entities, edges(material.evidence))
    proofs = [_quoted(edge) for edge in walk]
    conclusion = {c.text for c in proofs[-1]} if proofs else set()
    for candidate in (c for proof in proofs for c in proof):
        writer.say(candidate, slot="relations", essential=candidate.text in conclusion)
    return bool(walk)


def _quoted(edge: Edge) -> list[Candidate]:
    """The sentences that state a relation: all below the line that renders it."""
    item = edge.evidence
    below = item.text.find("\n") + 1
    return [Candidate(item, unit, 1.0) for unit in units_of(item) if 0 < below <= unit.start]


def _missing(route: Route, assessment: Assessment, writer: Writer) -> tuple[str, ...]:
    gaps = tuple(gap.requirement.text for gap in assessment.gaps)
    unsaid = route.intent == "diagnosis" and not writer.statements
    return gaps if gaps or not unsaid else ("symptom",)
