"""Where a text may be cut when a paragraph is too long."""

import re

from runtime.text.sentences import split

_MARKER = re.compile(r"[\s>*+•\-#|\d.)、]*")
_LINE = re.compile(r"\n\s*")
_CLAUSE = re.compile(r"[,;:，、：；]\s*")
_SPACE = re.compile(r"\s+")


def sentence_starts(text: str, start: int, end: int) -> list[int]:
    """Offsets in `(start, end)` at which a sentence begins.

    The same sentences that an answer may quote, so that no quote can straddle two chunks.
    """
    starts = (_with_marker(text, start + unit.start) for unit in split(text[start:end]))
    return [cut for cut in starts if start < cut < end]


def _with_marker(text: str, start: int) -> int:
    """The beginning of the line where only a bullet, number or quote mark stands before."""
    line = text.rfind("\n", 0, start) + 1
    return line if _MARKER.fullmatch(text, line, start) else start


def line_starts(text: str, start: int, end: int) -> list[int]:
    """Offsets in `(start, end)` at which a line with words begins."""
    return [m.end() for m in _LINE.finditer(text, start, end) if start < m.end() < end]


def clause_starts(text: str, start: int, end: int) -> list[int]:
    """Offsets after commas, colons and the like, for a sentence without end."""
    return [m.end() for m in _CLAUSE.finditer(text, start, end) if start < m.end() < end]


def word_starts(text: str, start: int, end: int) -> list[int]:
    """Offsets after white space, the last resort before a cut anywhere."""
    return [m.end() for m in _SPACE.finditer(text, start, end) if start < m.end() < end]
