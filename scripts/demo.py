"""Loads examples/payments, asks its questions through the graph, and prints the answers."""

import asyncio
import resource
import sys
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import yaml

from cli.ask import show
from cli.output import people
from domain.answer import Answer
from domain.run import Context
from graph.build import build_graph
from graph.services import Services, make_services
from ingest.loader import load
from runtime.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "payments"
DATA = ROOT / ".demo"
TODAY = date(2026, 11, 30)
"""The day on which the example plays: its answers do not depend on when the demo runs."""


@dataclass(frozen=True)
class Asked:
    """One question with its answer, the verdict it should have, and the ms it took."""

    question: str
    expected: str
    answer: Answer
    ms: float


async def main() -> None:
    """Run the demo. An unexpected verdict is told, not failed: a busy machine degrades stages."""
    began = time.perf_counter()
    settings = Settings(_env_file=None, data_dir=DATA, dev_tenant="demo")
    services = make_services(settings, name="agentic-rag demo")
    try:
        await _load(services)
        asked = await _ask(services)
    finally:
        await services.close()
    _summary(asked, time.perf_counter() - began)


async def _load(services: Services) -> None:
    people.print(f"[bold]Loading {EXAMPLE.relative_to(ROOT)}[/] ...")
    report = await load(
        [EXAMPLE],
        home=services.library.home,
        embedder=await services.library.embedder(),
        settings=services.settings,
        clock=services.clock,
    )
    people.print(
        f"{report.loaded} loaded, {report.unchanged} unchanged, {report.replaced} replaced, "
        f"{report.chunks} chunks written in {report.seconds:.1f} s; version {report.version}"
    )


async def _ask(services: Services) -> list[Asked]:
    graph = build_graph(services)
    asked = []
    questions = yaml.safe_load((EXAMPLE / "questions.yaml").read_text("utf-8"))["questions"]
    for number, entry in enumerate(questions, 1):
        people.rule()
        people.print(f"[bold]{number}. {entry['question']}[/]")
        began = time.perf_counter()
        result = await graph.ainvoke({"question": entry["question"]}, context=Context(as_of=TODAY))
        ms = (time.perf_counter() - began) * 1000
        show(result["answer"])
        asked.append(Asked(entry["question"], entry["verdict"], result["answer"], ms))
    people.rule()
    return asked


def _summary(asked: list[Asked], seconds: float) -> None:
    wrong = [item for item in asked if item.answer.verdict != item.expected]
    for item in wrong:
        people.print(
            f"[red]expected {item.expected}, got {item.answer.verdict}[/]: {item.question}"
        )
    times = sorted(item.ms for item in asked)
    people.print(
        f"{len(asked)} questions, {len(asked) - len(wrong)} with the expected verdict; "
        f"{times[len(times) // 2]:.0f} ms a question (median), {times[-1]:.0f} ms the slowest"
    )
    people.print(f"{seconds:.1f} s in all, peak memory {_peak_mb():.0f} MB")


def _peak_mb() -> float:
    """The most memory this process held; the system counts KB on Linux and bytes on macOS."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    asyncio.run(main())
