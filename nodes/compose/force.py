"""The words of a source that tell since when, or until when, it is in force."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from domain.evidence import Evidence
from nodes.rules.select import Candidate, units_of
from runtime.text.facts import facts
from runtime.text.sentences import Unit

IN_FORCE = re.compile(
    r"\b(?:in force|effective|takes? effect|valid)\b|生效|有效|施行|执行|失效|废止", re.IGNORECASE
)
_YEAR = re.compile(r"\d{4}")
_FIELD = re.compile(r"^effective_from\s*:.*$", re.MULTILINE)


def force_sentence(
    evidence: Sequence[Evidence], version: str, bound: date | None
) -> Candidate | None:
    """The sentence that tells of this version's force; with a `bound`, one that holds that date.

    A sentence that names another version alone tells nothing of this one.
    """
    return next(
        (
            found
            for found in _sentences(evidence)
            if IN_FORCE.search(found.text)
            and _YEAR.search(found.text)
            and _is_about(found.text, version)
            and (bound is None or _holds(found.text, bound))
        ),
        None,
    )


def declaration(evidence: Sequence[Evidence], version: str, day: date) -> Candidate | None:
    """The line of the front matter, or else the sentence, that holds the declared first day."""
    for item in evidence:
        for field in _FIELD.finditer(item.text):
            if _holds(field.group(), day):
                return Candidate(item, Unit(field.start(), field.end(), "sentence"), 1.0)
    return next(
        (
            found
            for found in _sentences(evidence)
            if _holds(found.text, day) and _is_about(found.text, version)
        ),
        None,
    )


def _sentences(evidence: Sequence[Evidence]) -> Iterator[Candidate]:
    for item in evidence:
        for unit in units_of(item):
            if unit.kind == "sentence":
                yield Candidate(item, unit, 1.0)


def _holds(text: str, day: date) -> bool:
    return day.isoformat() in facts(text).dates


def _is_about(text: str, version: str) -> bool:
    named = {m.lower() for m in re.findall(r"(?<![\w.])v(\d+(?:\.\d+)*)", text, re.IGNORECASE)}
    return not named or version in named
