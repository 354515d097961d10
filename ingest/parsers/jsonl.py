"""JSON Lines: one object, one record."""

import json

from domain.errors import IngestError
from ingest.parsers.base import ParseResult
from ingest.parsers.decode import clean, decode
from ingest.parsers.records import Record, records_to_documents


def parse_jsonl(raw: bytes, source: str) -> ParseResult:
    """One document a line; a line that is no object is reported and the others load."""
    records: list[tuple[int, Record]] = []
    broken: list[tuple[str, str]] = []
    for number, line in enumerate(decode(raw, source).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append((number, _record(line)))
        except (ValueError, RecursionError) as error:
            reason = f"{source}: line {number} is no JSON object ({error})."
            broken.append((f"{source}#line {number}", reason))
    documents = records_to_documents(records, source)
    if not documents and len(broken) != 1:
        raise IngestError(f"{source}: no line holds a JSON object with content.")
    return ParseResult(documents, tuple(broken))


def _record(line: str) -> Record:
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError(f"found {type(value).__name__}")  # noqa: TRY004  (one kind of error for one cause)
    return {" ".join(key.split()) or "(no name)": readable(item) for key, item in value.items()}


def readable(value: object) -> str:
    """A JSON value as a reader would write it: no quotes, lists with commas."""
    if value is None:
        return ""
    if isinstance(value, str):
        return clean(value).strip()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        parts = [readable(item) for item in value]
        return ("\n" if any(len(p) > 60 for p in parts) else ", ").join(p for p in parts if p)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {readable(item)}" for key, item in value.items())
    return str(value)
