"""Answers of one or a few sentences: facts, definitions, codes."""

from nodes.compose.base import Material, Writer, language_of
from nodes.rules.select import Candidate, ranked

SECOND = 0.82
"""A further sentence joins when it is this close to the best one."""

MOST = 3


def compose_facts(material: Material, writer: Writer) -> None:
    """For each sub-question its best sentence, and near ones that add something."""
    open_questions = {gap.requirement.sub_query for gap in material.assessment.gaps}
    hard = [g for g in material.assessment.gaps if g.requirement.kind in ("entity", "constraint")]
    if hard and len(material.plan.requirements) <= len(hard) + 1:
        return
    for requirement in material.plan.requirements:
        if requirement.kind != "sub_question" or requirement.sub_query in open_questions:
            continue
        best = best_units(material, requirement.sub_query, requirement.text, requirement.terms)
        for position, candidate in enumerate(best):
            writer.say(candidate, essential=position == 0)


def best_units(
    material: Material, sub_query: str, question: str, terms: tuple[str, ...]
) -> list[Candidate]:
    """The sentences to say for a question, best first; at least one where anything was found."""
    retried = [q.id for q in material.plan.sub_queries if q.question == question]
    found = [c for c in material.of(sub_query, *retried) if c.unit.kind != "code"]
    current = [c for c in found if c.evidence.meta.in_force(material.day)] or found
    scored = ranked(current, terms, material.reading.weights, question=question)
    scored = _prefer_language(scored, material.language)
    if not scored:
        return []
    top = scored[0][0]
    return [candidate for score, candidate in scored[:MOST] if score >= SECOND * top]


def _prefer_language(
    scored: list[tuple[float, Candidate]], language: str
) -> list[tuple[float, Candidate]]:
    """A sentence in the asker's language is worth more than the same in another."""
    weighted = [(s if language_of(c) == language else s * 0.7, c) for s, c in scored]
    return sorted(weighted, key=lambda pair: -pair[0])
