"""The stretch of time that a question names."""

import re
from datetime import UTC, datetime, timedelta

from domain.plan import Period

_DAY = re.compile(
    r"(?P<y>\d{4})\s*[-/.年]\s*(?P<m>\d{1,2})\s*[-/.月]\s*(?P<d>\d{1,2})\s*日?"
    r"|(?P<m2>\d{1,2})\s*月\s*(?P<d2>\d{1,2})\s*日"
    r"|(?P<mon>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(?P<d3>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?P<y3>\d{4}))?"
    r"|(?P<d4>\d{1,2})(?:st|nd|rd|th)?\s+(?P<mon4>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?:,?\s+(?P<y4>\d{4}))?",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?P<word>after|since|from|before|until|at|around|between)?\s*(?<![\d:])(?P<h>[01]?\d|2[0-4])(?::(?P<min>[0-5]\d)|\s*(?:点|时)(?P<half>半)?)"
    r"(?:\s*(?P<after>之?后|以后|起|开始))?",
    re.IGNORECASE,
)
_RELATIVE = (
    (re.compile(r"\byesterday\b|昨[天日晚]", re.IGNORECASE), -1),
    (re.compile(r"\btoday\b|\btonight\b|今[天日晚]", re.IGNORECASE), 0),
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def period(question: str, now: datetime) -> Period | None:
    """Day and clock time of the question, in UTC; None where it names neither.

    A clock time without a day gives an open period with only its `text`: which day is meant
    is for the evidence to say.
    """
    day = _day(question, now)
    clock = _CLOCK.search(_DAY.sub(lambda m: " " * len(m.group()), question))
    if day is None and clock is None:
        return None
    texts = [m.group().strip() for m in (_DAY.search(question), clock) if m]
    if day is None:
        return Period(text=" ".join(texts))
    start, end = day, day + timedelta(days=1)
    if clock:
        minutes = int(clock["min"] or (30 if clock["half"] else 0))
        moment = day + timedelta(hours=int(clock["h"]), minutes=minutes)
        if (clock["word"] or "").lower() in ("before", "until"):
            end = moment
        else:
            start = moment
    return Period(start=start, end=end, text=" ".join(texts))


def clock_times(question: str) -> tuple[str, ...]:
    """Times of day as HH:MM, in order."""
    found = []
    for match in _CLOCK.finditer(_DAY.sub(lambda m: " " * len(m.group()), question)):
        minutes = match["min"] or ("30" if match["half"] else "00")
        found.append(f"{int(match['h']):02d}:{minutes}")
    return tuple(dict.fromkeys(found))


def _day(question: str, now: datetime) -> datetime | None:
    match = _DAY.search(question)
    if match is None:
        midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        for pattern, days in _RELATIVE:
            if pattern.search(question):
                return midnight + timedelta(days=days)
        return None
    parts = match.groupdict()
    year = int(parts["y"] or parts["y3"] or parts["y4"] or now.year)
    name = parts["mon"] or parts["mon4"]
    month = int(parts["m"] or parts["m2"] or (_MONTHS.index(name.lower()) + 1 if name else 0))
    number = int(parts["d"] or parts["d2"] or parts["d3"] or parts["d4"])
    try:
        return datetime(year, month, number, tzinfo=UTC)
    except ValueError:
        return None
