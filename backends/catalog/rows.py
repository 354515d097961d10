"""Between domain models and the rows of the catalog."""

from typing import Any

import sqlalchemy as sa

from backends.catalog.schema import BLOCK
from domain.knowledge import Chunk, Document, Metadata

Row = sa.Row[Any]


def must_belong(chunk: Chunk, document: Document) -> None:
    """The catalog keeps offsets only, so a chunk must be what its document says.

    Raises ValueError where text, source, title or metadata differ.
    """
    same = (
        chunk.document_id == document.id
        and chunk.source == document.source
        and chunk.title == document.title
        and chunk.meta == document.meta
        and chunk.text == document.text[chunk.start : chunk.end]
    )
    if not same:
        raise ValueError(f"chunk {chunk.id} is no verbatim part of document {document.id}")


def document_row(document: Document) -> dict[str, Any]:
    """The row of a document; its text goes into blocks."""
    row = document.model_dump(mode="json", exclude={"text"})
    return {**row, "tenant": document.meta.tenant}


def block_rows(key: int, text: str) -> list[dict[str, Any]]:
    """The text in blocks of equal length, numbered from 0."""
    return [
        {"document": key, "number": number, "text": text[start : start + BLOCK]}
        for number, start in enumerate(range(0, len(text), BLOCK))
    ]


def chunk_row(key: int, chunk: Chunk) -> dict[str, Any]:
    """The row of a chunk, without what its document knows already."""
    known = {"document_id", "source", "title", "text", "meta"}
    return {"document": key, **chunk.model_dump(mode="json", exclude=known)}


def read_document(row: Row, text: str = "") -> Document:
    """A document from its row."""
    return Document(
        id=row.id,
        collection=row.collection,
        source=row.source,
        title=row.title,
        text=text,
        content_hash=row.content_hash,
        meta=Metadata.model_validate(row.meta),
        pages=tuple(row.pages),
    )


def read_chunk(document: Row, chunk: Row, text: str) -> Chunk:
    """A chunk from its own row and one that carries the columns of its document."""
    return Chunk(
        id=chunk.id,
        document_id=document.document_id,
        source=document.source,
        title=document.title,
        ordinal=chunk.ordinal,
        section=chunk.section,
        text=text,
        start=chunk.start,
        end=chunk.end,
        heading_path=tuple(chunk.heading_path),
        page=chunk.page,
        kind=chunk.kind,
        context=chunk.context,
        meta=Metadata.model_validate(document.meta),
    )
