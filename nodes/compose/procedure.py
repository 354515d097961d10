"""How-to answers: the numbered steps of the procedure that fits best, whole and in order."""

from collections.abc import Iterator
from typing import NamedTuple

from domain.evidence import Evidence
from nodes.compose.base import Material, Writer, language_of, with_step_number
from nodes.rules.select import Candidate, context_terms
from runtime.text.analyzer import content_terms
from runtime.text.sentences import split

FITS = 0.3
"""Share of the question's terms that a procedure with its headings must hold."""


class Procedure(NamedTuple):
    """A numbered list with the heading above it."""

    evidence: Evidence
    heading: str
    steps: list[Candidate]


def compose_procedure(material: Material, writer: Writer, *, slot: str = "") -> bool:
    """State the steps of the best procedure of the nearest sources; False where none fits."""
    near = {id for n in material.reading.coverage.nearness.values() for id in n.nearest_evidence()}
    sources = {item.source for item in material.evidence if item.id in near}
    best = best_procedure(material, [e for e in material.evidence if e.source in sources])
    if best is None:
        return False
    for position, step in enumerate(best.steps):
        writer.say(with_step_number(step), slot=slot, essential=position == 0)
    return True


def best_procedure(material: Material, evidence: list[Evidence]) -> Procedure | None:
    """The list whose steps and headings hold most of the question, in its language if it can."""
    weights, terms = material.reading.weights, material.reading.terms
    scored = []
    for position, item in enumerate(evidence):
        for procedure in procedures(item):
            words = set(content_terms(procedure.heading)) | context_terms(item)
            steps = {t for step in procedure.steps for t in step.terms}
            fit = weights.share(terms, words | steps)
            if fit < FITS:
                continue
            score = fit + 0.5 * weights.share(terms, words) + 0.2 / (1 + position)
            score -= 0.4 * (language_of(procedure.steps[0]) != material.language)
            score -= 0.5 * (not item.meta.in_force(material.day))
            scored.append((score, procedure))
    return max(scored, key=lambda pair: pair[0])[1] if scored else None


def procedures(item: Evidence) -> Iterator[Procedure]:
    """The numbered lists of two steps or more in a piece of evidence."""
    heading, steps, last = "", list[Candidate](), 0
    for unit in split(item.text):
        if unit.kind == "heading":
            if len({s.unit.number for s in steps}) > 1:
                yield Procedure(item, heading, steps)
            heading, steps, last = item.text[unit.start : unit.end], [], 0
        elif unit.kind == "item" and unit.number is not None:
            if unit.number < last:
                if len({s.unit.number for s in steps}) > 1:
                    yield Procedure(item, heading, steps)
                steps = []
            last = unit.number
            steps.append(Candidate(item, unit, 1.0))
        elif steps and unit.kind in ("item", "code"):
            steps.append(Candidate(item, unit, 1.0))
    if len({s.unit.number for s in steps}) > 1:
        yield Procedure(item, heading, steps)
