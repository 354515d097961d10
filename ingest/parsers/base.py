"""What every parser hands back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Parsed:
    """One document before anyone has decided who may see it.

    `text` is canonical: every offset from here on refers to it. `body` is where the content
    after the front matter begins; `pages` holds the start offset of each page. `markup` says
    that `text` is Markdown and not words that merely look like it. `fields` is what the
    document claims about itself: front matter, or the columns of a record.
    """

    source: str
    title: str
    text: str
    body: int = 0
    pages: tuple[int, ...] = ()
    fields: Mapping[str, object] = field(default_factory=dict)
    markup: bool = True
    record: bool = False


@dataclass(frozen=True, slots=True)
class ParseResult:
    """The documents of one file, and (source, reason) for each record that is none."""

    documents: tuple[Parsed, ...]
    broken: tuple[tuple[str, str], ...] = ()


Parser = Callable[[bytes, str], ParseResult]
"""Bytes and the source's name to documents; raises IngestError where the file is unusable."""


def stem(source: str) -> str:
    """A title for what has none: the file's name without suffix."""
    return PurePosixPath(source).stem or source
