"""The facts in a sentence that must not change on the way into an answer."""

import re
import unicodedata
from typing import NamedTuple

_DATE = re.compile(
    r"(?P<y>\d{4})\s*[-/.年]\s*(?P<m>\d{1,2})\s*[-/.月]\s*(?P<d>\d{1,2})\s*日?"
    r"|(?P<d2>\d{1,2})\s+(?P<mon>[A-Z][a-z]{2,8})\.?,?\s+(?P<y2>\d{4})"
    r"|(?P<mon3>[A-Z][a-z]{2,8})\.?\s+(?P<d3>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y3>\d{4})"
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_TIME = re.compile(r"(?<![\d:])(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)(?::[0-5]\d)?(?![\d:])")
_IDENTIFIER = re.compile(
    r"(?<![\w/.-])(?:/[\w{}.-]+(?:/[\w{}.-]+)+"
    r"|[A-Za-z]+[-_]?\d[\w-]*"
    r"|[A-Za-z]\w*(?:[._][A-Za-z]\w*)+"
    r"|v\d+(?:\.\d+)*)(?![\w-])"
)
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?\s*(?:%|％|‰)?")
_CHINESE_NUMBER = re.compile(
    r"[零一二两三四五六七八九十百千万]+(?=[个天次日年月倍条项笔家人小时分钟秒周])"
)
_NAME = re.compile(r"(?<![\w.])[A-Z][A-Za-z]+(?:\s+[A-Z][A-Za-z]+)*")
_NEGATION_EN = re.compile(
    r"\b(?:not|no|never|none|neither|nor|cannot|without|unable|unchanged|unaffected)\b|n't\b",
    re.IGNORECASE,
)
_NEGATION_ZH = re.compile(
    r"不得|不能|不会|不可|不再|不是|并非|没有|未|无需|无关|无法|禁止|勿|非(?=因)|不(?!仅|但|同|过|断|足|管|论)"
)
_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}


class Facts(NamedTuple):
    """What a sentence commits to, normalised so that notation does not matter."""

    numbers: frozenset[str]
    dates: frozenset[str]
    times: frozenset[str]
    identifiers: frozenset[str]
    names: frozenset[str]
    negations: int


def facts(text: str) -> Facts:
    """Numbers, dates (ISO), times (HH:MM), identifiers (lower case), names, negation count."""
    text = unicodedata.normalize("NFKC", text)
    dates, rest = _take_dates(text)
    times = frozenset(f"{int(m['h']):02d}:{m['m']}" for m in _TIME.finditer(rest))
    rest = _TIME.sub(" ", rest)
    identifiers = frozenset(m.group().lower() for m in _IDENTIFIER.finditer(rest))
    rest = _IDENTIFIER.sub(" ", rest)
    numbers = {_number(m.group()) for m in _NUMBER.finditer(rest)}
    numbers |= {str(_chinese(m.group())) for m in _CHINESE_NUMBER.finditer(rest)}
    return Facts(
        numbers=frozenset(numbers),
        dates=dates,
        times=times,
        identifiers=identifiers,
        names=_names(rest),
        negations=len(_NEGATION_EN.findall(rest)) + len(_NEGATION_ZH.findall(rest)),
    )


def disagreements(statement: str, quotes: str) -> list[str]:
    """Facts of `statement` that `quotes` does not bear out, as short phrases; empty is good.

    Everything the statement commits to must stand in the quotes; the quotes may say more.
    Negation must be present on both sides or on neither.
    """
    said, shown = facts(statement), facts(quotes)
    folded = unicodedata.normalize("NFKC", quotes).casefold()
    found = [
        f"{kind} {value}"
        for kind in ("numbers", "dates", "times", "identifiers")
        for value in sorted(getattr(said, kind) - getattr(shown, kind))
        if value.casefold() not in folded or kind == "numbers"
    ]
    found += [f"name {name}" for name in sorted(said.names) if name.casefold() not in folded]
    if bool(said.negations) != bool(shown.negations):
        found.append("negation")
    return found


def _take_dates(text: str) -> tuple[frozenset[str], str]:
    dates: set[str] = set()

    def note(match: re.Match[str]) -> str:
        iso = _iso(match)
        if iso is None:
            return match.group()
        dates.add(iso)
        return " "

    rest = _DATE.sub(note, text)
    return frozenset(dates), rest


def _iso(match: re.Match[str]) -> str | None:
    parts = match.groupdict()
    if parts["y"]:
        year, month, day = parts["y"], int(parts["m"]), parts["d"]
    else:
        name = (parts["mon"] or parts["mon3"])[:3].lower()
        if name not in _MONTHS:
            return None
        year, month = parts["y2"] or parts["y3"], _MONTHS[name]
        day = parts["d2"] or parts["d3"]
    return f"{year}-{month:02d}-{int(day):02d}"


def _number(text: str) -> str:
    text = text.replace(",", "").replace("％", "%").replace(" ", "").lstrip("+")
    mark = text[-1] if text[-1] in "%‰" else ""
    value = float(text.rstrip("%‰"))
    return f"{value:g}{mark}" if abs(value) < 1e15 else text


def _chinese(text: str) -> int:
    total, section, digit = 0, 0, 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char == "万":
            total, section, digit = (total + section + digit) * 10_000, 0, 0
        else:
            section += (digit or 1) * _UNITS[char]
            digit = 0
    return total + section + digit


_COMMON_CAPITALS = frozenset(
    "The A An This That These Those It Its If When While Where What Which Who Why How In On At "
    "By For From To Of And Or But As Is Are Was Were Be Do Does Did Has Have Had Can Could May "
    "Must Should Will Would After Before During Since Until Each Every All Any Some No Not Only "
    "Both Then There Here They We You He She Their Our Your Use Set See".split()
)


def _names(text: str) -> frozenset[str]:
    names = set()
    for match in _NAME.finditer(text):
        words = match.group().split()
        while words and words[0] in _COMMON_CAPITALS:
            words.pop(0)
        starts_sentence = (
            match.start() == 0 or text[: match.start()].rstrip()[-1:] in ".!?:。！？："
        )
        if words and (len(words) > 1 or not starts_sentence):
            names.add(" ".join(words))
    return frozenset(names)
