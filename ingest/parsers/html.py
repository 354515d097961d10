"""HTML, and what other formats become on the way to Markdown."""

import re

from bs4 import BeautifulSoup, Comment, Tag
from markdownify import MarkdownConverter

from domain.errors import IngestError
from ingest.parsers.base import Parsed, ParseResult, stem
from ingest.parsers.decode import clean, decode
from ingest.parsers.markdown import first_heading

_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_UNREAD = ["script", "style", "noscript", "template", "svg", "head", "nav", "form", "iframe"]
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_BLANKS = re.compile(r"\n{3,}")
_TRAILING = re.compile(r"[ \t\xa0]+$", re.MULTILINE)
_MAIN_SHARE = 0.3


class _Converter(MarkdownConverter):
    """Markdown without escapes: `max_file_mb` stays searchable and quotable as it is."""

    class Options(MarkdownConverter.DefaultOptions):  # type: ignore[name-defined,misc]
        heading_style = "atx"
        bullets = "-"
        escape_asterisks = False
        escape_underscores = False
        escape_misc = False
        table_infer_header = True
        strip = ["img"]

        @staticmethod
        def code_language_callback(element: Tag) -> str:
            return _code_language(element)


def parse_html(raw: bytes, source: str) -> ParseResult:
    match = _CHARSET.search(raw[:4096])
    html = decode(raw, source, declared=match.group(1).decode("ascii") if match else "")
    soup = BeautifulSoup(html, "html.parser")
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    text = html_to_markdown(soup)
    if not text:
        raise IngestError(f"{source}: the page has no readable text.")
    title = title or first_heading(text) or stem(source)
    return ParseResult((Parsed(source, title, text),))


def html_to_markdown(soup: BeautifulSoup) -> str:
    """The visible content as Markdown: the main part where the page marks one."""
    for tag in soup.find_all(_UNREAD):
        tag.decompose()
    for tag in soup.find_all(_is_hidden):
        tag.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    text = _Converter().convert_soup(_main_part(soup))
    return _BLANKS.sub("\n\n", _TRAILING.sub("", clean(text))).strip() + "\n" if text else ""


def _is_hidden(tag: Tag) -> bool:
    return tag.has_attr("hidden") or bool(_HIDDEN.search(str(tag.get("style", ""))))


def _main_part(soup: BeautifulSoup) -> Tag:
    """`<main>` or `<article>` where it holds a fair share of the page, else everything."""
    whole = soup.body or soup
    for name in ("main", "article"):
        part = soup.find_all(name)
        if len(part) == 1 and len(part[0].get_text()) >= _MAIN_SHARE * len(whole.get_text()):
            return part[0]
    return whole


def _code_language(element: Tag) -> str:
    code = element.find("code")
    for tag in (element, code):
        classes = tag.get("class") if isinstance(tag, Tag) else None
        for name in classes or ():
            if name.startswith(("language-", "lang-")):
                return str(name.split("-", 1)[1])
    return ""
