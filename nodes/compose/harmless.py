"""Makes words of a source safe to show: a page is data and may not act through a reader's screen."""

import re

_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"</?[A-Za-z!][^>]{0,400}>")
_MARK = re.compile(r"\[(\d{1,3})\]")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def harmless(text: str) -> str:
    """The words without pictures, link targets, tags, forged citation marks and hidden marks.

    The citation keeps the quote as it stands in the source. A placeholder such as `<merchant>`
    inside code is no tag and stays.
    """
    text = _INVISIBLE.sub("", text)
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    parts = re.split(r"(`[^`]*`)", text)
    outside = [_TAG.sub("", part) if i % 2 == 0 else part for i, part in enumerate(parts)]
    return _MARK.sub(r"(\1)", "".join(outside))
