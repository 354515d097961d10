"""`agentic-rag doctor`: is everything in place, and if not, what to do about it?"""

import os
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from cli.output import execute, people, print_json
from cli.session import services
from domain.errors import AgenticRagError, StoreBusy
from graph.build import build_graph
from graph.services import Services

LOW_DISK_MB = 512

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """One check: what was looked at, how it stands, and what to do."""

    check: str
    state: State
    detail: str


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Check settings, disk, embedder, knowledge, stores and the graph itself."""

    async def work() -> int:
        async with services("doctor") as made:
            findings = [await _checked(name, check, made) for name, check in CHECKS.items()]
        failed = any(f.state == "fail" for f in findings)
        if as_json:
            print_json({"ok": not failed, "checks": [vars(f) for f in findings]})
        else:
            _show(findings)
        return 1 if failed else 0

    execute(work, as_json=as_json)


async def _checked(
    name: str, check: Callable[[Services], Awaitable[tuple[State, str]]], made: Services
) -> Finding:
    try:
        return Finding(name, *await check(made))
    except StoreBusy as error:
        return Finding(name, "warn", str(error))
    except AgenticRagError as error:
        return Finding(name, "fail", str(error))


async def _settings(made: Services) -> tuple[State, str]:
    limits = made.settings.limits
    return "ok", (
        f"DATA_DIR={made.settings.data_dir}, tenant {made.settings.dev_tenant}, "
        f"{limits.steps} steps, {limits.latency_ms} ms, confidence {limits.confidence}"
    )


async def _disk(made: Services) -> tuple[State, str]:
    folder = made.settings.data_dir.absolute()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(there, os.W_OK):
        return "fail", f"{there} cannot be written; set DATA_DIR to a folder that you may write"
    free = shutil.disk_usage(there).free // 2**20
    if free < LOW_DISK_MB:
        return "warn", f"{free} MB free at {there}; loading needs room for a second copy"
    return "ok", f"{free} MB free at {there}"


async def _embedder(made: Services) -> tuple[State, str]:
    embedder = await made.library.embedder()
    vector = await embedder.embed_query("probe 探测")
    if vector.shape != (embedder.dimension,):
        return "fail", f"vectors have shape {vector.shape}, not ({embedder.dimension},)"
    if made.library.warnings:
        return "warn", "; ".join(made.library.warnings)
    return "ok", f"{embedder.fingerprint}, {embedder.dimension} dimensions"


async def _knowledge(made: Services) -> tuple[State, str]:
    knowledge = await made.library.current()
    documents, chunks = await knowledge.catalog.count()
    dense, lexical = await knowledge.dense.count(), await knowledge.lexical.count()
    if not chunks == dense == lexical:
        return "fail", (
            f"catalog {chunks}, dense {dense} and lexical {lexical} chunks differ; "
            "load again with --rebuild"
        )
    return "ok", f"version {knowledge.version}, {documents} documents, {chunks} chunks"


async def _graph(made: Services) -> tuple[State, str]:
    question = "What is this knowledge about?"
    result = await build_graph(made).ainvoke({"question": question})
    answer = result["answer"]
    if answer.degradations:
        causes = "; ".join(f"{d.stage}: {d.cause}" for d in answer.degradations)
        return "warn", f"verdict {answer.verdict}, degraded: {causes}"
    total = sum(record.duration_ms for record in answer.trace)
    return "ok", f"verdict {answer.verdict} after {total:.0f} ms in {len(answer.trace)} stages"


async def _tracing(_: Services) -> tuple[State, str]:
    if os.environ.get("LANGSMITH_TRACING", "").lower() != "true":
        return "ok", "off: nothing is sent"
    if not os.environ.get("LANGSMITH_API_KEY"):
        return "warn", "LANGSMITH_TRACING is on without LANGSMITH_API_KEY; set it or turn it off"
    return "ok", "on"


CHECKS: dict[str, Callable[[Services], Awaitable[tuple[State, str]]]] = {
    "settings": _settings,
    "disk": _disk,
    "embedder": _embedder,
    "knowledge": _knowledge,
    "graph": _graph,
    "tracing": _tracing,
}


def _show(findings: list[Finding]) -> None:
    colours = {"ok": "green", "warn": "yellow", "fail": "red"}
    table = Table("check", "state", "detail", box=None)
    for finding in findings:
        colour = colours[finding.state]
        table.add_row(finding.check, f"[{colour}]{finding.state}[/]", escape(finding.detail))
    people.print(table)
