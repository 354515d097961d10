"""CSV and TSV: a header and one record a row."""

import csv
import io
from collections.abc import Iterator

from domain.errors import IngestError
from ingest.parsers.base import ParseResult
from ingest.parsers.decode import decode
from ingest.parsers.records import Record, records_to_documents

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 20


def parse_csv(raw: bytes, source: str) -> ParseResult:
    text = decode(raw, source)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        header = next((row for row in rows if any(cell.strip() for cell in row)), [])
        documents = records_to_documents(_records(rows, _names(header)), source)
    except csv.Error as error:
        raise IngestError(f"{source}: line {rows.line_num} is not CSV ({error}).") from None
    if not documents:
        raise IngestError(f"{source}: there is no row below the header.")
    return ParseResult(documents)


def _delimiter(text: str) -> str:
    """The delimiter that gives most rows the same number of cells, the more the better.

    The standard sniffer mistakes letters of a one-column file for a delimiter.
    """
    sample = "\n".join(text.split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES])
    return max(_DELIMITERS, key=lambda delimiter: _consistency(sample, delimiter))


def _consistency(sample: str, delimiter: str) -> tuple[int, int]:
    try:
        widths = [len(row) for row in csv.reader(io.StringIO(sample), delimiter=delimiter) if row]
    except csv.Error:
        return (0, 0)
    width = widths[0] if widths else 1
    return (sum(w == width for w in widths) if width > 1 else 0, width)


def _names(header: list[str]) -> list[str]:
    """Column names, each once: a repeated or empty name would swallow a value."""
    names: list[str] = []
    for number, cell in enumerate(header, start=1):
        name = " ".join(cell.split()) or f"column {number}"
        names.append(f"{name} ({number})" if name in names else name)
    return names


def _records(rows: "Iterator[list[str]]", names: list[str]) -> Iterator[tuple[int, Record]]:
    for number, row in enumerate(rows, start=2):
        extra = [f"column {n}" for n in range(len(names) + 1, len(row) + 1)]
        cells = (cell.strip() for cell in row)
        yield number, dict(zip([*names, *extra], cells, strict=False))
