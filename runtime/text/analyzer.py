"""From text to terms, the same way for what is indexed and for what is asked.

An index and a question only meet where both were cut alike, so every store, the coverage
check and the fusion use this one analysis.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import rjieba
import snowballstemmer

from runtime.text.stopwords import (
    CHINESE_FUNCTION_WORDS,
    CHINESE_LIGHT_WORDS,
    ENGLISH_FUNCTION_WORDS,
    ENGLISH_LIGHT_WORDS,
)

MAX_TERM = 64
"""Characters. Longer runs (keys, base64) are no words: nobody asks for them, they only bloat."""

_CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = rf"[^\W_{_CJK}]"
_ALONE = rf"(?<![^\W{_CJK}])", rf"(?![^\W{_CJK}])"
_TOKEN = re.compile(
    rf"(?P<cjk>[{_CJK}]+)"
    rf"|(?P<sharp>{_ALONE[0]}[A-Za-z](?:\+\+|#){_ALONE[1]})"
    rf"|(?P<number>{_ALONE[0]}\d{{1,3}}(?:,\d{{3}})+{_ALONE[1]})"
    rf"|(?P<run>(?:{_ALONE[0]}(?<![/:.])/(?={_WORD}))?{_WORD}+(?:[_./:\\@#\-]{_WORD}+)*)"
)
_JOINER = re.compile(r"[_./:\\@#\-]")
_PIECE = re.compile(r"\d+|[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ACCENTS = re.compile(r"[\u0300-\u036f]")
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?:s|S)?(?!\w)")


def analyze(text: str) -> list[str]:
    """All terms of a text in order, with repeats; no term holds white space or is empty.

    Chinese runs give their words and, where no word covers them, their overlapping pairs of
    characters, so that a two-character word is found however its surroundings were cut.
    English words are stemmed; identifiers stay whole and give their parts as well.
    """
    return [
        term
        for raw, _ in _terms(text)
        for term in (_stem(raw),)
        if raw not in ENGLISH_FUNCTION_WORDS and raw not in CHINESE_FUNCTION_WORDS
    ]


def content_terms(text: str) -> list[str]:
    """The terms that carry a text's topic, each once, in order: a part of `analyze(text)`.

    Leaves out the light words of both languages (articles, question words, politeness) and
    the character pairs, which are a means of finding and no words of their own.
    """
    kept = (
        _stem(raw)
        for raw, is_word in _terms(text)
        if is_word and raw not in ENGLISH_LIGHT_WORDS and raw not in CHINESE_LIGHT_WORDS
    )
    return list(dict.fromkeys(kept))


def normalize(text: str) -> str:
    """One spelling for what readers take for the same: width, accents, NUL; case is kept."""
    text = text.replace("\0", " ")
    if not text.isascii():
        plain = unicodedata.normalize("NFKD", text)
        text = unicodedata.normalize("NFKC", _ACCENTS.sub("", plain))
    return _APOSTROPHE.sub(" ", text)


def _terms(text: str) -> Iterator[tuple[str, bool]]:
    """Lower-case terms before stemming, and whether each is a word (not a character pair)."""
    for match in _TOKEN.finditer(normalize(text)):
        run = match.group()
        if match.lastgroup == "cjk":
            yield from _chinese(run)
        elif match.lastgroup == "number":
            yield run.replace(",", ""), True
        elif match.lastgroup == "sharp":
            yield run.lower(), True
        else:
            for term in _identifier(run):
                yield term, True


def _chinese(run: str) -> Iterator[tuple[str, bool]]:
    pairs_covered: set[int] = set()
    for word, start, end in rjieba.tokenize(run, mode="search"):
        if end - start == 2:
            pairs_covered.add(start)
        if end - start <= MAX_TERM:
            yield word, True
    for start in range(len(run) - 1):
        if start not in pairs_covered:
            yield run[start : start + 2], False


def _identifier(run: str) -> Iterator[str]:
    """The run whole, then its parts where it has several; a lone letter is no part."""
    whole = run.lower()
    if len(whole) <= MAX_TERM:
        yield whole
    for part in _JOINER.split(run):
        pieces = [piece for block in _PIECE.findall(part) for piece in _HUMP.split(block)]
        if part and len(pieces) > 1 and part != run and len(part) <= MAX_TERM:
            yield part.lower()
        for piece in pieces:
            if piece != run and len(piece) <= MAX_TERM and (len(piece) > 1 or piece.isdigit()):
                yield piece.lower()


@lru_cache(maxsize=100_000)
def _stem(term: str) -> str:
    """Porter's stem of an English word; anything else as it is.

    A stemmer object is not safe to share between threads and cheap to make, hence one a miss.
    """
    if len(term) < 3 or not (term.isascii() and term.isalpha()):
        return term
    stemmed: str = snowballstemmer.stemmer("porter").stemWord(term)
    return stemmed
