"""Who may see what: the one predicate behind every search, and checked again after it.

Stores may narrow their own searches in any way they like; what they return has passed here.
"""

from datetime import date
from typing import Any

from domain.identity import Filter, FilterField, Scope
from domain.knowledge import Metadata

Comparable = str | int | date

DATES: frozenset[FilterField] = frozenset({"effective_from", "effective_to"})
ORDERED: frozenset[FilterField] = DATES | {"authority"}
"""Fields with an order. `gte` and `lte` match nothing elsewhere: "10.0" is not below "9.0"."""


def visible(meta: Metadata, scope: Scope, source: str = "") -> bool:
    """Whether a document with this metadata and source lies within the scope."""
    return (
        meta.tenant == scope.tenant
        and meta.approval == "approved"
        and not set(meta.access).isdisjoint(scope.access)
        and (scope.as_of is None or _begun(meta, scope.as_of))
        and all(holds(condition, meta, source) for condition in scope.filters)
    )


def holds(condition: Filter, meta: Metadata, source: str = "") -> bool:
    """Whether one condition holds; an operand of the wrong type makes it fail, `ne` too."""
    wanted = operands(condition)
    if wanted is None:
        return False
    stated: Any = source if condition.field == "source" else getattr(meta, condition.field)
    if condition.op == "ne":
        return stated not in wanted
    if stated is None or stated == "":
        return False
    if condition.op in ("eq", "in"):
        return stated in wanted
    return bool(stated >= wanted[0] if condition.op == "gte" else stated <= wanted[0])


def operands(condition: Filter) -> tuple[Comparable, ...] | None:
    """The values of a condition in the type of its field; None where they do not fit it.

    Dates and numbers may arrive as text, for a Filter that went through JSON keeps no dates.
    """
    value = condition.value
    if (condition.op == "in") != isinstance(value, tuple):
        return None
    if condition.op in ("gte", "lte") and condition.field not in ORDERED:
        return None
    typed = [
        _typed(condition.field, item) for item in (value if type(value) is tuple else (value,))
    ]
    return None if None in typed else tuple(item for item in typed if item is not None)


def _typed(field: FilterField, value: object) -> Comparable | None:
    try:
        if field in DATES:
            return value if isinstance(value, date) else date.fromisoformat(str(value))
        if field == "authority":
            return None if isinstance(value, date) else int(str(value))
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _begun(meta: Metadata, day: date) -> bool:
    return meta.effective_from is None or meta.effective_from <= day
