"""On which day a question wants validity judged."""

import re
from datetime import date

from domain.plan import Intent, Route

_OF_RULES: frozenset[Intent] = frozenset({"fact", "definition", "how_to", "decision"})


_DAY = re.compile(
    r"(?:\b(?:on|at|as of|since)\s+)?\d{4}\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d{1,2}\s*(?:日|号)?(?:时|当天)?",
    re.IGNORECASE,
)


def without_days(question: str) -> str:
    """The question without its dates: they say when, not about what."""
    return _DAY.sub(" ", question).strip()


def day_asked(route: Route, today: date) -> date:
    """The past day that a question about what holds names ("the fee on 2026-05-01"), else today.

    A question about what happened names the day of an event, and what was written of it later
    counts.
    """
    period = route.period
    if period is None or period.start is None or route.intent not in _OF_RULES:
        return today
    return min(period.start.date(), today)
