"""Diagnosis: conclusion, evidence, rival causes excluded, suggested actions."""

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta

from domain.evidence import Evidence
from nodes.compose.base import Material, Writer, language_of, with_step_number
from nodes.compose.procedure import Procedure, procedures
from nodes.rules.coverage import mentions, mentions_text, proper_names
from nodes.rules.periods import clock_times
from nodes.rules.select import Candidate, context_terms, relevance
from nodes.rules.slots import fills
from runtime.text.analyzer import content_terms
from runtime.text.facts import facts

_ROOT = re.compile(r"\broot cause\b|\bcaused by\b|根因|根本原因", re.IGNORECASE)
_REMEDY = re.compile(
    r"recover|mitigat|resol|fix|remed|repair|restore|action|恢复|处理|缓解|解决|处置|修复",
    re.IGNORECASE,
)
_RESOLVED = re.compile(r"\b(?:was back|recovered|closed)\b|恢复到|已恢复", re.IGNORECASE)


RELATED = 0.15
"""Weighted share of what symptom and cause say that a change must share to be told."""


def codes(texts: Iterable[str]) -> frozenset[str]:
    """The error codes in texts, such as e4291: what ties pages to an incident."""
    found = frozenset[str]().union(*(facts(text).identifiers for text in texts))
    return frozenset(code for code in found if re.fullmatch(r"e[a-z]{0,3}[-_]?\d{3,5}", code))


