"""Times of day as people write them, in both languages."""

import re
from datetime import timedelta

_PART = r"凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|夜间|深夜|半夜|[今昨明当]晚"
_NAMED = r"十[一二]?|[一二两三四五六七八九]"
CLOCK = (
    rf"(?:(?P<part>{_PART})\s*(?P<named>{_NAMED})(?=[点时])|"
    rf"(?P<part2>{_PART})?\s*(?<![\d:.A-Za-z])(?P<h>[01]?\d|2[0-4]))"
    r"(?::(?P<min>[0-5]\d)(?::[0-5]\d)?(?:\s*(?P<half_day>[ap]\.?m)\b\.?)?"
    r"|\s*(?P<half_day2>[ap]\.?m)\b\.?|\s*o['’]clock"
    r"|\s*(?:点钟?|时)(?:(?P<half>半)|(?P<min2>[0-5]?\d)(?:分|(?![\d:])))?)"
    r"(?:\s*(?P<when>in the (?:morning|afternoon|evening)|at night))?"
)
"""The source of a pattern for a time of day; its groups are read by `time_of_day`.

An hour in Chinese words counts only after a part of the day: 一点 may mean "a little".
"""

_HOURS = {name: hour for hour, name in enumerate("一二三四五六七八九十", 1)} | {
    "两": 2, "十一": 11, "十二": 12,
}  # fmt: skip
_MORNING = re.compile(r"a\.?m|morning|凌晨|清晨|早|上午", re.IGNORECASE)
_AFTERNOON = re.compile(r"p\.?m|afternoon|evening|下午|傍晚", re.IGNORECASE)
_NIGHT = re.compile(r"night|晚|夜", re.IGNORECASE)


def time_of_day(match: re.Match[str]) -> timedelta:
    """The time since midnight, on the clock of 24 hours."""
    parts = match.groupdict()
    hour = _HOURS[parts["named"]] if parts["named"] else int(parts["h"])
    names = ("part", "part2", "half_day", "half_day2", "when")
    hour = _on_24(hour, " ".join(parts[name] or "" for name in names))
    minutes = parts["min"] or parts["min2"] or (30 if parts["half"] else 0)
    return timedelta(hours=hour, minutes=int(minutes))


def _on_24(hour: int, part: str) -> int:
    if _MORNING.search(part):
        return hour % 12 if hour <= 12 else hour
    if _AFTERNOON.search(part) and hour < 12:
        return hour + 12
    if "中午" in part and hour <= 3:
        return hour + 12
    if _NIGHT.search(part) and 5 <= hour <= 12:
        return hour + 12
    return hour
