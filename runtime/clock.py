"""Time, injected: nothing else in the program asks the system for it."""

import time
from datetime import UTC, date, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time for people and validity, monotonic seconds for budgets."""

    def now(self) -> datetime:
        """The current moment, with a time zone."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def today(clock: Clock) -> date:
    """The day on which questions about validity are judged unless the caller names one."""
    return clock.now().date()
