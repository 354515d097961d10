"""PDF through pdfium."""

import re
import threading
from collections.abc import Iterator

import pypdfium2 as pdfium

from domain.errors import IngestError
from ingest.parsers.base import Parsed, ParseResult, stem
from ingest.parsers.decode import clean

_PDFIUM = threading.Lock()
"""pdfium keeps state of its own for the whole process and must not be entered twice."""

_HYPHEN = re.compile("[\x02\ufffe]\n?")
_NO_TITLE = re.compile(
    r"^(untitled|\(?anonymous\)?|microsoft \w+ - .*|.*\.(docx?|pptx?|xlsx?|indd|tex|pdf))$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?。！？…:：;；][\"'”’»）)\]]*$")


def parse_pdf(raw: bytes, source: str) -> ParseResult:
    """The text layer, page by page.

    Raises IngestError for a damaged or encrypted file and for one without a text layer.
    """
    with _PDFIUM:
        title, pages = _read(raw, source)
    text, starts = _join(pages)
    if not text.strip():
        raise IngestError(
            f"{source}: none of its {len(pages)} pages has a text layer (a scan). "
            "Text recognition is not available yet: run OCR first."
        )
    title = title if not _NO_TITLE.search(title) else ""
    title = title or _first_line(text) or stem(source)
    return ParseResult((Parsed(source, title, text, pages=starts, markup=False),))


def _first_line(text: str) -> str:
    """The first line where it reads like a title: short and no sentence."""
    line = text.lstrip().split("\n", 1)[0]
    return line if 2 < len(line) <= 100 and not _SENTENCE_END.search(line) else ""


def _read(raw: bytes, source: str) -> tuple[str, list[str]]:
    try:
        document = pdfium.PdfDocument(raw)
    except pdfium.PdfiumError as error:
        raise IngestError(f"{source}: {_cause(str(error))}") from None
    try:
        title = " ".join(clean(document.get_metadata_value("Title")).split())
        return title, list(_page_texts(document))
    finally:
        document.close()


def _cause(error: str) -> str:
    if "password" in error.lower():
        return "the PDF is protected by a password. Save a copy without one."
    return f"the PDF is damaged or no PDF at all ({error})."


def _page_texts(document: pdfium.PdfDocument) -> Iterator[str]:
    for page in document:
        layer = page.get_textpage()
        try:
            text = layer.get_text_bounded()
        finally:
            layer.close()
            page.close()
        text = _HYPHEN.sub("", text.replace("\r\n", "\n"))
        yield "\n".join(line.strip() for line in clean(text).split("\n")).strip()


def _join(pages: list[str]) -> tuple[str, tuple[int, ...]]:
    """All pages as one text; a sentence that runs over a page break stays in one paragraph."""
    parts: list[str] = []
    starts: list[int] = []
    position = 0
    for page in pages:
        if position and page:
            parts.append("\n\n" if _SENTENCE_END.search(parts[-1][-8:]) else "\n")
            position += len(parts[-1])
        starts.append(position)
        if page:
            parts.append(page)
            position += len(page)
    return "".join(parts) + "\n", tuple(starts)
