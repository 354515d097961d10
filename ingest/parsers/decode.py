"""Bytes to text, whatever wrote them."""

import codecs
import re
import unicodedata
from collections.abc import Iterator

from charset_normalizer import from_bytes

from domain.errors import IngestError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x7fELF", "a program"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"SQLite format 3\x00", "a SQLite database"),
)
_CONTROL_BYTES = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"
_BINARY_SHARE = 0.03
_SAMPLE = 65_536
_NEWLINES = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def decode(raw: bytes, source: str, *, declared: str = "") -> str:
    """The text of a file with unified newlines and without control characters.

    A byte order mark decides, then UTF-8, then what the file itself declares, then its
    statistics; a file of several encodings is read line by line, so that one stray line does
    not spoil the rest. Raises IngestError for an empty file and for binary content.
    """
    if not raw.strip(b"\x00 \t\r\n"):
        raise IngestError(f"{source}: the file is empty.")
    text = clean(_decode(raw, source, declared))
    if not text.strip():
        raise IngestError(f"{source}: the file holds no readable characters.")
    return text


def clean(text: str) -> str:
    """Newlines as `\\n`, no control characters, no lone surrogates; idempotent."""
    text = _CONTROLS.sub("", _NEWLINES.sub("\n", text))
    return _SURROGATES.sub("\ufffd", text)


def _decode(raw: bytes, source: str, declared: str) -> str:
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(encoding, "replace")
    wide = _wide_encoding(raw)
    if wide:
        return raw.decode(wide, "replace")
    raw = raw.rstrip(b"\x00")
    _refuse_binary(raw, source)
    for encoding in ("utf-8", declared):
        text = _strict(raw, encoding)
        if text is not None:
            return text
    return _guess(raw)


def _wide_encoding(raw: bytes) -> str:
    """UTF-16 without a mark: zero bytes, and two by two the bytes are plain characters."""
    sample = raw[: _SAMPLE & ~1]
    if len(raw) % 2 or 0 not in sample:
        return ""
    for encoding in ("utf-16-le", "utf-16-be"):
        text = sample.decode(encoding, "replace")
        if sum(map(_is_plain, text)) >= 0.95 * len(text):
            return encoding
    return ""


def _is_plain(char: str) -> bool:
    return (
        " " <= char < "\x7f"
        or char in "\t\r\n"
        or "\xa0" <= char <= "\u024f"
        or "\u2010" <= char <= "\u205e"
        or "\u3000" <= char <= "\u9fff"
    )


def _refuse_binary(raw: bytes, source: str) -> None:
    for magic, what in _MAGIC:
        if raw.startswith(magic):
            raise IngestError(
                f"{source}: the content is {what}, not text. Give it the suffix of its format."
            )
    sample = raw[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROL_BYTES))
    if controls > 4 and controls / len(sample) > _BINARY_SHARE:
        raise IngestError(f"{source}: the content is binary, not text.")


def _strict(raw: bytes, encoding: str) -> str | None:
    if not encoding:
        return None
    try:
        return raw.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _guess(raw: bytes) -> str:
    if _mostly_utf8(raw):
        return "".join(_by_line(raw))
    text = _chinese(raw)
    if text is not None:
        return text
    best = from_bytes(raw).best()
    return str(best) if best is not None else "".join(_by_line(raw))


def _mostly_utf8(raw: bytes) -> bool:
    lines = [line for line in raw[: 4 * _SAMPLE].splitlines() if not line.isascii()]
    valid = sum(_strict(line, "utf-8") is not None for line in lines)
    return valid * 2 >= len(lines)


def _by_line(raw: bytes) -> Iterator[str]:
    for line in raw.splitlines(keepends=True):
        text = _strict(line, "utf-8")
        if text is None:
            text = _chinese(line)
        if text is None:
            text = _strict(line, "cp1252") or line.decode("utf-8", "replace")
        yield text


def _chinese(raw: bytes) -> str | None:
    """GB18030 where the result reads like Chinese.

    Nearly any bytes decode as GB18030. Only real Chinese is made mostly of the characters
    that GB 2312 ranks as common (first byte B0 to D7) with CJK punctuation between them.
    """
    text = _strict(raw, "gb18030")
    if text is None:
        return None
    foreign = [char for char in text[:_SAMPLE] if not char.isascii()]
    common = sum(_is_common(char) for char in foreign)
    return text if common >= 0.7 * len(foreign) else None


def _is_common(char: str) -> bool:
    if unicodedata.east_asian_width(char) in "WF" and not char.isalpha():
        return True
    encoded = char.encode("gb18030")
    return len(encoded) == 2 and 0xB0 <= encoded[0] <= 0xD7 and encoded[1] >= 0xA1
