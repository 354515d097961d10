"""Runs a stage within its slice, records it, and degrades instead of failing."""

import asyncio
from dataclasses import dataclass
from typing import Any, Protocol

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from domain.answer import StageRecord
from domain.run import Context, Run
from graph.limits import budget_s
from graph.tracing import annotate
from nodes.base import Update
from runtime.clock import Clock


class Node(Protocol):
    """A stage: what it does, what it does when it cannot, and what the trace shows of it."""

    @property
    def name(self) -> str: ...

    async def __call__(self, state: Any, runtime: Runtime[Context]) -> Update: ...

    def degraded(self, state: Any, cause: str) -> Update: ...

    def decision(self, update: Update) -> dict[str, object]: ...


class OpenNode(Protocol):
    """A stage without a degraded path: it binds or closes the run, or waits for a person."""

    @property
    def name(self) -> str: ...

    async def __call__(self, state: Any, runtime: Runtime[Context]) -> Update: ...

    def decision(self, update: Update) -> dict[str, object]: ...


@dataclass(frozen=True)
class Bounded:
    """A stage within its time; late or failed, it degrades and the run goes on."""

    node: Node
    clock: Clock
    slice_of: str

    async def __call__(self, state: Any, runtime: Runtime[Context]) -> Update:
        run: Run = state["run"]
        began = self.clock.monotonic()
        budget = budget_s(self.slice_of, run, began)
        try:
            async with asyncio.timeout(budget):
                update = await self.node(state, runtime)
        except GraphBubbleUp:
            raise
        except TimeoutError:
            update = self.node.degraded(state, f"took longer than its {budget * 1000:.0f} ms")
        except Exception as error:  # noqa: BLE001 - becomes a recorded Degradation
            update = self.node.degraded(state, f"{type(error).__name__}: {error}")
        line = record(self.node, update, run, began, self.clock.monotonic())
        annotate(line, run, None)
        return update | {"trace": (line,)}


@dataclass(frozen=True)
class Recorded:
    """A stage whose failure is the caller's to see."""

    node: OpenNode
    clock: Clock

    async def __call__(self, state: Any, runtime: Runtime[Context]) -> Update:
        began = self.clock.monotonic()
        update = await self.node(state, runtime)
        run: Run = update.get("run") or state["run"]
        line = record(self.node, update, run, began, self.clock.monotonic())
        annotate(line, run, update.get("answer"))
        return _with_record(update, line)


def record(
    node: Node | OpenNode, update: Update, run: Run, began: float, ended: float
) -> StageRecord:
    """The line of the trace for one turn of a stage; milliseconds since the run began."""
    decision: dict[str, Any] = node.decision(update)
    return StageRecord(
        stage=node.name,
        start=round(max(0.0, began - run.started) * 1000, 2),
        duration_ms=round((ended - began) * 1000, 2),
        decision=decision,
    )


def _with_record(update: Update, line: StageRecord) -> Update:
    """INIT overwrites the trace of an earlier turn, so its own line goes into that."""
    fresh = isinstance(update.get("trace"), Overwrite)
    return update | {"trace": Overwrite((line,)) if fresh else (line,)}
