"""EVALUATE without a model: coverage, validity, conflict, diversity, and a stated confidence."""

import asyncio
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from backends.library import Library
from domain.assessment import Assessment, Conflict
from domain.evidence import Evidence
from domain.identity import Scope
from domain.plan import Plan, Route
from domain.state import State
from nodes.rules.conflicts import conflicts
from nodes.rules.coverage import Coverage
from nodes.rules.days import day_asked, without_days
from nodes.rules.identifiers import spellings_of
from nodes.rules.nearness import Nearness, SentenceVectors
from nodes.rules.select import Candidate, Weights, applicable, candidates, ranked
from runtime.clock import Clock
from runtime.text.analyzer import content_terms

COMPARED = 48
"""How many of the most relevant sentences are compared for conflicts."""


WAIT = 0.09
"""Share of the run's time that comparing sentences may take; all sub-questions wait at once."""


@dataclass(frozen=True)
class Reading:
    """The evidence prepared once: its units, the term weights and the question's terms."""

    coverage: Coverage
    candidates: list[Candidate]
    weights: Weights
    terms: tuple[str, ...]


@dataclass(frozen=True)
class EvidenceDesk:
    """Prepares the evidence of a State for judging and quoting; the same for both."""

    library: Library
    sentences: SentenceVectors
    remembered: int = 16
    _readings: OrderedDict[Hashable, Reading] = field(default_factory=OrderedDict)

    async def read(self, state: State, scope: Scope) -> Reading:
        """The reading of a State; ANSWER gets the one that EVALUATE made of the same evidence."""
        evidence = tuple((item.id, item.sub_queries) for item in state.get("evidence", ()))
        key = (state["run"].id, evidence, len(state["plan"].sub_queries), scope)
        known = self._readings.get(key)
        if known is None:
            known = self._readings[key] = await self._read(state, scope)
            while len(self._readings) > self.remembered:
                self._readings.popitem(last=False)
        return known

    async def _read(self, state: State, scope: Scope) -> Reading:
        route, plan = state["route"], state["plan"]
        knowledge = await self.library.version(state["run"].knowledge_version)
        terms = tuple(content_terms(route.standalone))
        frequencies = await knowledge.lexical.document_frequency(
            _all_terms(plan, terms), scope=scope
        )
        total = (await knowledge.catalog.count(scope.tenant))[1]
        weights = Weights(frequencies, total)
        found = candidates(state.get("evidence", ()))
        timeout_s = WAIT * state["run"].limits.latency_ms / 1000
        spellings = spellings_of(route.versions)
        day = day_asked(route, state["run"].day)
        nearness = await self._nearness(plan, found, weights, timeout_s, spellings, day)
        coverage = Coverage(route, plan, state.get("evidence", ()), found, weights, nearness)
        return Reading(coverage, found, weights, terms)

    async def _nearness(
        self,
        plan: Plan,
        found: Sequence[Candidate],
        weights: Weights,
        timeout_s: float,
        spellings: frozenset[str],
        day: date,
    ) -> dict[str, Nearness]:
        """For each sub-question, how near what it may be answered with comes."""
        asked = [r for r in plan.requirements if r.kind == "sub_question"]
        mine = [
            [c for c in found if plan.serving(needed) & set(c.evidence.sub_queries)]
            for needed in asked
        ]
        measured = await asyncio.gather(
            *(
                self.sentences.nearness(
                    without_days(needed.text), units, weights, timeout_s=timeout_s
                )
                for needed, units in zip(asked, mine, strict=True)
            )
        )
        return {
            needed.id: near.among(applicable(units, spellings, day, near.of))
            for needed, units, near in zip(asked, mine, measured, strict=True)
        }


def _all_terms(plan: Plan, terms: Iterable[str]) -> list[str]:
    needed = [t for r in plan.requirements if r.kind == "sub_question" for t in r.terms]
    return list(dict.fromkeys((*terms, *needed)))


@dataclass(frozen=True)
class RuleEvaluator:
    """Judges the evidence as it stands after a round."""

    desk: EvidenceDesk
    clock: Clock

    async def assess(self, state: State, *, scope: Scope) -> Assessment:
        run, route = state["run"], state["route"]
        evidence = state.get("evidence", ())
        reading = await self.desk.read(state, scope)
        gaps = reading.coverage.gaps()
        coverage = reading.coverage.share(gaps) if evidence else 0.0
        day = day_asked(route, run.day)
        found = self._conflicts(reading, route, day)
        agreement = max(0.0, 1.0 - 0.34 * len(found))
        quality = source_quality(evidence, day)
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
            outdated=tuple(item.id for item in evidence if not item.meta.in_force(day)),
            unmeasured=_unmeasured(reading),
            elapsed_ms=round(run.elapsed_ms(self.clock.monotonic()), 1),
        )

    def _conflicts(self, reading: Reading, route: Route, day: date) -> tuple[Conflict, ...]:
        if route.intent == "version_difference":
            return ()
        told = applicable(reading.candidates, spellings_of(route.versions), day)
        best = ranked(told, reading.terms, reading.weights)[:COMPARED]
        relevant = [c for score, c in best if score >= 0.45]
        return conflicts(relevant, day)


def _unmeasured(reading: Reading) -> str:
    late = [n for n in reading.coverage.nearness.values() if not n.measured]
    return "the embedder was too slow to compare sentences; words alone decided" if late else ""


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
