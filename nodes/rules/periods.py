"""The stretch of time that a question names."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from domain.plan import Period
from nodes.rules.clocks import CLOCK, time_of_day

_MONTH = (
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORD = (
    r"(?:(?P<word>\b(?:after|since|from|between|before|until|till|by|to|and)\b|"
    r"截至|截止|[从自到至和与]|[-–—~～])\s*)?"
)
_SUFFIX = r"(?:\s*(?P<suffix>之前|以前|前(?!后)|之?后|以后|起|开始))?"
_DAY = re.compile(
    rf"{_WORD}(?P<date>(?P<y>\d{{4}})\s*[-/.年]\s*(?P<m>\d{{1,2}})\s*[-/.月]\s*(?P<d>\d{{1,2}})(?:\s*日)?"
    r"|(?P<m2>\d{1,2})\s*月\s*(?P<d2>\d{1,2})\s*日"
    rf"|(?P<mon>{_MONTH})\s+(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<y3>\d{{4}}))?"
    rf"|(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<mon4>{_MONTH})(?:,?\s+(?P<y4>\d{{4}}))?){_SUFFIX}",
    re.IGNORECASE,
)
_TIME = re.compile(rf"{_WORD}(?:at\s+)?{CLOCK}{_SUFFIX}", re.IGNORECASE)
_RELATIVE = (
    (re.compile(r"\byesterday\b|昨[天日晚]", re.IGNORECASE), -1),
    (re.compile(r"\btoday\b|\btonight\b|今[天日晚]", re.IGNORECASE), 0),
)
_OPENING = {"after", "since", "from", "between", "从", "自", "之后", "后", "以后", "起", "开始"}
_CLOSING = {"before", "until", "till", "by", "到", "至", "截至", "截止", "之前", "以前", "前"}
_EXCLUSIVE = {"before", "之前", "以前", "前"}
_JOINING = {"to", "到", "至", "-", "–", "—", "~", "～"}
_ONE_DAY = timedelta(days=1)

Bound = Literal["start", "end", ""]


def period(question: str, now: datetime) -> Period | None:
    """Day and clock time of the question, in UTC; None where it names neither.

    "Before" ends the stretch, "after" begins it, and two joined times hold it. A clock time
    without a day gives an open period with only its `text`: which day is meant is for the
    evidence to say.
    """
    named = list(_DAY.finditer(question))
    clocks = list(_TIME.finditer(_without_days(question)))
    texts = [" ".join(match.group().split()) for match in clocks]
    days = [day for match in named if (day := _date(match, now)) is not None]
    if named:
        texts = [*(match["date"] for match in named), *texts]
    elif (relative := _relative(question)) is not None:
        days = [_midnight(now) + relative[0]]
        texts = texts if any(relative[1] in text for text in texts) else [relative[1], *texts]
    if len(days) < len(named) or not (days or clocks):
        return None
    if not days:
        return Period(text=" ".join(texts))
    start, end = _clock_ends(days, clocks) if clocks else _day_ends(days, named)
    return Period(start=start, end=end, text=" ".join(texts))


def clock_times(question: str) -> tuple[str, ...]:
    """Times of day as HH:MM, in order."""
    found = (time_of_day(match) for match in _TIME.finditer(_without_days(question)))
    minutes = (int(time.total_seconds()) // 60 for time in found)
    return tuple(dict.fromkeys(f"{m // 60:02d}:{m % 60:02d}" for m in minutes))


def _without_days(question: str) -> str:
    """The question with its dates blanked; the word before a date may belong to a time."""
    return _DAY.sub(
        lambda m: (
            question[m.start() : m.start("date")]
            + " " * len(m["date"])
            + question[m.end("date") : m.end()]
        ),
        question,
    )


def _day_ends(
    days: Sequence[datetime], named: Sequence[re.Match[str]]
) -> tuple[datetime | None, datetime | None]:
    bounds = _bounds(named) or [""]
    if bounds[0] == "end":
        words = {(named[0]["word"] or "").lower(), named[0]["suffix"]}
        return None, days[0] if words & _EXCLUSIVE else days[0] + _ONE_DAY
    last = next((d for d, b in zip(days[1:], bounds[1:], strict=False) if b == "end"), None)
    if last is not None:
        return days[0], last + _ONE_DAY
    return days[0], None if bounds[0] == "start" else days[0] + _ONE_DAY


def _clock_ends(
    days: Sequence[datetime], clocks: Sequence[re.Match[str]]
) -> tuple[datetime, datetime]:
    own_days = days if len(days) == len(clocks) else [days[0]] * len(clocks)
    times = [day + time_of_day(m) for day, m in zip(own_days, clocks, strict=True)]
    bounds = _bounds(clocks)
    start = next((t for t, b in zip(times, bounds, strict=True) if b != "end"), days[0])
    end = next((t for t, b in zip(times, bounds, strict=True) if b == "end"), days[0] + _ONE_DAY)
    return start, end if end > start else end + _ONE_DAY


def _bounds(matches: Sequence[re.Match[str]]) -> list[Bound]:
    """Which end of the stretch each of the times is; empty where it is the moment itself."""
    bounds: list[Bound] = []
    for position, match in enumerate(matches):
        before = matches[position - 1] if position else None
        if before is not None and _joined(before, match):
            bounds[-1:] = ["start"]
            bounds.append("end")
        else:
            bounds.append(_own_bound(match))
    return bounds


def _joined(before: re.Match[str], match: re.Match[str]) -> bool:
    if match.string[before.end() : match.start()].strip():
        return False
    word = (match["word"] or "").lower()
    if word in ("and", "和", "与"):
        between = (before["word"] or "").lower() == "between"
        return between or match.string[match.end() :].lstrip().startswith("之间")
    return word in _JOINING


def _own_bound(match: re.Match[str]) -> Bound:
    for word in (match["suffix"], (match["word"] or "").lower()):
        if word in _OPENING:
            return "start"
        if word in _CLOSING:
            return "end"
    return ""


def _midnight(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _relative(question: str) -> tuple[timedelta, str] | None:
    for pattern, days in _RELATIVE:
        if match := pattern.search(question):
            return timedelta(days=days), match.group()
    return None


def _date(match: re.Match[str], now: datetime) -> datetime | None:
    parts = match.groupdict()
    year = int(parts["y"] or parts["y3"] or parts["y4"] or now.year)
    name = parts["mon"] or parts["mon4"]
    month = int(parts["m"] or parts["m2"] or (_MONTHS.index(name[:3].lower()) + 1 if name else 0))
    number = int(parts["d"] or parts["d2"] or parts["d3"] or parts["d4"])
    try:
        return datetime(year, month, number, tzinfo=UTC)
    except ValueError:
        return None
