"""Matches a question to a named SQL template and fills its parameters."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from pydantic import JsonValue

from backends.relational.base import Parameter, Template
from domain.knowledge import Entity
from domain.plan import Language, Period, ToolCall
from nodes.rules.periods import clock_times
from runtime.text.analyzer import content_terms

UNMATCHED = 0.2
"""Share of a question's words that may be foreign to a template: one word in five, so in a short
question none. A word that no example of the template uses ("suspended", "in Africa") asks for
something else."""

_DATES = re.compile(
    r"\d{4}\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d{1,2}\s*日?|\d{1,2}:\d{2}|\d{1,2}\s*[点时]"
)
_DAYS = re.compile(r"\d{4}\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d{1,2}\s*日?")
_INTEGER = re.compile(r"(?<![\w.:-])\d{1,6}(?![\w.:-])")


def match_template(
    question: str,
    templates: Sequence[Template],
    entities: Sequence[Entity],
    period: Period | None,
    language: Language,
    *,
    strict: bool = True,
) -> ToolCall | None:
    """The call that answers the question, or None where no template quite fits.

    A template fits when it knows the question's words and its parameters take up every entity,
    day and hour that the question names: a figure for the whole day is no answer about an
    hour. Without `strict` (a diagnosis looks around the moment) hours may be left over.
    """
    wanted = _topic(question, entities)
    best: tuple[int, float, ToolCall] | None = None
    for template in sorted(templates, key=lambda t: t.name):
        if not wanted or _foreign(wanted, template) > (UNMATCHED if strict else 0.6):
            continue
        filled = _Filling(question, entities, period, strict).fill(template.parameters)
        if filled is None:
            continue
        call = ToolCall(
            tool="sql_lookup",
            arguments={"template": template.name, "parameters": filled, "language": language},
        )
        scored = (len(filled), _similarity(wanted, template), call)
        if best is None or scored[:2] > best[:2]:
            best = scored
    return best[2] if best else None


def lacking(
    question: str, templates: Sequence[Template], entities: Sequence[Entity], period: Period | None
) -> str:
    """What only the asker can supply for a template that otherwise fits; empty where none does.

    "How many orders failed on 2026-11-12?" fits a template that needs to know whose.
    """
    wanted = _topic(question, entities)
    for template in sorted(templates, key=lambda t: -_similarity(wanted, t)):
        if not wanted or _foreign(wanted, template) > UNMATCHED:
            continue
        filling = _Filling(question, entities, period, strict=True)
        missing = filling.missing(template.parameters)
        if missing and not filling.left_over:
            return ", ".join(p.description or p.name for p in missing)
    return ""


def _topic(question: str, entities: Iterable[Entity]) -> frozenset[str]:
    text = _DATES.sub(" ", question)
    for entity in entities:
        for name in sorted((entity.name, *entity.aliases, entity.id), key=len, reverse=True):
            text = re.sub(re.escape(name), " ", text, flags=re.IGNORECASE)
    return frozenset(t for t in content_terms(text) if not any(c.isdigit() for c in t))


def _vocabulary(example: str) -> frozenset[str]:
    terms = content_terms(_DATES.sub(" ", example))
    return frozenset(t for t in terms if not any(c.isdigit() for c in t))


def _foreign(wanted: frozenset[str], template: Template) -> float:
    """The share of the question's words that no example or description of the template has."""
    known = set[str]().union(
        *map(_vocabulary, (*template.questions, *template.description.values()))
    )
    return len(wanted - known) / len(wanted)


def _similarity(wanted: frozenset[str], template: Template) -> float:
    examples = map(_vocabulary, (*template.questions, *template.description.values()))
    return max((len(wanted & e) / len(wanted | e) for e in examples if wanted | e), default=0.0)


class _Filling:
    """Fills the parameters of one template and watches that nothing named is left over."""

    def __init__(
        self, question: str, entities: Sequence[Entity], period: Period | None, strict: bool
    ) -> None:
        self._question = question
        self._unused = list(entities)
        self._period = period
        self._strict = strict
        self._days_left = len(set(_DAYS.findall(question))) or (period is not None) * 1
        self._hours = [int(time[:2]) for time in clock_times(question)]
        self._hours_left = bool(self._hours)

    def fill(self, declared: Sequence[Parameter]) -> dict[str, JsonValue] | None:
        """The values by name; None where a required one is missing or something is left over."""
        filled: dict[str, JsonValue] = {}
        for parameter in declared:
            value = self._value(parameter)
            if value is not None:
                filled[parameter.name] = value
            elif parameter.required and parameter.default is None:
                return None
        return None if self.left_over else filled

    def missing(self, declared: Sequence[Parameter]) -> list[Parameter]:
        """The required parameters that the question does not fill."""
        return [p for p in declared if self._value(p) is None and p.required and p.default is None]

    @property
    def left_over(self) -> bool:
        """Whether the question names an entity, a day or an hour that no parameter took."""
        hours = self._strict and self._hours_left
        return bool(self._unused) or self._days_left > 0 or hours

    def _value(self, parameter: Parameter) -> JsonValue:
        if parameter.entity_type and (entity := self._entity(parameter.entity_type)):
            return entity
        if parameter.choices:
            folded = self._question.casefold()
            return next((c for c in parameter.choices if c.casefold() in folded), None)
        if parameter.type in ("date", "datetime"):
            return self._moment(parameter)
        if parameter.type in ("integer", "number") and "hour" in parameter.name:
            return self._hour(parameter)
        if parameter.type in ("integer", "number"):
            found = _INTEGER.search(_DATES.sub(" ", self._question))
            return int(found.group()) if found else None
        return None

    def _entity(self, kind: str) -> str | None:
        for entity in self._unused:
            if entity.type == kind:
                self._unused.remove(entity)
                return entity.id.rsplit(":", 1)[-1]
        return None

    def _moment(self, parameter: Parameter) -> str | None:
        closing = parameter.name.startswith(("end", "to", "until"))
        moment = self._period and (self._period.end if closing else self._period.start)
        if not isinstance(moment, datetime):
            return None
        self._days_left -= 1
        return moment.date().isoformat() if parameter.type == "date" else moment.isoformat()

    def _hour(self, parameter: Parameter) -> int | None:
        """Hours count from their beginning: from 22:00 to 23:00 is the hour 22."""
        if not self._hours or not self._strict:
            return None
        self._hours_left = False
        first, last = self._hours[0], self._hours[-1]
        if parameter.name.startswith(("end", "to", "until", "last")):
            return max(first, last - 1)
        return first
