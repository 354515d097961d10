"""Word files, by way of HTML."""

import io
import zipfile

import mammoth
from bs4 import BeautifulSoup

from domain.errors import IngestError
from ingest.parsers.base import Parsed, ParseResult, stem
from ingest.parsers.html import html_to_markdown
from ingest.parsers.markdown import first_heading

_MAX_XML = 32 * 1024 * 1024
_MAX_ENTRIES = 10_000
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
"""


def parse_docx(raw: bytes, source: str) -> ParseResult:
    _check_archive(raw, source)
    result = mammoth.convert_to_html(
        io.BytesIO(raw), style_map=_STYLES, convert_image=lambda _image: []
    )
    text = html_to_markdown(BeautifulSoup(result.value, "html.parser"))
    if not text.strip():
        raise IngestError(f"{source}: the document has no text.")
    return ParseResult((Parsed(source, first_heading(text) or stem(source), text),))


def _check_archive(raw: bytes, source: str) -> None:
    """Look at the archive's own list before anything is unpacked.

    Only the XML parts are ever read, and their tree takes some 30 times their size.
    """
    if raw.startswith(_OLD_OFFICE):
        raise IngestError(
            f"{source}: the file is encrypted or in the old .doc format. "
            "Save it as .docx without a password."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = archive.infolist()
    except zipfile.BadZipFile:
        raise IngestError(f"{source}: the file is damaged or no Word document.") from None
    if not any(entry.filename == "[Content_Types].xml" for entry in entries) or not any(
        entry.filename.startswith("word/") for entry in entries
    ):
        raise IngestError(f"{source}: the file is a zip archive, not a Word document.")
    expanded = sum(e.file_size for e in entries if e.filename.endswith((".xml", ".rels")))
    if expanded > _MAX_XML or len(entries) > _MAX_ENTRIES:
        raise IngestError(
            f"{source}: the archive unpacks to {expanded // 2**20} MB in {len(entries)} parts, "
            f"more than a Word document needs (limit {_MAX_XML // 2**20} MB)."
        )
