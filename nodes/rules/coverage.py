"""Which requirements of a plan the evidence meets, and why the others are gaps."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.assessment import Gap
from domain.evidence import Evidence
from domain.plan import Plan, Requirement, Route
from nodes.rules.nearness import Nearness
from nodes.rules.periods import clock_times
from nodes.rules.select import Candidate, Weights, context_terms
from nodes.rules.slots import fills
from nodes.rules.thresholds import applies
from nodes.rules.walks import best_walk, edges
from runtime.text.analyzer import content_terms
from runtime.text.facts import facts
from runtime.text.language import question_language

_COUNTING = frozenset(
    ("mani", "total", "number", "count", "averag", "sum", "altogeth", "总数", "总共")
)

MOSTLY = 0.6
"""Share of what is counted that a sentence must name to tell its number."""


@dataclass(frozen=True)
class Coverage:
    """Judges requirements against evidence; the same judgement serves EVALUATE and ANSWER."""

    route: Route
    plan: Plan
    evidence: Sequence[Evidence]
    candidates: Sequence[Candidate]
    weights: Weights
    nearness: Mapping[str, Nearness]

    def gaps(self) -> tuple[Gap, ...]:
        """The unmet requirements with their reasons, in the order of the plan."""
        found = ((r, self._lack(r)) for r in self.plan.requirements)
        return tuple(Gap(requirement=r, reason=reason) for r, reason in found if reason)

    def share(self, gaps: Sequence[Gap]) -> float:
        """Met requirements by weight, 0 to 1: essential ones count double."""
        weight = {r.id: 2.0 if r.essential else 1.0 for r in self.plan.requirements}
        whole = sum(weight.values())
        return 1.0 - sum(weight[g.requirement.id] for g in gaps) / whole if whole else 0.0

    def _lack(self, needed: Requirement) -> str:
        match needed.kind:
            case "entity" | "constraint":
                return "" if self._mentions(needed.terms) else f"nothing found names {needed.text}"
            case "version":
                return "" if self._version(needed) else f"nothing found has version {needed.text}"
            case "slot":
                return "" if self._slot(needed) else f"nothing found tells the {needed.text}"
            case "time":
                return "" if self._time() else f"nothing found is about {needed.text}"
            case "sub_question":
                return self._question(needed)

    def _mentions(self, terms: Sequence[str]) -> bool:
        return any(mentions(item, terms) for item in self.evidence)

    def _version(self, needed: Requirement) -> bool:
        spelled = [t for t in needed.terms if "." in t or t[:1] in "vV"]
        return any(
            item.meta.version in needed.terms or mentions(item, spelled) for item in self.evidence
        )

    def _slot(self, needed: Requirement) -> bool:
        return any(
            self.plan.serving(needed) & set(c.evidence.sub_queries) and fills(needed.text, c.text)
            for c in self.candidates
        )

    def _time(self) -> bool:
        period = self.route.period
        if period is None:
            return True
        times = clock_times(period.text)
        day = period.start.date().isoformat() if period.start else ""
        return any(
            (day and day in e.text) or any(t in e.text for t in times) for e in self.evidence
        )

    def _question(self, needed: Requirement) -> str:
        mine = [e for e in self.evidence if self.plan.serving(needed) & set(e.sub_queries)]
        if not mine:
            return "nothing was found"
        if any(e.kind == "rows" for e in mine) or self._walk() or self._rule(needed):
            return ""
        unknown = self.unknown_names(needed.text)
        if unknown:
            return f"the knowledge nowhere mentions {', '.join(unknown)}"
        if self.route.intent == "statistics" and not self._figure(needed):
            return "no figure for it was found"
        near = self.nearness.get(needed.id, Nearness())
        if near.supports(max(self._shared_words(needed.terms, e) for e in mine)):
            return ""
        return "what was found is about something else"

    def _walk(self) -> bool:
        """Whether the relations found spell out what a question about relations asks."""
        route = self.route
        return route.intent == "relation" and bool(
            best_walk(route.standalone, route.entities, edges(self.evidence))
        )

    def _figure(self, needed: Requirement) -> bool:
        """Whether a sentence holds a number, most of what is counted, and the day asked for."""
        named = content_terms(" ".join((*self.route.entities, *self.route.identifiers)))
        counted = [
            t for t in needed.terms if t not in named and t not in _COUNTING and not t[:1].isdigit()
        ]
        day = self.route.period.start if self.route.period else None
        for candidate in self.candidates:
            told = candidate.unit.kind in ("sentence", "item")
            if not told or not self.plan.serving(needed) & set(candidate.evidence.sub_queries):
                continue
            found = facts(candidate.text)
            words = candidate.terms | context_terms(candidate.evidence)
            share = sum(t in words for t in counted) / (len(counted) or 1)
            on_day = day is None or day.date().isoformat() in found.dates
            if found.numbers and share >= MOSTLY and on_day:
                return True
        return False

    def _rule(self, needed: Requirement) -> bool:
        """Whether a written rule decides the case that a decision question describes."""
        return self.route.intent == "decision" and any(
            applies(c.text, needed.text)
            for c in self.candidates
            if self.plan.serving(needed) & set(c.evidence.sub_queries)
        )

    def _shared_words(self, terms: Sequence[str], item: Evidence) -> float:
        return self.weights.share(terms, set(content_terms(item.text)) | context_terms(item))

    def unknown_names(self, question: str) -> list[str]:
        """Names and codes of the question that stand nowhere in the caller's knowledge."""
        linked = " ".join(self.route.entities).casefold()
        return [
            name
            for name in proper_names(question)
            if name.casefold() not in linked
            and not any(self.weights.frequencies.get(t) for t in content_terms(name))
        ]


def mentions(item: Evidence, terms: Sequence[str]) -> bool:
    """Whether evidence names one of the terms, ignoring case and width."""
    return mentions_text(f"{item.title} {item.source} {item.text}", terms)


def mentions_text(text: str, terms: Sequence[str]) -> bool:
    """The same for a plain text."""
    folded = _fold(text)
    return any(_names(folded, _fold(term)) for term in terms if term)


def _names(text: str, term: str) -> bool:
    if not term.isascii():
        return term in text
    return re.search(rf"(?<![a-z0-9]){re.escape(term)}(?![a-z0-9])", text) is not None


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


_PROPER = re.compile(
    r"(?<=[a-z,'] )(?:[A-Z][\w&-]+)(?: [A-Z][\w&-]+)*|\b[A-Z]{2,}[\w-]*\b|\b[A-Za-z]+-?\d[\w-]*\b|[\"“「『]([^\"”」』]{2,40})[\"”」』]"
)
_CODE = re.compile(r"\b[A-Za-z]+-?\d[\w-]*\b")
_LATIN = re.compile(
    r"(?<![A-Za-z0-9])(?=[a-z0-9_.-]*[A-Z0-9])[A-Za-z][A-Za-z0-9_.-]{2,}(?![A-Za-z0-9])"
)


def proper_names(question: str) -> list[str]:
    """What looks like a name or a code: it cannot be said in other words.

    In a question that is all in capitals, only codes do. In a Chinese one, a Latin word with a
    capital or a digit does.
    """
    letters = [c for c in question if c.isascii() and c.isalpha()]
    if letters and sum(map(str.isupper, letters)) > 0.6 * len(letters) and len(letters) > 12:
        return list(dict.fromkeys(_CODE.findall(question)))
    found = [m.group(1) or m.group() for m in _PROPER.finditer(question)]
    if question_language(question) == "zh":
        found += _LATIN.findall(question)
    return [name for name in dict.fromkeys(found) if content_terms(name)]
