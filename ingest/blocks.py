"""The block structure of a text: what may be cut, and where."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from ingest.parsers.markdown import plain

BlockKind = Literal[
    "heading", "paragraph", "list", "procedure", "table", "code", "container", "silent"
]

_KINDS: dict[str, BlockKind] = {
    "heading": "heading",
    "bullet_list": "list",
    "ordered_list": "procedure",
    "table": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote": "container",
    "list_item": "container",
    "hr": "silent",
}
_LINE_END = re.compile(r"\r\n|\n|\r")
_TABLE_OPEN = re.compile(r"<table\b", re.IGNORECASE)
_TABLE_CLOSE = re.compile(r"</table\s*>", re.IGNORECASE)
_ROW = re.compile(r"<tr\b", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(?:<!--.*?-->\s*)+", re.DOTALL)
_CELL_EDGE = re.compile(r"\s*\|\s*")
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch `[start, end)` of the text.

    `level` is that of a heading, or the number of a procedure's first step. It may be cut
    before each of `parts` but the first: rows of a table, steps, items, nested blocks.
    `header` is what the later rows of a table cannot be read without. A silent block (a rule,
    a comment) tells a reader nothing.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""
    header: str = ""
    parts: tuple["Block", ...] = ()


class BlockReader:
    """Reads blocks from canonical text. Plain text has no headings, HTML or indented code."""

    def __init__(self) -> None:
        self._markdown = MarkdownIt("commonmark").enable("table")
        self._plain = MarkdownIt("commonmark").disable(
            ["heading", "lheading", "html_block", "code", "reference", "hr", "blockquote"]
        )

    def read(self, text: str, *, start: int = 0, markup: bool = True) -> list[Block]:
        """The top-level blocks of `text[start:]` in order, leaving out only white space."""
        parser = self._markdown if markup else self._plain
        root = SyntaxTreeNode(parser.parse(text[start:]))
        lines = [start, *(m.end() for m in _LINE_END.finditer(text, start))]
        reader = _Reader(text, lines)
        blocks = reader.blocks(root.children, start, len(text))
        return _with_whole_procedures(_with_whole_tables(text, blocks))


class _Reader:
    def __init__(self, text: str, lines: list[int]) -> None:
        self._text = text
        self._lines = lines

    def blocks(self, nodes: Sequence[SyntaxTreeNode], start: int, end: int) -> list[Block]:
        """Blocks of sibling nodes; what no node covers (link definitions) is a paragraph."""
        found: list[Block] = []
        position = start
        for node in nodes:
            if node.map is None:
                continue
            first = max(self._line(node.map[0]), position)
            last = min(self._line(node.map[1]), end)
            found.extend(self._gap(position, first))
            if last > first:
                found.append(self._block(node, first, last))
            position = max(position, last)
        found.extend(self._gap(position, end))
        return found

    def _line(self, number: int) -> int:
        return self._lines[number] if number < len(self._lines) else len(self._text)

    def _gap(self, start: int, end: int) -> Iterator[Block]:
        if self._text[start:end].strip():
            yield Block("paragraph", start, self._trimmed(start, end))

    def _trimmed(self, start: int, end: int) -> int:
        return start + len(self._text[start:end].rstrip())

    def _block(self, node: SyntaxTreeNode, start: int, end: int) -> Block:
        end = self._trimmed(start, end)
        if node.type == "heading":
            title = plain(node.children[0].content if node.children else "")
            return Block("heading", start, end, level=int(node.tag[1]), title=title)
        if node.type == "table":
            return self._table(node, start, end)
        if node.type == "html_block" and _TABLE_OPEN.search(self._text, start, end):
            return html_table(self._text, start, end)
        if node.type == "html_block" and _COMMENT.fullmatch(self._text, start, end):
            return Block("silent", start, end)
        kind = _KINDS.get(node.type, "paragraph")
        if kind in ("list", "procedure", "container"):
            first = int(node.attrs.get("start", 1)) if kind == "procedure" else 0
            parts = tuple(self.blocks(node.children, start, end))
            return Block(kind, start, end, level=first, parts=parts)
        return Block(kind, start, end)

    def _table(self, node: SyntaxTreeNode, start: int, end: int) -> Block:
        """A pipe table: the header is its first two lines, each further line a row."""
        assert node.map is not None  # noqa: S101  (every table token has its lines)
        first, last = node.map
        rows = [self._line(number) for number in range(first + 2, last)]
        header = _words(self._text[start : self._line(first + 1)])
        cuts = [start, *(row for row in rows[1:] if row < end)]
        return Block("table", start, end, header=header, parts=_cut("paragraph", cuts, end))


def html_table(text: str, start: int, end: int) -> Block:
    """An HTML table: cut before rows; the words of its first row are the header."""
    rows = [match.start() for match in _ROW.finditer(text, start, end)]
    if len(rows) < 3:
        return Block("table", start, end)
    cells = _TAG.sub("\n", text[rows[0] : rows[1]]).split("\n")
    header = _words(" | ".join(cell for cell in cells if cell.strip()))
    cuts = [start, *rows[2:]]
    return Block("table", start, end, header=header, parts=_cut("paragraph", cuts, end))


def _words(row: str) -> str:
    """A row's cells without the padding, for a header that is read by an index."""
    return _CELL_EDGE.sub(" | ", " ".join(row.split())).strip("| ")


def _cut(kind: BlockKind, starts: list[int], end: int) -> tuple[Block, ...]:
    return tuple(Block(kind, a, b) for a, b in pairwise([*starts, end]))


def _with_whole_tables(text: str, blocks: list[Block]) -> Iterator[Block]:
    """Join what a blank line inside an HTML table has torn apart."""
    position = 0
    while position < len(blocks):
        block = blocks[position]
        last = position
        if block.kind == "table" and _is_open(text, block.start, block.end):
            following = range(position, len(blocks))
            closed = (n for n in following if not _is_open(text, block.start, blocks[n].end))
            last = next(closed, position)
        joined = html_table(text, block.start, blocks[last].end) if last > position else block
        yield joined
        position = last + 1


def _is_open(text: str, start: int, end: int) -> bool:
    opened = len(_TABLE_OPEN.findall(text, start, end))
    return opened > len(_TABLE_CLOSE.findall(text, start, end))


def _with_whole_procedures(blocks: Iterable[Block]) -> list[Block]:
    """Join numbered lists that go on counting after code or a note without indentation."""
    done: list[Block] = []
    for block in blocks:
        if block.kind == "procedure" and block.level > 1:
            opening = _opening(done, block.level)
            if opening is not None:
                done[opening:] = [_joined(done[opening:], block)]
                continue
        done.append(block)
    return done


def _opening(done: list[Block], number: int) -> int | None:
    """Where the list begins whose next step is `number`, within the same section."""
    for position in range(len(done) - 1, -1, -1):
        block = done[position]
        if block.kind == "heading":
            return None
        if block.kind == "procedure":
            return position if block.level + len(block.parts) == number else None
    return None


def _joined(before: list[Block], block: Block) -> Block:
    """One procedure; what stands between two lists belongs to the step above it."""
    first, between = before[0], before[1:]
    last = first.parts[-1]
    step = Block("container", last.start, block.start, parts=(last, *between))
    parts = (*first.parts[:-1], step, *block.parts)
    return Block("procedure", first.start, block.end, level=first.level, parts=parts)
