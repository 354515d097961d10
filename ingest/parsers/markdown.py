"""Markdown: the decoded file is the canonical text."""

import re

from ingest.parsers.base import Parsed, ParseResult, stem
from ingest.parsers.decode import decode
from ingest.parsers.front_matter import front_matter

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$|^(\S.*)\n=+[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)", re.DOTALL | re.MULTILINE)
_ANCHOR = re.compile(r"\s*\{[#.][^}]*\}\s*$")
_INLINE = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]+>|[*`]+")


def parse_markdown(raw: bytes, source: str) -> ParseResult:
    text = decode(raw, source)
    fields, body = front_matter(text, source)
    stated = fields.get("title")
    title = str(stated).strip() if isinstance(stated, str | int | float) else ""
    title = title or first_heading(text[body:]) or stem(source)
    return ParseResult((Parsed(source, title, text, body=body, fields=fields),))


def first_heading(text: str) -> str:
    """The first heading outside code, in plain words; empty where there is none."""
    match = _HEADING.search(_FENCE.sub("", text))
    return plain(match.group(1) or match.group(2)) if match else ""


def plain(heading: str) -> str:
    """A heading without emphasis, links, tags and anchors."""
    return " ".join(_INLINE.sub(r"\1", _ANCHOR.sub("", heading)).split())
