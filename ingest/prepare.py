"""One file to documents with chunks. Everything here blocks: call it from a thread."""

import hashlib
import json
from dataclasses import dataclass

from domain.errors import IngestError
from domain.knowledge import Chunk, Document, Metadata
from ingest.chunking import Chunker
from ingest.metadata import declared, narrowed
from ingest.parsers import Parsed, parse
from ingest.scan import File, Source, read_file
from runtime.ids import stable_id
from runtime.text.language import detect

PIPELINE = "1"
"""Raised whenever parsing or chunking changes, so that a load replaces what older code made."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What one file gave. `known` are sources that are as they were.

    `refused` are (source, reason) pairs; `keeps_old` says that the file could not be read,
    so that what was loaded from it earlier is still the best there is.
    """

    documents: tuple[tuple[Document, tuple[Chunk, ...]], ...] = ()
    known: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    keeps_old: bool = False


class Preparer:
    """Reads, parses and cuts files of one source; skips what `hashes` already knows."""

    def __init__(self, source: Source, hashes: dict[str, str], chunker: Chunker, max_mb: int):
        self._source = source
        self._hashes = hashes
        self._chunker = chunker
        self._max_mb = max_mb

    def prepare(self, file: File) -> Prepared:
        """Never raises for what is wrong with the file itself."""
        try:
            raw = read_file(file, self._source.root, self._max_mb)
            meta = declared(self._source.declaration, self._source.tenant, file.relative)
            digest = fingerprint(raw, meta)
            if self._hashes.get(file.source) == digest:
                return Prepared(known=(file.source,))
            result = parse(raw, file.source)
        except IngestError as error:
            return Prepared(refused=((file.source, str(error)),), keeps_old=True)
        return self._documents(result.documents, result.broken, meta, digest)

    def _documents(
        self,
        parsed: tuple[Parsed, ...],
        broken: tuple[tuple[str, str], ...],
        meta: Metadata,
        digest: str,
    ) -> Prepared:
        documents, known, refused = [], [], list(broken)
        for item in parsed:
            try:
                document = self._document(item, meta, digest)
                if self._hashes.get(document.source) == document.content_hash:
                    known.append(document.source)
                else:
                    documents.append((document, self._chunks(document, item)))
            except IngestError as error:
                refused.append((item.source, str(error)))
        return Prepared(tuple(documents), tuple(known), tuple(refused))

    def _document(self, parsed: Parsed, meta: Metadata, digest: str) -> Document:
        what = "the record" if parsed.record else "the front matter"
        meta = narrowed(meta, parsed.fields, f"{parsed.source}: {what}")
        if not meta.language:
            language = detect(parsed.text[parsed.body :])
            meta = meta.model_copy(update={"language": language})
        if parsed.record:
            digest = fingerprint(f"{parsed.title}\n{parsed.text}".encode(), meta)
        return Document(
            id=stable_id("d", meta.tenant, self._source.collection, parsed.source),
            collection=self._source.collection,
            source=parsed.source,
            title=parsed.title,
            text=parsed.text,
            content_hash=digest,
            meta=meta,
            pages=parsed.pages,
        )

    def _chunks(self, document: Document, parsed: Parsed) -> tuple[Chunk, ...]:
        chunks = self._chunker.chunks(
            document, body=parsed.body, markup=parsed.markup, record=parsed.record
        )
        if not chunks:
            raise IngestError(f"{document.source}: there is no text below the front matter.")
        return tuple(chunks)


def fingerprint(raw: bytes, meta: Metadata) -> str:
    """One hash of the content, the metadata it is loaded under, and this pipeline."""
    stated = json.dumps(meta.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(b"\x00".join((PIPELINE.encode(), stated.encode(), raw))).hexdigest()


def owns(file: File, source: str) -> bool:
    """Whether a document's source came from this file: itself or one of its records."""
    return source == file.source or source.startswith(f"{file.source}#")
