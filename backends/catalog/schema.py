"""The tables of the catalog and the scope as SQL."""

from typing import Any

import sqlalchemy as sa

from domain.identity import Filter, Scope
from domain.visibility import Comparable, operands

TABLES = sa.MetaData()

DOCUMENTS = sa.Table(
    "documents",
    TABLES,
    sa.Column("key", sa.Integer, primary_key=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("tenant", sa.Text, nullable=False, index=True),
    sa.Column("collection", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("content_hash", sa.Text, nullable=False),
    sa.Column("pages", sa.JSON, nullable=False),
    sa.Column("meta", sa.JSON, nullable=False),
    sa.UniqueConstraint("collection", "source"),
)

BLOCKS = sa.Table(
    "blocks",
    TABLES,
    sa.Column("document", sa.ForeignKey("documents.key", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
"""The text in pieces of BLOCK characters, so that a quote from a huge file reads little."""

CHUNKS = sa.Table(
    "chunks",
    TABLES,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("document", sa.ForeignKey("documents.key", ondelete="CASCADE"), nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("section", sa.Text, nullable=False),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("heading_path", sa.JSON, nullable=False),
    sa.Column("page", sa.Integer),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("context", sa.Text, nullable=False),
    sa.UniqueConstraint("document", "ordinal"),
)

QUARANTINE = sa.Table(
    "quarantine",
    TABLES,
    sa.Column("collection", sa.Text, primary_key=True),
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("tenant", sa.Text, nullable=False, index=True),
    sa.Column("reason", sa.Text, nullable=False),
)

BLOCK = 16_384


def within(scope: Scope) -> sa.ColumnElement[bool]:
    """The documents of a scope; the same rules as `domain.visibility.visible`."""
    tag = sa.func.json_each(DOCUMENTS.c.meta, "$.access").table_valued("value")
    conditions: list[sa.ColumnElement[bool]] = [
        DOCUMENTS.c.tenant == scope.tenant,
        _field("approval") == "approved",
        sa.exists(sa.select(1).select_from(tag).where(tag.c.value.in_(scope.access))),
        *map(_condition, scope.filters),
    ]
    if scope.as_of is not None:
        begins = _field("effective_from")
        conditions.append(sa.or_(begins.is_(None), begins <= scope.as_of.isoformat()))
    return sa.and_(*conditions)


def _field(name: str) -> sa.ColumnElement[str]:
    return sa.func.json_extract(DOCUMENTS.c.meta, f"$.{name}", type_=sa.Text)


def _condition(condition: Filter) -> sa.ColumnElement[bool]:
    wanted = operands(condition)
    if wanted is None:
        return sa.false()
    column: sa.ColumnElement[Any] = (
        DOCUMENTS.c.source if condition.field == "source" else _field(condition.field)
    )
    if condition.field == "authority":
        column = sa.type_coerce(column, sa.Integer())
    values = [_bindable(item) for item in wanted]
    if condition.op == "ne":
        return sa.or_(column.is_(None), column != values[0])
    stated = sa.and_(column.is_not(None), column != "")
    if condition.op in ("eq", "in"):
        return sa.and_(stated, column.in_(values))
    return sa.and_(stated, column >= values[0] if condition.op == "gte" else column <= values[0])


def _bindable(item: Comparable) -> str | int:
    # An authority lies between 0 and 100, and SQLite takes no integer beyond 64 bits.
    return max(-1, min(101, item)) if isinstance(item, int) else str(item)
