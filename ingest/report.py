"""What a load did."""

from collections.abc import Callable
from dataclasses import dataclass

from domain.base import Model
from domain.knowledge import Quarantined


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load is: files looked at, of how many, and chunks embedded so far."""

    done: int
    total: int
    source: str
    chunks: int


OnProgress = Callable[[Progress], None]


class Timings(Model):
    """Where the seconds went."""

    parse: float = 0.0
    embed: float = 0.0
    index: float = 0.0


class LoadReport(Model):
    """Counts are documents (a file, or a record of a CSV or JSONL file).

    `version` is the one that holds the result: a new one only where something changed.
    `chunks` counts those written. `skipped` names files whose format is not read.
    """

    version: str
    changed: bool
    draft: bool = False
    loaded: int = 0
    unchanged: int = 0
    replaced: int = 0
    removed: int = 0
    chunks: int = 0
    quarantined: tuple[Quarantined, ...] = ()
    skipped: tuple[str, ...] = ()
    seconds: float = 0.0
    timings: Timings = Timings()
