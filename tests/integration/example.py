"""The example knowledge, loaded once for the tests that ask it questions."""

import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from graph.services import Services, make_services
from ingest.loader import load
from runtime.settings import Settings

ROOT = Path(__file__).parents[2]
PAYMENTS = ROOT / "examples" / "payments"


class ExampleClock:
    """The day for which examples/payments was written; budgets run on real seconds."""

    def now(self) -> datetime:
        return datetime(2026, 11, 30, 9, 0, tzinfo=UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def settings(data_dir: Path) -> Settings:
    """Time enough for a busy machine: what is tested is what is said, not how fast."""
    return Settings(data_dir=data_dir, limit_latency_ms=120_000, _env_file=None)


@asynccontextmanager
async def services(data_dir: Path) -> AsyncIterator[Services]:
    """The services over a loaded data directory."""
    made = make_services(settings(data_dir), clock=ExampleClock())
    try:
        yield made
    finally:
        await made.close()


async def load_example(data_dir: Path) -> None:
    """Load examples/payments; vectors are kept beside it, so a second load is quick."""
    async with services(data_dir) as made:
        await load(
            [PAYMENTS],
            home=made.library.home,
            embedder=await made.library.embedder(),
            settings=made.settings,
            clock=made.clock,
        )


def copy_of(data_dir: Path, target: Path) -> Path:
    """A copy that a test may damage."""
    shutil.copytree(data_dir, target)
    return target
