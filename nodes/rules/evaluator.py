"""EVALUATE without a model: coverage, validity, conflict, diversity, and a stated confidence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from backends.library import Library
from domain.assessment import Assessment, Conflict
from domain.evidence import Evidence
from domain.identity import Scope
from domain.plan import Plan, Route
from domain.state import State
from nodes.rules.conflicts import conflicts
from nodes.rules.coverage import Coverage
from nodes.rules.select import Candidate, Weights, candidates, ranked
from runtime.clock import Clock
from runtime.text.analyzer import content_terms

COMPARED = 48
"""How many of the most relevant sentences are compared for conflicts."""


@dataclass(frozen=True)
class Reading:
    """The evidence prepared once: its units, the term weights and the question's terms."""

    coverage: Coverage
    candidates: list[Candidate]
    weights: Weights
    terms: tuple[str, ...]


async def read_evidence(state: State, library: Library, scope: Scope) -> Reading:
    """Prepare the evidence of a State for judging and quoting."""
    route, evidence = state["route"], state.get("evidence", ())
    knowledge = await library.version(state["run"].knowledge_version)
    terms = tuple(content_terms(route.standalone))
    asked = _all_terms(state["plan"], terms) if "plan" in state else terms
    frequencies = await knowledge.lexical.document_frequency(asked, scope=scope)
    total = (await knowledge.catalog.count(scope.tenant))[1]
    weights = Weights(frequencies, total)
    found = candidates(evidence)
    return Reading(Coverage(route, evidence, found, weights), found, weights, terms)


def _all_terms(plan: Plan, terms: Iterable[str]) -> list[str]:
    needed = [t for r in plan.requirements if r.kind == "sub_question" for t in r.terms]
    return list(dict.fromkeys((*terms, *needed)))


@dataclass(frozen=True)
class RuleEvaluator:
    """Judges the evidence as it stands after a round."""

    library: Library
    clock: Clock

    async def assess(self, state: State, *, scope: Scope) -> Assessment:
        run, route, plan = state["run"], state["route"], state["plan"]
        evidence = state.get("evidence", ())
        reading = await read_evidence(state, self.library, scope)
        gaps = reading.coverage.gaps(plan)
        coverage = reading.coverage.share(plan, gaps) if evidence else 0.0
        found = self._conflicts(reading, route, run.day)
        agreement = max(0.0, 1.0 - 0.34 * len(found))
        quality = source_quality(evidence, run.day)
        score = confidence(coverage, agreement, 1.0, quality) if evidence else 0.0
        return Assessment(
            step=state["step"],
            coverage=round(coverage, 4),
            agreement=round(agreement, 4),
            source_quality=round(quality, 4),
            confidence=round(score, 4),
            new_evidence=state.get("new_evidence", 0),
            sources=len({item.source for item in evidence}),
            clear=not gaps and not found and state["step"] == 1,
            gaps=gaps,
            conflicts=found,
            outdated=tuple(item.id for item in evidence if not item.meta.in_force(run.day)),
            elapsed_ms=round(run.elapsed_ms(self.clock.monotonic()), 1),
        )

    def _conflicts(self, reading: Reading, route: Route, day: date) -> tuple[Conflict, ...]:
        if route.intent == "version_difference":
            return ()
        best = ranked(reading.candidates, reading.terms, reading.weights)[:COMPARED]
        relevant = [c for score, c in best if score >= 0.45]
        return conflicts(relevant, day)


def source_quality(evidence: Sequence[Evidence], day: date) -> float:
    """Mean authority (0 to 1) of the five best pieces; out of force counts half."""
    best = sorted(evidence, key=lambda e: -e.scores.final)[:5]
    if not best:
        return 0.0
    return sum(
        item.meta.authority / 100 * (1.0 if item.meta.in_force(day) else 0.5) for item in best
    ) / len(best)


def confidence(coverage: float, agreement: float, verification: float, quality: float) -> float:
    """0.45 coverage + 0.25 verification + 0.15 agreement + 0.15 source quality, each 0 to 1.

    `verification` is the share of composed statements that SAFE_GUARD let pass; before that
    it is taken as 1, so that the stop rule asks: would this do if all of it held?
    """
    return 0.45 * coverage + 0.25 * verification + 0.15 * agreement + 0.15 * quality
