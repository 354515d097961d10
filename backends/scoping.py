"""A Scope in the terms of a search engine: keywords and integers only.

The engines know neither dates nor "not stated". Dates become day numbers (which sort), a
missing date is a missing field, and what can match nothing is said once, here, so that no
engine gets to decide what an empty condition means.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from domain.identity import FilterField, FilterOp, Scope
from domain.knowledge import Chunk
from domain.visibility import DATES, operands

KEYWORDS: tuple[str, ...] = (
    "tenant",
    "approval",
    "access",
    "domain",
    "department",
    "region",
    "product",
    "doc_type",
    "env",
    "version",
    "author",
    "language",
    "source",
)
INTEGERS: tuple[str, ...] = ("authority", "effective_from", "effective_to")

Value = str | int
Fields = Mapping[str, Value | list[str]]


@dataclass(frozen=True)
class Condition:
    """One filter on a keyword or integer field; `values` holds one value except for `in`."""

    field: FilterField
    op: FilterOp
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Condensed:
    """What a search engine has to hold a chunk against; all of it must be met.

    `begun_by`: no `effective_from` or one not after that day number; None leaves it open.
    """

    tenant: str
    access: tuple[str, ...]
    conditions: tuple[Condition, ...]
    begun_by: int | None


def condense(scope: Scope) -> Condensed | None:
    """The scope for an engine; None where nothing at all can lie within it."""
    if not scope.access:
        return None
    conditions = []
    for condition in scope.filters:
        wanted = operands(condition)
        if wanted is None:
            return None
        values = tuple(_value(condition.field, item) for item in wanted)
        if condition.op in ("eq", "in"):
            values = tuple(value for value in values if value != "")
            if not values:
                return None
        conditions.append(Condition(condition.field, condition.op, values))
    day = None if scope.as_of is None else scope.as_of.toordinal()
    return Condensed(scope.tenant, scope.access, tuple(conditions), day)


def fields(chunk: Chunk) -> Fields:
    """The metadata of a chunk under the names of KEYWORDS and INTEGERS; no date, no field."""
    meta = chunk.meta
    found: dict[str, Value | list[str]] = {
        name: getattr(meta, name) for name in KEYWORDS if name not in ("source", "access")
    }
    found |= {"source": chunk.source, "access": list(meta.access), "authority": meta.authority}
    for name in DATES:
        day: date | None = getattr(meta, name)
        if day is not None:
            found[name] = day.toordinal()
    return found


def _value(field: FilterField, item: str | int | date) -> Value:
    if isinstance(item, date):
        return item.toordinal()
    # An authority lies between 0 and 100; beyond that only the side matters, and engines
    # refuse integers of more than 64 bits.
    return max(-1, min(101, item)) if isinstance(item, int) and field == "authority" else item
