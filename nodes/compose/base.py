"""What every shape of answer is made of."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from domain.answer import Quote, Statement
from domain.assessment import Assessment
from domain.evidence import Evidence
from domain.plan import Language, Plan, Route
from nodes.rules.evaluator import Reading
from nodes.rules.select import Candidate
from runtime.text.language import detect

SAME = 0.7
"""Share of common terms from which two sentences say the same."""


@dataclass(frozen=True)
class Material:
    """What a composer works with: the question, its plan, and the evidence as judged."""

    route: Route
    plan: Plan
    reading: Reading
    assessment: Assessment
    day: date

    @property
    def language(self) -> Language:
        return self.route.language

    @property
    def evidence(self) -> Sequence[Evidence]:
        return self.reading.coverage.evidence

    def of(self, *sub_queries: str) -> list[Candidate]:
        """The quotable units that these sub-queries found."""
        wanted = set(sub_queries)
        return [c for c in self.reading.candidates if wanted & set(c.evidence.sub_queries)]


class Writer:
    """Collects statements, numbers them and refuses to say the same thing twice."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self._said: list[frozenset[str]] = []

    def say(self, candidate: Candidate, *, slot: str = "", essential: bool = False) -> bool:
        """State a unit of evidence; False where it was said already."""
        if any(similar(candidate.terms, earlier) for earlier in self._said):
            return False
        self._said.append(candidate.terms)
        text = row_text(candidate) if candidate.unit.kind == "row" else flat(candidate.text)
        self.add(text, quotes_of(candidate), slot=slot, essential=essential)
        return True

    def add(
        self, text: str, quotes: Iterable[Quote], *, slot: str = "", essential: bool = False
    ) -> None:
        """State a composed text with the quotes that prove it."""
        self.statements.append(
            Statement(
                id=f"s{len(self.statements) + 1}",
                text=text,
                slot=slot,
                quotes=tuple(quotes),
                essential=essential,
            )
        )


def similar(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two sentences say the same; different figures never do."""
    if not a or not b:
        return a == b
    digits_a = {t for t in a if any(c.isdigit() for c in t)}
    digits_b = {t for t in b if any(c.isdigit() for c in t)}
    return digits_a == digits_b and len(a & b) / len(a | b) >= SAME


def quotes_of(candidate: Candidate) -> tuple[Quote, ...]:
    """The verbatim words of a unit; a table row needs its header to be read."""
    item, unit = candidate.evidence, candidate.unit
    proof = quote(item, unit.start, unit.end)
    if unit.header is None:
        return (proof,)
    return (quote(item, *unit.header).model_copy(update={"role": "context"}), proof)


def quote(item: Evidence, start: int, end: int) -> Quote:
    """The words of `item` between two offsets."""
    return Quote(evidence=item.id, text=item.text[start:end], start=start, end=end)


_STEP_MARK = re.compile(r"\d{1,3}[.)、]\s+$")


def with_step_number(candidate: Candidate) -> Candidate:
    """A step together with its number, as both stand in the source."""
    item, unit = candidate.evidence, candidate.unit
    mark = _STEP_MARK.search(item.text, max(0, unit.start - 8), unit.start)
    if mark is None:
        return candidate
    return Candidate(item, unit._replace(start=mark.start()), candidate.rank)


def row_text(candidate: Candidate) -> str:
    """A table row as `column: value; column: value`."""
    columns, values = _cells(candidate.header), _cells(candidate.text)
    pairs = [f"{c}: {v}" if c else v for c, v in zip(columns, values, strict=False) if v]
    return "; ".join(pairs) or flat(candidate.text)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def flat(text: str) -> str:
    """One line: wrapped lines joined."""
    return " ".join(text.split())


def in_language(found: Iterable[Candidate], language: Language) -> list[Candidate]:
    """Candidates in the question's language first; the order within each is kept."""
    return sorted(found, key=lambda c: language_of(c) != language)


def language_of(candidate: Candidate) -> str:
    """The language of a unit; its document's where the words do not tell."""
    return detect(candidate.text) or candidate.evidence.meta.language
