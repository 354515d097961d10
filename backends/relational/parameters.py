"""From what a caller hands over to what is bound: typed, bounded, in one written form."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime

from backends.relational.base import Parameter, SqlValue, Template
from domain.errors import InputError

_MAX_TEXT = 1_000
_INTEGERS = range(-(2**63), 2**63)


def bind(template: Template, given: Mapping[str, SqlValue]) -> dict[str, SqlValue]:
    """The value of every declared parameter.

    Dates are bound as `2026-11-30`, datetimes as `2026-11-30 21:55:00` (in UTC where they
    name an offset), the form that SQLite's own functions write. Raises InputError naming
    the parameters that are unknown, missing, of another type or not among the choices.
    """
    declared = [parameter.name for parameter in template.parameters]
    if unknown := sorted(set(given) - set(declared)):
        raise InputError(
            f"{template.name} has no parameter {_shown(', '.join(unknown))}; it takes "
            f"{', '.join(declared) or 'none'}"
        )
    return {
        parameter.name: _value(template, parameter, given.get(parameter.name))
        for parameter in template.parameters
    }


def _value(template: Template, parameter: Parameter, given: SqlValue) -> SqlValue:
    where = f"parameter {parameter.name} of {template.name}"
    if given is None:
        if parameter.default is None and parameter.required:
            raise InputError(f"{where} is missing; give a {parameter.type}")
        given = parameter.default
    if given is None:
        return None
    try:
        value = _READERS[parameter.type](given)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{where} must be a {parameter.type}: {error}") from None
    if parameter.choices and str(value) not in parameter.choices:
        raise InputError(
            f"{where} must be one of {', '.join(parameter.choices)}, not {_shown(str(value))}"
        )
    return value


def _string(given: SqlValue) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{_shown(given)} is no text")
    if len(given) > _MAX_TEXT:
        raise ValueError(f"{len(given)} characters are more than {_MAX_TEXT}")
    if "\0" in given or any("\ud800" <= char <= "\udfff" for char in given):
        raise ValueError("it holds characters that are no text")
    return given


def _integer(given: SqlValue) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"{_shown(given)} is no whole number")
    if given not in _INTEGERS:
        raise ValueError("it does not fit into 64 bits")
    return given


def _number(given: SqlValue) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise TypeError(f"{_shown(given)} is no number")
    if not math.isfinite(given):
        raise ValueError(f"{given} is not finite")
    return float(given)


def _date(given: SqlValue) -> str:
    return date.fromisoformat(_string(given)).isoformat()


def _datetime(given: SqlValue) -> str:
    moment = datetime.fromisoformat(_string(given))
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


_READERS: dict[str, Callable[[SqlValue], SqlValue]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "date": _date,
    "datetime": _datetime,
}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
