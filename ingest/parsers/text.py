"""Plain text: words that may look like Markdown and are none."""

from ingest.parsers.base import Parsed, ParseResult, stem
from ingest.parsers.decode import decode


def parse_text(raw: bytes, source: str) -> ParseResult:
    text = decode(raw, source)
    return ParseResult((Parsed(source, stem(source), text, markup=False),))
