"""What the graph itself costs a question: stub tools answer at once, everything else is real.

    python -m benchmarks.graph_overhead [--questions N] [--json]

Beside it, in turn with it, runs an empty graph of as many nodes: the floor under any graph.
"""

import argparse
import asyncio
import json
import platform
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph

from benchmarks.stubs import stub_services
from domain.answer import Answer
from graph.build import build_graph

QUESTION = "What is a tenant limit?"
WARM_UP = 20
TARGET_MS = 12.0

Ask = Callable[[], Awaitable[Any]]


class Empty(TypedDict):
    """The state of the empty graph."""

    step: int


def empty_graph(nodes: int) -> Any:
    """As many async nodes in a row, each of which does nothing."""
    builder = StateGraph(Empty)

    async def nothing(state: Empty) -> Empty:
        return {"step": state["step"] + 1}

    names = [f"n{number}" for number in range(nodes)]
    for name, before in zip(names, [START, *names], strict=False):
        builder.add_node(name, nothing)
        builder.add_edge(before, name)
    builder.add_edge(names[-1], END)
    return builder.compile()


async def measure(questions: int) -> dict[str, Any]:
    """Milliseconds a question of both graphs, alternating, so that both meet the same machine."""
    graph = build_graph(stub_services())

    async def ask() -> Answer:
        result = await graph.ainvoke({"question": QUESTION})
        answer: Answer = result["answer"]
        return answer

    answer = await ask()
    if answer.route is None or answer.route.mode != "single" or not answer.citations:
        raise SystemExit(f"the question did not take the single route: {answer.verdict}")
    stages = [line.stage for line in answer.trace]
    empty = empty_graph(len(stages))
    times: dict[str, list[float]] = {"graph": [], "empty": []}
    busy: dict[str, list[float]] = {"graph": [], "empty": []}
    asks: dict[str, Ask] = {"graph": ask, "empty": lambda: empty.ainvoke({"step": 0})}
    for turn in range(WARM_UP + questions):
        for name, call in asks.items():
            began, worked = time.perf_counter(), time.process_time()
            await call()
            if turn >= WARM_UP:
                times[name].append((time.perf_counter() - began) * 1000)
                busy[name].append((time.process_time() - worked) * 1000)
    return {
        "question": QUESTION,
        "stages": stages,
        "questions": questions,
        "python": platform.python_version(),
        "ms": {name: _percentiles(values) for name, values in times.items()},
        "cpu_ms": {name: _percentiles(values) for name, values in busy.items()},
        "target_p50_ms": TARGET_MS,
    }


def _percentiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=20, method="inclusive")
    return {"p50": round(cuts[9], 2), "p95": round(cuts[18], 2)}


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = asyncio.run(measure(given.questions))
    if given.json:
        print(json.dumps(found))
        return
    print(f"{given.questions} questions of the single route: {' '.join(found['stages'])}")
    print(f"{'':8}{'p50 ms':>8}{'p95 ms':>8}{'CPU p50':>9}")
    for name, values in found["ms"].items():
        cpu = found["cpu_ms"][name]["p50"]
        print(f"{name:8}{values['p50']:8.2f}{values['p95']:8.2f}{cpu:9.2f}")
    print(f"target: p50 of the graph under {TARGET_MS:.0f} ms")


if __name__ == "__main__":
    main()
