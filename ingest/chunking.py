"""Documents to chunks: sections by heading, whole blocks, verbatim slices."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.knowledge import Chunk, ChunkKind, Document
from ingest.blocks import Block, BlockReader
from ingest.pieces import ChunkLimits, Piece, PieceCutter
from runtime.ids import stable_id

_SMALL_TAIL = 0.25
_STRETCH = 1.25
_CRUMB = 50


@dataclass(frozen=True, slots=True)
class _Section:
    """Headings that lead to it, and the blocks from its own heading to the next one."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def start(self) -> int:
        return self.blocks[0].start


class Chunker:
    """Cuts documents. Holds no state between calls, so threads may share one."""

    def __init__(self, limits: ChunkLimits | None = None) -> None:
        self._limits = limits or ChunkLimits()
        self._reader = BlockReader()

    def chunks(
        self, document: Document, *, body: int = 0, markup: bool = True, record: bool = False
    ) -> list[Chunk]:
        """The chunks of `document.text[body:]` in order.

        They do not overlap and leave out nothing but white space. Empty where the body is.
        """
        blocks = self._reader.read(document.text, start=body, markup=markup)
        cutter = PieceCutter(document.text, self._limits)
        chunks: list[Chunk] = []
        for section in _sections(blocks):
            end = max(block.end for block in section.blocks)
            pieces = cutter.pieces(section.blocks, section.start, end)
            for group in self._packed(pieces, cutter):
                if not document.text[group[0].start : group[-1].end].strip():
                    continue  # what Markdown takes for a word may be a blank to everyone else
                kind = "record" if record else _kind(group, cutter)
                chunks.append(_chunk(document, section, group, kind, len(chunks)))
        return chunks

    def _packed(self, pieces: Sequence[Piece], cutter: PieceCutter) -> list[list[Piece]]:
        """Neighbours together up to the target; a small rest joins what is before it."""
        groups: list[list[Piece]] = []
        for run in _glued_runs(pieces):
            if groups and self._fits(groups[-1], run, cutter, 1.0):
                groups[-1].extend(run)
            else:
                groups.append(run)
        if len(groups) > 1:
            rest = cutter.size(groups[-1][0].start, groups[-1][-1].end)
            is_small = rest < self._limits.target * _SMALL_TAIL
            is_small = is_small and self._fits(groups[-2], groups[-1], cutter, _STRETCH)
            if is_small or rest < _CRUMB:
                groups[-2].extend(groups.pop())
        return groups

    def _fits(
        self, group: list[Piece], run: list[Piece], cutter: PieceCutter, stretch: float
    ) -> bool:
        return cutter.size(group[0].start, run[-1].end) <= self._limits.target * stretch


def _sections(blocks: Sequence[Block]) -> Iterator[_Section]:
    """Split at headings. A heading with nothing below it but a deeper one joins that section."""
    path: list[tuple[int, str]] = []
    current: list[Block] = []
    for block in blocks:
        if block.kind == "heading":
            if current and not _leads_to(current, block):
                yield _Section(tuple(title for _, title in path if title), tuple(current))
                current = []
            path = [entry for entry in path if entry[0] < block.level]
            path.append((block.level, block.title))
        current.append(block)
    if current:
        yield _Section(tuple(title for _, title in path if title), tuple(current))


def _leads_to(current: list[Block], heading: Block) -> bool:
    if any(block.kind not in ("heading", "silent") for block in current):
        return False
    levels = [block.level for block in current if block.kind == "heading"]
    return not levels or levels[-1] < heading.level


def _glued_runs(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    run: list[Piece] = []
    for piece in pieces:
        run.append(piece)
        if not piece.glued:
            yield run
            run = []
    if run:
        yield run


def _kind(group: Sequence[Piece], cutter: PieceCutter) -> ChunkKind:
    """What most of the chunk is."""
    sizes: Counter[ChunkKind] = Counter()
    for piece in group:
        sizes[piece.kind] += cutter.size(piece.start, piece.end)
    return sizes.most_common(1)[0][0]


def _chunk(
    document: Document, section: _Section, group: Sequence[Piece], kind: ChunkKind, ordinal: int
) -> Chunk:
    start, end = _trimmed(document.text, group[0].start, group[-1].end)
    text = document.text[start:end]
    meta = document.meta
    return Chunk(
        id=stable_id("c", meta.tenant, document.id, document.source, ordinal, text),
        document_id=document.id,
        source=document.source,
        title=document.title,
        ordinal=ordinal,
        section=stable_id("s", document.id, section.start),
        text=text,
        start=start,
        end=end,
        heading_path=section.path,
        page=bisect_right(document.pages, start) if document.pages else None,
        kind=kind,
        context=_context(document.title, section.path, group[0].carried),
        meta=meta,
    )


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without blank lines before and white space after; the first line keeps its indentation."""
    piece = text[start:end]
    end = start + len(piece.rstrip())
    blank = len(piece) - len(piece.lstrip())
    return start + piece.rfind("\n", 0, blank) + 1, end


def _context(title: str, path: tuple[str, ...], carried: str) -> str:
    names = path if path and path[0] == title else (title, *path)
    return "\n".join(filter(None, (" > ".join(filter(None, names)), carried)))
