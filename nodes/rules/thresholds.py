"""Which written rule applies to the quantities that a question gives."""

import re
import unicodedata
from typing import Literal, NamedTuple

Op = Literal["lt", "le", "gt", "ge"]

_UNIT = (
    r"(?P<unit>%|percent|per ?cent|minutes?|mins?|hours?|days?|months?|seconds?|ms|milliseconds?|"
    r"cny|usd|eur|yuan|times|parts|orders|requests|分钟|小时|个?工作日|天|日|个月|秒|毫秒|元|次|笔|个)?"
)
_VALUE = r"(?:CNY|USD|EUR|¥|\$)?\s*(?P<value>\d+(?:,\d{3})*(?:\.\d+)?)\s*"
_QUANTITY = re.compile(_VALUE + _UNIT, re.IGNORECASE)
_NOT_ZH = r"(?:不(?:得|能|能够|可|可以|应|应当|应该|会|准|许|允许|要)?|未|没有?|禁止|严禁)"
_NOT_EN = r"(?:\b(?:not|never|cannot|no)|n['’]t)(?: be| have been| have| to)?"


def _ending(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern})\s*$", re.IGNORECASE)


_BEFORE: tuple[tuple[Op, re.Pattern[str]], ...] = (
    (
        "ge",
        _ending(
            rf"at least|{_NOT_EN} (?:below|under|(?:less|fewer|lower|smaller|shorter) than)|minimum of|"
            rf"(?:greater|more|higher) than or equal to|"
            rf"{_NOT_ZH}(?:低于|少于|小于|短于|早于)|(?:大于|高于)(?:或|或者)?等于|至少|最少|最低|连续|(?<![未没有不])达到|\bfor"
        ),
    ),
    (
        "le",
        _ending(
            rf"at most|{_NOT_EN} (?:above|over|exceed(?:ing|ed)?|(?:more|greater|higher|larger|longer) than)|"
            rf"maximum of|up to|within|(?:less|lower|fewer) than or equal to|"
            rf"{_NOT_ZH}(?:超过|超出|高于|大于|多于|长于)|(?:小于|低于)(?:或|或者)?等于|至多|最多|最高"
        ),
    ),
    (
        "lt",
        _ending(
            r"below|under|(?:less|fewer|lower|smaller|shorter) than|"
            r"低于|少于|小于|短于|不足|(?:不|没有?|未)(?:达?到|达)"
        ),
    ),
    (
        "gt",
        _ending(
            r"above|over|(?:more|greater|higher|larger|longer) than|exceed(?:s|ing|ed)?|"
            r"高于|超过|超出|多于|大于|长于"
        ),
    ),
)
"""The words before a figure that bound it, denials first: "not more than" holds "more than"."""

_AFTER: tuple[tuple[Op, re.Pattern[str]], ...] = (
    ("ge", re.compile(r"^\s*(?:or more|and above(?!\s*\d)|以上|及以上)", re.IGNORECASE)),
    ("le", re.compile(r"^\s*(?:or less|and below(?!\s*\d)|以下|及以下|以内|之内)", re.IGNORECASE)),
)
_UNITS = {
    "percent": "%", "per cent": "%", "分钟": "minute", "min": "minute", "小时": "hour", "天": "day",
    "日": "day", "工作日": "day", "个工作日": "day", "个月": "month", "秒": "second", "毫秒": "ms",
    "millisecond": "ms", "元": "cny", "yuan": "cny", "次": "time", "笔": "order", "个": "",
}  # fmt: skip


class Quantity(NamedTuple):
    """A number with its unit, in one spelling; no unit is the empty string."""

    value: float
    unit: str


class Comparison(NamedTuple):
    """A bound that a rule sets."""

    op: Op
    bound: Quantity

    def holds(self, value: float) -> bool:
        match self.op:
            case "lt":
                return value < self.bound.value
            case "le":
                return value <= self.bound.value
            case "gt":
                return value > self.bound.value
            case "ge":
                return value >= self.bound.value


def quantities(text: str) -> list[Quantity]:
    """Every number of a text with its unit."""
    text = unicodedata.normalize("NFKC", text)
    return [_quantity(m) for m in _QUANTITY.finditer(text)]


def comparisons(rule: str) -> list[Comparison]:
    """The bounds of a rule: "at least 90 percent and below 97 percent" gives two."""
    rule = unicodedata.normalize("NFKC", rule)
    found = []
    for match in _QUANTITY.finditer(rule):
        before, after = rule[: match.start()], rule[match.end() :]
        op = next((op for op, cue in _BEFORE if cue.search(before)), None)
        op = next((op for op, cue in _AFTER if cue.search(after)), None) or op
        if op is not None:
            found.append(Comparison(op, _quantity(match)))
    return found


def applies(rule: str, question: str) -> bool | None:
    """Whether the quantities of the question meet every bound of the rule.

    One and the same quantity has to meet all the bounds of its unit: two bounds make a range.
    None where they cannot be compared: the rule sets no bound in a unit the question uses.
    """
    given: dict[str, list[float]] = {}
    for quantity in quantities(question):
        if quantity.unit:
            given.setdefault(quantity.unit, []).append(quantity.value)
    bounds: dict[str, list[Comparison]] = {}
    for comparison in comparisons(rule):
        if comparison.bound.unit in given:
            bounds.setdefault(comparison.bound.unit, []).append(comparison)
    if not bounds:
        return None
    return all(
        any(all(comparison.holds(value) for comparison in together) for value in given[unit])
        for unit, together in bounds.items()
    )


def _quantity(match: re.Match[str]) -> Quantity:
    unit = (match["unit"] or "").lower()
    if not unit:
        lead = match.group().strip()[:3].upper()
        unit = lead.lower() if lead in ("CNY", "USD", "EUR") else ""
    singular = unit if unit in ("ms", "%") else unit.removesuffix("s")
    return Quantity(
        float(match["value"].replace(",", "")), _UNITS.get(unit, _UNITS.get(singular, singular))
    )
