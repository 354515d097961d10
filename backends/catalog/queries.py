"""The questions put to the catalog's tables, within one connection."""

import json
from collections.abc import Iterable, Sequence
from itertools import takewhile

import sqlalchemy as sa

from backends.catalog.rows import Row
from backends.catalog.schema import BLOCK, BLOCKS, CHUNKS, DOCUMENTS, within
from domain.identity import Scope
from domain.knowledge import Metadata
from domain.visibility import visible


def forget(connection: sa.Connection, collection: str, source: str) -> list[str]:
    """Delete a document with all that hangs on it; the ids of its chunks in order."""
    mine = sa.and_(DOCUMENTS.c.collection == collection, DOCUMENTS.c.source == source)
    ids = sa.select(CHUNKS.c.id).select_from(CHUNKS.join(DOCUMENTS)).where(mine)
    old = list(connection.scalars(ids.order_by(CHUNKS.c.ordinal)))
    connection.execute(sa.delete(DOCUMENTS).where(mine))
    return old


def found(connection: sa.Connection, chunk_ids: Sequence[str], scope: Scope) -> list[Row]:
    """The visible chunks among the ids, each with what its document says."""
    wanted = sa.func.json_each(json.dumps(list(chunk_ids))).table_valued("value")
    document = DOCUMENTS.c
    statement = (
        sa.select(
            CHUNKS,
            document.id.label("document_id"),
            document.source,
            document.title,
            document.meta,
        )
        .select_from(CHUNKS.join(DOCUMENTS))
        .where(CHUNKS.c.id.in_(sa.select(wanted.c.value)), within(scope))
    )
    return [row for row in connection.execute(statement) if _visible(row, scope)]


def section(connection: sa.Connection, centre: Row, neighbours: int | None) -> list[Row]:
    """The unbroken run of chunks around `centre` with its section, `neighbours` each side."""
    chunk = CHUNKS.c
    members = sa.select(CHUNKS).where(chunk.document == centre.document)
    if neighbours is not None:
        near = chunk.ordinal.between(centre.ordinal - neighbours, centre.ordinal + neighbours)
        members = members.where(near)
    rows = connection.execute(members.order_by(chunk.ordinal)).all()
    here = next(place for place, row in enumerate(rows) if row.id == centre.id)
    before = [*_of_section(reversed(rows[:here]), centre)]
    return [*reversed(before), *_of_section(rows[here:], centre)]


def piece(connection: sa.Connection, document: int, start: int, end: int | None) -> str:
    """`text[start:end]` of a document, reading only the blocks that it touches."""
    block = BLOCKS.c
    rows = sa.select(block.text).where(block.document == document, block.number >= start // BLOCK)
    if end is not None:
        rows = rows.where(block.number <= end // BLOCK)
    text = "".join(connection.scalars(rows.order_by(block.number)))
    offset = start // BLOCK * BLOCK
    return text[start - offset : None if end is None else end - offset]


def visible_document(connection: sa.Connection, document_id: str, scope: Scope) -> Row | None:
    """The row of a document, or None where the scope does not hold it."""
    mine = sa.select(DOCUMENTS).where(DOCUMENTS.c.id == document_id, within(scope))
    row = connection.execute(mine).one_or_none()
    return row if row is not None and _visible(row, scope) else None


def _of_section(rows: Iterable[Row], centre: Row) -> Iterable[Row]:
    return takewhile(lambda row: row.section == centre.section, rows)


def _visible(row: Row, scope: Scope) -> bool:
    return visible(Metadata.model_validate(row.meta), scope, row.source)
