"""Matches a question to a named SQL template and fills its parameters."""

import re
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from backends.relational.base import Parameter, Template
from domain.knowledge import Entity
from domain.plan import Language, Period, ToolCall
from runtime.text.analyzer import content_terms

MINIMUM = 0.34
"""Below this share of common words a question is not about a template (set on examples/payments)."""

_DATES = re.compile(r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?|\d{1,2}:\d{2}")
_INTEGER = re.compile(r"(?<![\w.:-])\d{1,6}(?![\w.:-])")


def match_template(
    question: str,
    templates: Sequence[Template],
    entities: Sequence[Entity],
    period: Period | None,
    language: Language,
) -> ToolCall | None:
    """The call that answers the question, or None where no template is close enough.

    Templates are compared by the words of their example questions, without the names, dates
    and numbers that are parameters anyway; a template of which a required parameter cannot
    be filled is passed over.
    """
    wanted = _topic(question, entities)
    scored = sorted(
        ((_similarity(wanted, template), template) for template in templates),
        key=lambda pair: (-pair[0], pair[1].name),
    )
    for score, template in scored:
        if score < MINIMUM:
            return None
        parameters = _fill(template.parameters, question, entities, period)
        if parameters is not None:
            return ToolCall(
                tool="sql_lookup",
                arguments={
                    "template": template.name,
                    "parameters": parameters,
                    "language": language,
                },
            )
    return None


def _topic(question: str, entities: Iterable[Entity]) -> frozenset[str]:
    text = _DATES.sub(" ", question)
    for entity in entities:
        for name in sorted((entity.name, *entity.aliases), key=len, reverse=True):
            text = re.sub(re.escape(name), " ", text, flags=re.IGNORECASE)
    return frozenset(t for t in content_terms(text) if not t.isdigit())


def _similarity(wanted: frozenset[str], template: Template) -> float:
    best = 0.0
    for example in (*template.questions, *template.description.values()):
        terms = frozenset(
            t for t in content_terms(_DATES.sub(" ", example)) if not any(c.isdigit() for c in t)
        )
        if wanted and terms:
            best = max(best, len(wanted & terms) / len(wanted | terms) ** 0.5 / len(wanted) ** 0.5)
    return best


def _fill(
    declared: Sequence[Parameter],
    question: str,
    entities: Sequence[Entity],
    period: Period | None,
) -> dict[str, JsonValue] | None:
    filled: dict[str, JsonValue] = {}
    unused = list(entities)
    for parameter in declared:
        value = _value(parameter, question, unused, period)
        if value is not None:
            filled[parameter.name] = value
        elif parameter.required and parameter.default is None:
            return None
    return filled


def _value(
    parameter: Parameter, question: str, unused: list[Entity], period: Period | None
) -> JsonValue:
    if parameter.entity_type:
        return _entity(parameter, unused)
    if parameter.choices:
        folded = question.casefold()
        return next((c for c in parameter.choices if c.casefold() in folded), None)
    if parameter.type in ("date", "datetime"):
        if period is None:
            return None
        closing = parameter.name.startswith(("end", "to", "until"))
        moment = period.end if closing else period.start
        if moment is None:
            return None
        return moment.date().isoformat() if parameter.type == "date" else moment.isoformat()
    if parameter.type in ("integer", "number"):
        found = _INTEGER.search(_DATES.sub(" ", question))
        return int(found.group()) if found else None
    return None


def _entity(parameter: Parameter, unused: list[Entity]) -> str | None:
    for entity in unused:
        if entity.type == parameter.entity_type:
            unused.remove(entity)
            return entity.id.rsplit(":", 1)[-1]
    return None
