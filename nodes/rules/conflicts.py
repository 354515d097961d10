"""Where two sources in force disagree on one point."""

from collections.abc import Sequence
from datetime import date

from domain.assessment import Conflict, ConflictBasis
from domain.evidence import Evidence
from nodes.rules.select import Candidate
from runtime.text.facts import Facts, facts

FEWEST = 4
"""Words two sentences must share, numbers aside, to speak of one point."""


def conflicts(found: Sequence[Candidate], day: date, *, most: int = 3) -> tuple[Conflict, ...]:
    """Pairs that say the same thing with other numbers, dates or the opposite sign.

    Only sentences of different sources in the same language, both in force on `day`, are
    compared, and only where all their words but the numbers are the same: one word that differs
    ("basic", "premium") makes another point. Records of single events (tickets, rows) do not
    contradict one another.
    """
    told = [(c, facts(c.text), _words(c)) for c in found if _states_a_rule(c, day)]
    disagreements = []
    for i, (a, a_facts, a_words) in enumerate(told):
        for b, b_facts, b_words in told[i + 1 :]:
            if a.evidence.source == b.evidence.source or len(a_words) < FEWEST:
                continue
            if a_words != b_words:
                continue
            reason = _difference(a_facts, b_facts)
            if reason:
                disagreements.append(_conflict(a, b, reason))
    return tuple(disagreements[:most])


def _states_a_rule(candidate: Candidate, day: date) -> bool:
    item = candidate.evidence
    return (
        item.kind == "chunk"
        and item.chunk_kind != "record"
        and item.meta.doc_type not in ("ticket", "change")
        and candidate.unit.kind in ("sentence", "item")
        and item.meta.in_force(day)
    )


def _words(candidate: Candidate) -> frozenset[str]:
    return frozenset(t for t in candidate.terms if not any(c.isdigit() for c in t))


def _difference(a: Facts, b: Facts) -> str:
    if a.identifiers != b.identifiers or a.names != b.names:
        return ""
    if a.numbers != b.numbers and a.numbers and b.numbers:
        return "numbers"
    if a.dates != b.dates and a.dates and b.dates:
        return "dates"
    if bool(a.negations) != bool(b.negations):
        return "negation"
    return ""


def _conflict(a: Candidate, b: Candidate, reason: str) -> Conflict:
    first, second = sorted((a, b), key=lambda c: _preference(c.evidence), reverse=True)
    return Conflict(
        point=" ".join(sorted(_words(first) & _words(second))[:8]),
        preferred=first.evidence.id,
        other=second.evidence.id,
        preferred_quote=first.text,
        other_quote=second.text,
        reason=reason,
        basis=_basis(first.evidence, second.evidence),
    )


def _basis(first: Evidence, second: Evidence) -> ConflictBasis:
    if first.meta.authority != second.meta.authority:
        return "authority"
    if first.meta.effective_from != second.meta.effective_from:
        return "date"
    return "none"


def _preference(item: Evidence) -> tuple[int, date, str]:
    return item.meta.authority, item.meta.effective_from or date.min, item.id
