"""Splits Markdown text into the units that an answer may quote."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

UnitKind = Literal["sentence", "item", "row", "heading", "code"]


class Unit(NamedTuple):
    """A quotable span: `text[start:end]` without surrounding white space or markers.

    `number` is the number of a numbered step. `header` is the span of the header row that a
    table row belongs to.
    """

    start: int
    end: int
    kind: UnitKind
    number: int | None = None
    header: tuple[int, int] | None = None


_FENCE = re.compile(r"^\s{0,3}(```+|~~~+)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(?P<body>.*?)\s*#*\s*$")
_ITEM = re.compile(r"^\s*(?:(?P<number>\d{1,3})[.)、]|[-*+•])\s+(?P<body>\S.*)$")
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$")
_QUOTE_MARK = re.compile(r"^\s*>+\s?")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\s*\n", re.DOTALL)
_END = re.compile(r"[。！？]+[”’」』）)\"']*|[.!?]+[)\"'’”\]*_`]*(?=\s|$)|；(?=.{12,})")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|dr|mr|mrs|ms|st|inc|ltd|co|jr|sr|u\.s)|\b[A-Za-z])\.$",
    re.IGNORECASE,
)


def split(text: str) -> list[Unit]:
    """The units of `text` in order; front matter and rules are none of them."""
    front = _FRONT_MATTER.match(text)
    splitter = _Splitter(text)
    for start, end in _lines(text, front.end() if front else 0):
        splitter.take(start, end)
    splitter.flush()
    return splitter.units


class _Splitter:
    """Walks the lines once; what wraps over lines is held back until it ends."""

    def __init__(self, text: str) -> None:
        self.units: list[Unit] = []
        self._text = text
        self._fence = ""
        self._header: tuple[int, int] | None = None
        self._open: tuple[int, int, UnitKind, int | None] | None = None

    def take(self, start: int, end: int) -> None:
        line = self._text[start:end]
        if self._in_code(line, start, end):
            return
        is_row = bool(_ROW.match(line))
        if not is_row:
            self._header = None
        if not line.strip() or _RULE.match(line):
            self.flush()
        elif heading := _HEADING.match(line):
            self.flush()
            left, right = start + heading.start("body"), start + heading.end("body")
            self.units.extend(_stripped(self._text, left, right, "heading"))
        elif is_row:
            self._row(start, start + len(line.rstrip()))
        elif item := _ITEM.match(line):
            self.flush()
            number = int(item.group("number")) if item.group("number") else None
            self._open = (start + item.start("body"), end, "item", number)
        else:
            self._continue(line, start, end)

    def flush(self) -> None:
        if self._open is not None:
            start, end, kind, number = self._open
            self.units.extend(_sentences(self._text, start, end, kind, number))
            self._open = None

    def _in_code(self, line: str, start: int, end: int) -> bool:
        mark = _FENCE.match(line)
        if not mark and not self._fence:
            return False
        self.flush()
        if mark and not self._fence:
            self._fence = mark.group(1)[:3]
        elif mark and mark.group(1).startswith(self._fence):
            self._fence = ""
        else:
            self.units.extend(_stripped(self._text, start, end, "code"))
        return True

    def _row(self, start: int, end: int) -> None:
        self.flush()
        if self._header is None:
            self._header = (start, end)
        else:
            self.units.append(Unit(start, end, "row", header=self._header))

    def _continue(self, line: str, start: int, end: int) -> None:
        quoted = _QUOTE_MARK.match(line)
        if quoted:
            self.flush()
            self._open = (start + quoted.end(), end, "sentence", None)
        elif self._open is None:
            self._open = (start, end, "sentence", None)
        else:
            self._open = (self._open[0], end, *self._open[2:])


def _lines(text: str, offset: int) -> Iterator[tuple[int, int]]:
    start = offset
    for line in text[offset:].split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


def _stripped(text: str, start: int, end: int, kind: UnitKind) -> list[Unit]:
    body = text[start:end]
    left = start + len(body) - len(body.lstrip())
    right = start + len(body.rstrip())
    return [Unit(left, right, kind)] if right > left else []


def _sentences(
    text: str, start: int, end: int, kind: UnitKind, number: int | None = None
) -> list[Unit]:
    units: list[Unit] = []
    begin = start
    for match in _END.finditer(text, start, end):
        if _ABBREVIATION.search(text, begin, match.end()) and match.end() < end:
            continue
        units.extend(u._replace(number=number) for u in _stripped(text, begin, match.end(), kind))
        begin = match.end()
    units.extend(u._replace(number=number) for u in _stripped(text, begin, end, kind))
    return units
