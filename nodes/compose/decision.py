"""Decision: the rule that applies to the case, its options and conditions, a recommendation."""

import re

from nodes.compose.base import Material, Writer, in_language
from nodes.rules.select import Candidate, ranked
from nodes.rules.slots import fills
from nodes.rules.thresholds import applies

_OPTION = re.compile(r"\b[Oo]ption\s+([A-Z]|\d+)\b|(?:方案|选项)\s?([A-Z]|\d+|[一二三四])")

_IF = re.compile(r"(?:if|when|once|in case)\b|如果|若|当", re.IGNORECASE)

MOST_OPTIONS = 5
MOST_CONDITIONS = 3


def compose_decision(material: Material, writer: Writer) -> bool:
    """State the rule whose bounds the case meets; False where no written rule was found."""
    question = material.route.standalone
    rules = [
        c
        for c in _rules(material)
        if fills("rule", c.text) or applies(c.text, question) is not None
    ]
    if not rules:
        return False
    met = [c for c in rules if applies(c.text, question)]
    chosen = met[:1] or rules[:2]
    slot = "recommendation" if met else "rule"
    for position, candidate in enumerate(chosen):
        writer.say(candidate, slot=slot, essential=position == 0)
    _surroundings(material, writer, chosen[0])
    return True


def _rules(material: Material) -> list[Candidate]:
    queries = [q.id for q in material.plan.sub_queries if q.slot == "rule"]
    found = [
        c
        for c in material.of(*queries)
        if c.unit.kind in ("sentence", "item", "row")
        and c.evidence.kind == "chunk"
        and c.evidence.meta.in_force(material.day)
    ]
    reading = material.reading
    best = [c for _, c in ranked(found, reading.terms, reading.weights)]
    return in_language(best, material.language)


def _surroundings(material: Material, writer: Writer, rule: Candidate) -> None:
    """Options and conditions stand in the same source as the rule."""
    same = [
        c
        for c in material.reading.candidates
        if c.evidence.source == rule.evidence.source and c.text != rule.text
    ]
    options = [c for c in same if c.unit.kind == "item" and fills("options", c.text)]
    for candidate in options[:MOST_OPTIONS]:
        writer.say(candidate, slot="options")
    chosen = set(_OPTION.findall(rule.text))
    weights, terms = material.reading.weights, sorted(rule.terms)

    def weight(candidate: Candidate) -> float:
        named = set(_OPTION.findall(candidate.text))
        about = 1.0 if named & chosen else -1.0 if named else 0.0
        return about + weights.share(terms, candidate.terms)

    conditions = [c for c in same if c not in options and _is_condition(c, material)]
    for candidate in sorted(conditions, key=weight, reverse=True)[:MOST_CONDITIONS]:
        if weight(candidate) > 0:
            writer.say(candidate, slot="conditions")


def _is_condition(candidate: Candidate, material: Material) -> bool:
    """A sentence that binds and that the case does not already contradict."""
    if candidate.unit.kind not in ("sentence", "item"):
        return False
    binding = fills("rule", candidate.text) or fills("conditions", candidate.text)
    rule_of_another_case = (
        _IF.match(candidate.text) and applies(candidate.text, material.route.standalone) is False
    )
    return binding and not rule_of_another_case
