"""Who asks, and what a search on their behalf may see."""

from datetime import date
from typing import Literal

from pydantic import Field

from domain.base import Model

EVERYONE = "everyone"
"""The access tag that every principal of a tenant holds."""

FilterField = Literal[
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
    "authority",
    "effective_from",
    "effective_to",
]
FilterOp = Literal["eq", "ne", "in", "gte", "lte"]
FilterValue = str | int | date | tuple[str, ...]


class Principal(Model):
    """The authenticated caller. Never taken from the question, the input or a model."""

    tenant: str = Field(min_length=1, max_length=64)
    user: str = Field(min_length=1, max_length=128)
    roles: tuple[str, ...] = ()
    clearances: tuple[str, ...] = ()

    @property
    def access(self) -> tuple[str, ...]:
        """The access tags this caller holds, sorted and without repeats."""
        return tuple(sorted({EVERYONE, *self.roles, *self.clearances}))


class Filter(Model):
    """One condition on a metadata field. `in` takes a tuple; the empty tuple matches nothing.

    An empty string in the metadata means "not stated"; `eq` and `in` never match it,
    so that a filter fails closed.
    """

    field: FilterField
    op: FilterOp = "eq"
    value: FilterValue


class Scope(Model):
    """What a search may see. Every search demands one.

    A document is visible when its tenant is `tenant`, it shares at least one access tag
    with `access`, its approval is "approved", every filter holds and, where `as_of` is set,
    its `effective_from` is not after that day. Being out of force hides nothing: a question
    about versions needs the old one, so validity is judged by EVALUATE.
    """

    tenant: str
    access: tuple[str, ...]
    filters: tuple[Filter, ...] = ()
    as_of: date | None = None

    @classmethod
    def of(cls, principal: Principal, *, as_of: date | None = None) -> "Scope":
        """The widest scope of a principal."""
        return cls(tenant=principal.tenant, access=principal.access, as_of=as_of)

    def narrowed(self, filters: tuple[Filter, ...]) -> "Scope":
        """The same scope with further conditions; filters can only take away."""
        return self.model_copy(update={"filters": (*self.filters, *filters)})
