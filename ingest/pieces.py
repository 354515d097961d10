"""Blocks cut into the smallest pieces that may stand alone."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from domain.knowledge import ChunkKind
from ingest.blocks import Block, BlockKind
from ingest.sentences import clause_starts, line_starts, sentence_starts, word_starts

Cutter = Callable[[str, int, int], list[int]]

_PROSE: tuple[Cutter, ...] = (sentence_starts, line_starts, clause_starts, word_starts)
_CODE: tuple[Cutter, ...] = (line_starts, word_starts)
_KINDS: dict[BlockKind, ChunkKind] = {
    "table": "table",
    "code": "code",
    "procedure": "procedure",
}
_LEAD_IN = re.compile(r"[:：][*_`\"”\s]*\Z")
_LONGEST_LEAD_IN = 300


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Sizes in Latin characters; a Chinese character counts twice, a run of blanks once.

    `target` is what a chunk should have. A sentence or row stays whole up to `sentence`, a
    procedure up to `procedure`, code up to `code`.
    """

    target: int = 1_000
    sentence: int = 2_000
    procedure: int = 2_400
    code: int = 3_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch that is not cut. `carried` is needed to read it where a chunk begins with it;
    `glued` means that it says nothing without the piece after it."""

    start: int
    end: int
    kind: ChunkKind = "prose"
    carried: str = ""
    glued: bool = False


class Ruler:
    """Measures any stretch of a text in constant time."""

    def __init__(self, text: str) -> None:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        filler = (codes == 32) | (codes == 9) | (codes == 45)
        repeated = np.zeros(len(codes), dtype=bool)
        repeated[1:] = filler[1:] & (codes[1:] == codes[:-1])
        wide = (codes >= 0x2E80) & (codes <= 0xFFDC) | (codes >= 0x20000) & (codes <= 0x3FFFF)
        weights = np.where(repeated, 0, np.where(wide, 2, 1))
        self._sums = np.concatenate(([0], np.cumsum(weights, dtype=np.int64)))

    def size(self, start: int, end: int) -> int:
        return int(self._sums[end] - self._sums[start])

    def within(self, start: int, end: int, limit: int) -> int:
        """The last offset up to which the stretch from `start` has at most `limit`."""
        cut = int(np.searchsorted(self._sums, self._sums[start] + limit, side="right")) - 1
        return min(max(cut, start + 1), end)


class PieceCutter:
    """Cuts one text's blocks; no cut falls where a reader would lose the meaning."""

    def __init__(self, text: str, limits: ChunkLimits) -> None:
        self._text = text
        self._limits = limits
        self._ruler = Ruler(text)

    def size(self, start: int, end: int) -> int:
        return self._ruler.size(start, end)

    def pieces(self, blocks: Sequence[Block], start: int, end: int) -> list[Piece]:
        """The pieces of neighbouring blocks, without a gap from `start` to `end`."""
        found: list[Piece] = []
        lead_in = ""
        starts = [start, *(block.start for block in blocks[1:]), end]
        for block, (first, last) in zip(blocks, pairwise(starts), strict=True):
            opens = block.kind in ("list", "procedure", "table", "code")
            if found and opens and self._ends_open(found[-1]):
                found[-1] = Piece(found[-1].start, found[-1].end, found[-1].kind, glued=True)
            found.extend(self._cut(block, first, last, lead_in))
            lead_in = self._last_sentence(first, last) if block.kind == "paragraph" else ""
        return found

    def _cut(self, block: Block, start: int, end: int, lead_in: str) -> Iterator[Piece]:
        kind = _KINDS.get(block.kind, "prose")
        if block.kind == "heading":
            yield Piece(start, end, glued=True)
        elif self.size(start, end) <= self._whole(block.kind):
            yield Piece(start, end, kind)
        elif block.kind == "table":
            yield from self._rows(block, start, end)
        elif block.parts:
            yield from self._parts(block, start, end, lead_in)
        else:
            cutters = _CODE if block.kind == "code" else _PROSE
            for first, last in self._spans(start, end, cutters):
                yield Piece(first, last, kind)

    def _whole(self, kind: BlockKind) -> int:
        if kind == "code":
            return self._limits.code
        return self._limits.procedure if kind == "procedure" else self._limits.target

    def _rows(self, block: Block, start: int, end: int) -> Iterator[Piece]:
        starts = [start, *(row.start for row in block.parts[1:]), end]
        for first, last in pairwise(starts):
            for a, b in self._spans(first, last, _PROSE[1:]):
                yield Piece(a, b, "table", carried=block.header if a > start else "")

    def _parts(self, block: Block, start: int, end: int, lead_in: str) -> Iterator[Piece]:
        """Steps, items or nested blocks; all but the first carry the lead-in sentence."""
        kind = _KINDS.get(block.kind, "prose")
        starts = [start, *(part.start for part in block.parts[1:]), end]
        for part, (first, last) in zip(block.parts, pairwise(starts), strict=True):
            if self.size(first, last) <= self._limits.target or not part.parts:
                inner = list(self._cut(part, first, last, ""))
            else:
                inner = self.pieces(part.parts, first, last)
            for piece in inner:
                carried = lead_in if piece.start > start else ""
                yield Piece(
                    piece.start,
                    piece.end,
                    kind if piece.kind == "prose" else piece.kind,
                    carried="\n".join(filter(None, (carried, piece.carried))),
                    glued=piece.glued,
                )

    def _spans(self, start: int, end: int, cutters: Sequence[Cutter]) -> Iterator[tuple[int, int]]:
        """Cut at the first kind of boundary that leaves nothing above the limit."""
        if self.size(start, end) <= self._limits.target:
            yield start, end
        elif not cutters:
            while start < end:
                cut = self._ruler.within(start, end, self._limits.target)
                yield start, cut
                start = cut
        else:
            for first, last in pairwise([start, *cutters[0](self._text, start, end), end]):
                if self.size(first, last) <= self._limits.sentence:
                    yield first, last
                else:
                    yield from self._spans(first, last, cutters[1:])

    def _ends_open(self, piece: Piece) -> bool:
        tail = self._text[max(piece.start, piece.end - 40) : piece.end]
        return piece.kind == "prose" and bool(_LEAD_IN.search(tail.rstrip()))

    def _last_sentence(self, start: int, end: int) -> str:
        starts = sentence_starts(self._text, start, end)
        sentence = " ".join(self._text[starts[-1] if starts else start : end].split())
        return sentence if len(sentence) <= _LONGEST_LEAD_IN else ""
