"""Which units of the evidence speak to a question: the ground of EVALUATE and ANSWER alike."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from domain.evidence import Evidence
from runtime.text.analyzer import content_terms
from runtime.text.sentences import Unit, split


@dataclass(frozen=True)
class Weights:
    """Inverse document frequencies: how telling a term is within the caller's knowledge.

    idf = ln(1 + (N - df + 0.5) / (df + 0.5)), the BM25 form (Robertson and Zaragoza 2009).
    """

    frequencies: Mapping[str, int]
    total: int

    def of(self, term: str) -> float:
        df = self.frequencies.get(term, 0)
        return math.log1p((max(self.total, df) - df + 0.5) / (df + 0.5))

    def share(self, wanted: Sequence[str], present: Iterable[str]) -> float:
        """The weighted share of `wanted` that is in `present`, 0 to 1; 0 for no terms."""
        whole = sum(self.of(term) for term in wanted)
        here = set(present)
        return sum(self.of(term) for term in wanted if term in here) / whole if whole else 0.0


@dataclass(frozen=True)
class Candidate:
    """A quotable unit of a piece of evidence."""

    evidence: Evidence
    unit: Unit
    rank: float

    @cached_property
    def text(self) -> str:
        return self.evidence.text[self.unit.start : self.unit.end]

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(content_terms(self.text))

    @cached_property
    def found(self) -> bool:
        """Whether the unit lies in the part that the search found, not in its neighbourhood."""
        return self.evidence.found_start <= self.unit.start < self.evidence.found_end

    @cached_property
    def header(self) -> str:
        """The header row of a table row, else empty."""
        span = self.unit.header
        return self.evidence.text[span[0] : span[1]] if span else ""


def candidates(evidence: Sequence[Evidence]) -> list[Candidate]:
    """Every quotable unit once, in the order of the evidence; headings are only context."""
    seen: set[tuple[str, str, str]] = set()
    found: list[Candidate] = []
    for position, item in enumerate(evidence):
        rank = 1.0 / (1.0 + 0.25 * position)
        for unit in units_of(item):
            key = (item.kind, item.source, item.text[unit.start : unit.end])
            if unit.kind == "heading" or key in seen or not says_something(key[2]):
                continue
            seen.add(key)
            found.append(Candidate(item, unit, rank))
    return found


_MARKUP = re.compile(r"!\[[^\]]*\]\([^)]*\)|<[^>]{0,400}>|\]\([^)]*\)|https?://\S+")


def says_something(text: str) -> bool:
    """Whether a unit holds words besides pictures, tags and addresses."""
    return sum(char.isalnum() for char in _MARKUP.sub(" ", text)) >= 2


_FIELD = re.compile(r"\s*[^\W\d][\w /-]{0,30}[:：]\s+")


def units_of(item: Evidence) -> list[Unit]:
    """The quotable units of a piece of evidence.

    Prose is split into sentences; a query's rows line by line; of a relation only the words of
    its source count, not the edge drawn from them; a record, written as `field: value`, gives
    its fields' sentences without the field's name.
    """
    if item.kind == "relations":
        edge = item.text.find("\n") + 1
        spans = split(item.text[edge:]) if edge else []
        return [Unit(edge + u.start, edge + u.end, "sentence") for u in spans]
    if item.chunk_kind != "record":
        return split(item.text)
    found: list[Unit] = []
    start = 0
    for line in item.text.split("\n"):
        field = _FIELD.match(line) if item.kind == "chunk" else None
        body = start + (field.end() if field else 0)
        if item.kind == "rows":
            found.append(Unit(start, start + len(line), "sentence"))
        else:
            found += [
                Unit(body + u.start, body + u.end, "sentence")
                for u in split(item.text[body : start + len(line)])
            ]
        start += len(line) + 1
    return [u for u in found if u.end > u.start and item.text[u.start : u.end] not in item.title]


def context_terms(evidence: Evidence) -> frozenset[str]:
    """Terms of the title and the headings above: what a sentence is about without saying it."""
    return frozenset(content_terms(" ".join((evidence.title, *evidence.locator.heading_path))))


CLEARLY = 0.05
"""How much nearer what is out of force must be to count before what is in force."""


def applicable(
    found: Sequence[Candidate],
    spellings: frozenset[str],
    day: date,
    near: Callable[[Candidate], float] = lambda _: 0.0,
) -> list[Candidate]:
    """What a question may be answered with.

    Where it names a version, what is of that version or else speaks of it, and nothing of
    another. Else what is in force on the day, unless that is plainly about something else and
    only a text out of force is about the question.
    """
    if spellings:
        told = tuple(s.casefold() for s in spellings if "." in s or s[:1] in "vV")
        of_version = [c for c in found if c.evidence.meta.version in spellings]
        return of_version or [c for c in found if any(t in c.text.casefold() for t in told)]
    current = [c for c in found if c.evidence.meta.in_force(day)]
    nearest = max(map(near, found), default=0.0)
    if not current or max(map(near, current)) < nearest - CLEARLY:
        return list(found) if not current else [c for c in found if c not in current]
    return current


def in_context(candidate: Candidate, terms: Sequence[str]) -> str:
    """The unit, after its title and heading where only they hold some of the terms.

    "A merchant may refund within 180 days" says of which policy only by what stands above it.
    """
    item = candidate.evidence
    if not (set(terms) & context_terms(item)) - candidate.terms:
        return candidate.text
    heading = item.locator.heading_path[-1:]
    above = dict.fromkeys((item.title, *heading))
    return f"{' — '.join(above)}: {candidate.text}"


_WANTS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|often|large|high|fast)\b|\b(?:limit|window|fee|rate|threshold|deadline|amount|maximum|minimum|timeout)\b|"
    r"多少|几[天个次小时分]|多久|多长|上限|限额|期限|费率|手续费|阈值|金额",
    re.IGNORECASE,
)
_WANTS_TIME = re.compile(
    r"\bwhen\b|\bwhat (?:time|date|day)\b|\bsince when\b|何时|什么时候|哪天|几点|日期|什么时间",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d|[一二三四五六七八九十百千]+[天个次日月年小]")
_TIME = re.compile(r"\d{4}[-年/]\d|\d{1,2}:\d{2}|\d+\s*月|\d+\s*点")


def relevance(
    candidate: Candidate, terms: Sequence[str], weights: Weights, *, question: str = ""
) -> float:
    """How well a unit answers, 0 to about 1.2.

    The unit's own share of the question's terms counts most; what its title and headings
    supply counts half; then the rank of its evidence, whether the search found just this
    part, and whether it holds the kind of fact that is asked for.
    """
    own = weights.share(terms, candidate.terms)
    context = weights.share(
        [term for term in terms if term not in candidate.terms], context_terms(candidate.evidence)
    )
    score = 0.6 * own + 0.25 * (1 - own) * context + 0.2 * candidate.rank
    score += 0.1 if candidate.found else 0.0
    if question and own + context > 0:
        if _WANTS_NUMBER.search(question) and _NUMBER.search(candidate.text):
            score += 0.08
        if _WANTS_TIME.search(question) and _TIME.search(candidate.text):
            score += 0.12
    return score * _length_factor(candidate.text)


def _length_factor(text: str) -> float:
    """Fragments and walls of text make poor statements."""
    length = len(text) * (2 if re.search(r"[一-鿿]", text) else 1)
    if length < 16:
        return 0.6
    return 1.0 if length <= 400 else max(0.5, 400 / length)


def ranked(
    found: Iterable[Candidate], terms: Sequence[str], weights: Weights, *, question: str = ""
) -> list[tuple[float, Candidate]]:
    """Candidates by relevance, best first; ties keep the order of the evidence."""
    scored = [(relevance(c, terms, weights, question=question), c) for c in found]
    return sorted(scored, key=lambda pair: -pair[0])
