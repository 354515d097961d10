"""Which language a text is written in: by its script, and by a model only where that is mute."""

import re
from functools import lru_cache
from typing import Literal

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from runtime.text.stopwords import (
    CHINESE_LIGHT_WORDS,
    ENGLISH_LIGHT_WORDS,
)

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_OTHER_LETTER = re.compile(r"[^\W\d_A-Za-z\u00c0-\u024f]")
_HAN_GRAMMAR = frozenset(
    "的了是在吗呢么吧请和与或为何哪谁几多怎如有没不会能可要应该把被从对让给这那么后前时到"
) | frozenset(word for word in CHINESE_LIGHT_WORDS if len(word) == 1)

_SAMPLE = 20_000
_MIN_LETTERS = 40
_MIN_PROBABILITY = 0.9
_ENGLISH_SHARE = 0.12


def detect(text: str) -> str:
    """ISO 639-1 code of the main language; "" where the text holds no letter.

    A Chinese character weighs as much as a Latin word, so that Chinese prose full of English
    product names and code stays Chinese. Only a text without a deciding script (Latin,
    Cyrillic, Arabic ...) is put to the statistical model, and short ones count as English.
    """
    sample = text[:_SAMPLE]
    latin = _LATIN_WORD.findall(sample)
    han, kana, hangul = (len(p.findall(sample)) for p in (_HAN, _KANA, _HANGUL))
    if kana > 0 and kana * 5 >= han + kana and han + kana >= len(latin):
        return "ja"
    if hangul > 0 and hangul >= max(han, len(latin)):
        return "ko"
    if han > 0 and han >= len(latin):
        return "zh"
    other = len(_OTHER_LETTER.findall(sample)) - han - kana - hangul
    if not latin and other <= 0:
        return ""
    return "en" if other <= 0 and _is_english(latin) else _by_model(sample, bool(latin))


def question_language(text: str) -> Literal["zh", "en"]:
    """The language to answer in.

    Names and identifiers say little about it and the grammar around them much: a question with
    Chinese grammar is Chinese however many English terms it holds, and an English question
    that quotes a Chinese name is English.
    """
    han = _HAN.findall(text)
    if not han:
        return "en"
    latin = _LATIN_WORD.findall(text)
    english = sum(word.lower() in ENGLISH_LIGHT_WORDS for word in latin)
    chinese = sum(char in _HAN_GRAMMAR for char in han)
    if english == chinese:
        return "zh" if len(han) >= len(latin) else "en"
    return "zh" if chinese > english else "en"


def _is_english(words: list[str]) -> bool:
    known = sum(word.lower() in ENGLISH_LIGHT_WORDS for word in words)
    return sum(map(len, words)) < _MIN_LETTERS or known >= _ENGLISH_SHARE * len(words)


def _by_model(text: str, has_latin: bool) -> str:
    language, probability = _model().classify(text)
    if has_latin and float(probability) < _MIN_PROBABILITY:
        return "en"
    return str(language)


@lru_cache(maxsize=1)
def _model() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
