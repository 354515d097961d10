"""Files to text, one format a file."""

from pathlib import PurePosixPath

from domain.errors import IngestError
from ingest.parsers.base import Parsed, Parser, ParseResult
from ingest.parsers.csv import parse_csv
from ingest.parsers.docx import parse_docx
from ingest.parsers.html import parse_html
from ingest.parsers.jsonl import parse_jsonl
from ingest.parsers.markdown import parse_markdown
from ingest.parsers.pdf import parse_pdf
from ingest.parsers.text import parse_text

__all__ = ["PARSERS", "ParseResult", "Parsed", "parse"]

PARSERS: dict[str, Parser] = {
    ".md": parse_markdown,
    ".markdown": parse_markdown,
    ".txt": parse_text,
    ".text": parse_text,
    ".html": parse_html,
    ".htm": parse_html,
    ".pdf": parse_pdf,
    ".docx": parse_docx,
    ".csv": parse_csv,
    ".tsv": parse_csv,
    ".jsonl": parse_jsonl,
    ".ndjson": parse_jsonl,
}


def parse(raw: bytes, source: str) -> ParseResult:
    """Parse by suffix; whatever goes wrong inside is an IngestError that names the source."""
    suffix = PurePosixPath(source).suffix.lower()
    parser = PARSERS.get(suffix)
    if parser is None:
        known = " ".join(PARSERS)
        raise IngestError(
            f"{source}: the format {suffix or 'without suffix'} is not read ({known})."
        )
    if not raw:
        raise IngestError(f"{source}: the file is empty.")
    try:
        return parser(raw, source)
    except IngestError:
        raise
    except Exception as error:
        # A hostile file may raise anything inside a format library, and must cost only itself.
        raise IngestError(
            f"{source}: the file cannot be read as {suffix[1:].upper()} "
            f"({type(error).__name__}: {error})."
        ) from error