class Diagnosis:
    """Fills the five slots for one incident; evidence of another incident is left out."""

    def __init__(self, material: Material, writer: Writer) -> None:
        self._material = material
        self._writer = writer
        self._subjects = self._named()
        self._times = clock_times(material.route.standalone)
        self._terms = list(material.reading.terms)
        self._dates_of: dict[str, frozenset[str]] = {}
        self._codes: frozenset[str] = frozenset()

    def compose(self) -> bool:
        """State what is known of each slot; nothing and False where no symptom is recorded.

        A cause without a recorded symptom would be the cause of something else, so the symptom
        comes first, and what follows has to belong to the same incident.
        """
        symptom = self._fill("symptom", most=2, weigh=self._symptom, keep=self._is_symptom)
        if not symptom:
            return False
        self._learn((*symptom, *self._figures()))
        self._codes = codes(c.evidence.text for c in symptom)
        cause = self._fill("cause", most=3, weigh=self._cause, keep=self._may_explain)
        self._learn(cause)
        self._codes |= codes(c.text for c in cause)
        self._fill("change", most=1, weigh=self._change, keep=self._is_change)
        self._fill("excluded", most=6, weigh=self._plain, keep=self._same_incident)
        self._act()
        return bool(cause)

    def _fill(
        self,
        slot: str,
        *,
        most: int,
        weigh: Callable[[Candidate], float],
        keep: Callable[[Candidate], bool],
    ) -> list[Candidate]:
        found = [
            c
            for c in self._material.of(*self._queries(slot))
            if c.evidence.kind != "rows"
            and c.unit.kind in ("sentence", "item", "row")
            and fills(slot, c.text)
            and keep(c)
        ]
        scored = sorted(((weigh(c) * self._own_language(c), c) for c in found), key=lambda p: -p[0])
        top = scored[0][0] if scored else 0.0
        said = [
            c
            for score, c in scored[: most * 3]
            if score >= 0.55 * top
            and self._writer_room(slot, most)
            and self._writer.say(c, slot=slot, essential=slot in ("symptom", "cause"))
        ]
        return said

    def _writer_room(self, slot: str, most: int) -> bool:
        return sum(s.slot == slot for s in self._writer.statements) < most

    def _queries(self, slot: str) -> list[str]:
        wanted = {slot, "cause"} if slot in ("excluded", "change") else {slot}
        return [q.id for q in self._material.plan.sub_queries if q.slot in wanted]

    def _named(self) -> list[tuple[str, ...]]:
        entities = [
            r.terms for r in self._material.plan.requirements if r.kind in ("entity", "constraint")
        ]
        return entities or [(name,) for name in proper_names(self._material.route.standalone)]

    def _own_language(self, candidate: Candidate) -> float:
        return 1.0 if language_of(candidate) == self._material.language else 0.6

    def _about_subject(self, item: Evidence) -> bool:
        return not self._subjects or any(mentions(item, terms) for terms in self._subjects)

    def _same_incident(self, candidate: Candidate) -> bool:
        """Of the named subject and, where a day is asked for, of that day or the next."""
        item, period = candidate.evidence, self._material.route.period
        if not self._about_subject(item) or candidate.text.rstrip().endswith("?"):
            return False
        if period is None or period.start is None:
            return True
        first = period.start.date()
        last = max(first + timedelta(days=1), period.end.date() if period.end else date.max)
        return any(first.isoformat() <= day <= last.isoformat() for day in self._dates(item))

    def _dates(self, item: Evidence) -> frozenset[str]:
        """The dates in a piece of evidence, in whatever notation; read once."""
        if item.id not in self._dates_of:
            self._dates_of[item.id] = facts(item.text).dates
        return self._dates_of[item.id]

    def _is_symptom(self, candidate: Candidate) -> bool:
        """Of the incident, naming the subject itself, and not a sentence that rules it out."""
        said = f"{candidate.evidence.title} {candidate.text}"
        named = any(mentions_text(said, terms) for terms in self._subjects)
        if not self._subjects:
            asked = [t for t in self._material.reading.terms if not t[:1].isdigit()]
            words = set(content_terms(said))
            named = sum(t in words for t in asked) > len(asked) / 2
        return named and not fills("excluded", candidate.text) and self._same_incident(candidate)

    def _may_explain(self, candidate: Candidate) -> bool:
        """A record of the same incident, or documentation of an error code that it shows."""
        if _RESOLVED.search(candidate.text) or fills("excluded", candidate.text):
            return False
        item = candidate.evidence
        if item.meta.doc_type in ("ticket", "change"):
            return self._same_incident(candidate)
        return item.kind == "chunk" and bool(codes([candidate.text]) & self._codes)

    def _is_change(self, candidate: Candidate) -> bool:
        """A change just before the symptom that has something to do with the cause."""
        item, period = candidate.evidence, self._material.route.period
        if item.meta.doc_type != "change" or fills("excluded", candidate.text):
            return False
        if self._change(candidate) < RELATED:
            return False
        day, start = item.meta.effective_from, period.start if period else None
        return start is None or (
            day is not None and start.date() - timedelta(days=1) <= day <= start.date()
        )

    def _plain(self, candidate: Candidate) -> float:
        return relevance(candidate, self._terms, self._material.reading.weights)

    def _symptom(self, candidate: Candidate) -> float:
        timed = any(time in candidate.text for time in self._times)
        return self._plain(candidate) + (0.3 if timed else 0.0)

    def _cause(self, candidate: Candidate) -> float:
        return self._plain(candidate) + (0.5 if _ROOT.search(candidate.text) else 0.0)

    def _change(self, candidate: Candidate) -> float:
        return self._material.reading.weights.share(self._terms, candidate.terms)

    def _learn(self, said: Iterable[Candidate]) -> None:
        """What symptom and cause say is what the change and the remedy have to be about."""
        learned = [term for candidate in said for term in sorted(candidate.terms)]
        self._terms = list(dict.fromkeys((*self._terms, *learned)))

    def _figures(self) -> list[Candidate]:
        rows = [c for c in self._material.reading.candidates if c.evidence.kind == "rows"]
        timed = [c for c in rows if any(time in c.text for time in self._times)] or rows[:1]
        return [c for c in timed[:1] if self._writer.say(c, slot="symptom")]

    def _act(self) -> None:
        ids = set(self._queries("action"))
        evidence = [e for e in self._material.evidence if ids & set(e.sub_queries)]
        fitting = [item for item in evidence if self._fits(item)]
        scored = [(self._remedy(p), p) for item in fitting for p in procedures(item)]
        if not scored:
            return
        best = max(scored, key=lambda pair: pair[0])[1]
        for step in best.steps:
            self._writer.say(with_step_number(step), slot="action")

    def _fits(self, item: Evidence) -> bool:
        """Whether a runbook is for this incident: it names an error code of it, if it has any."""
        return not self._codes or bool(codes([item.title, item.text]) & self._codes)

    def _remedy(self, procedure: Procedure) -> float:
        weights, item = self._material.reading.weights, procedure.evidence
        words = context_terms(item) | {t for step in procedure.steps for t in step.terms}
        score = weights.share(self._terms, words)
        score += 0.3 * bool(_REMEDY.search(procedure.heading))
        score += 0.3 * (language_of(procedure.steps[0]) == self._material.language)
        return score - 0.5 * (not item.meta.in_force(self._material.day))
