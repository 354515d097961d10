"""What a LangSmith trace records of a run; nothing here costs anything where tracing is off.

A span of a stage holds decisions, counts and scores, and refers to evidence by id and source.
Of the knowledge itself only what the answer quotes leaves, and what tools that return rows or
relations found: all of it within the caller's scope.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config
from langchain_core.tracers.langchain import LangChainTracer, get_client
from langgraph.types import Overwrite, TracePolicy
from langsmith import RunTree, get_current_run_tree
from langsmith.utils import tracing_is_enabled
from pydantic import BaseModel

from domain.answer import Answer, StageRecord
from domain.evidence import Evidence, ToolResult
from domain.run import Run
from domain.state import State

_NOT_RECORDED = frozenset({"messages", "trace", "turns"})
"""Parts of an update that repeat what other spans hold."""

FLUSH_S = 5.0
"""How long an ending process waits for its traces to leave."""


def annotate(line: StageRecord, run: Run, answer: Answer | None) -> None:
    """Put a stage's record on its span and, with the answer, the run's summary on the root."""
    span = get_current_run_tree()
    if span is None:
        return
    span.add_metadata(
        {
            "tenant": run.tenant,
            "run_id": run.id,
            "knowledge_version": run.knowledge_version,
            "duration_ms": line.duration_ms,
            **line.decision,
        }
    )
    root = _root_of(span)
    if root is not None:
        root.add_metadata(summary(run, answer))


def summary(run: Run, answer: Answer | None) -> dict[str, Any]:
    """What a person filters traces by; with the answer also what the run spent and found."""
    known = {
        "tenant": run.tenant,
        "run_id": run.id,
        "knowledge_version": run.knowledge_version,
        "limits": run.limits.model_dump(),
    }
    if answer is None:
        return known
    return known | {
        "intent": answer.route.intent if answer.route else None,
        "mode": answer.route.mode if answer.route else None,
        "verdict": answer.verdict,
        "confidence": answer.confidence,
        "steps": len(answer.assessments),
        "moves": [reflection.move for reflection in answer.reflections],
        "degraded": [note.stage for note in answer.degradations],
        "spent": answer.usage.model_dump(),
    }


def inputs(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The call of a tool node, the question of a stage: never the whole State."""
    if not tracing_is_enabled():
        return state
    if "call" in state:
        return {name: plain(state[name]) for name in ("sub_query", "call")}
    run = state.get("run")
    question = run.question if run is not None else state.get("question", "")
    return {"question": question, "step": state.get("step", 0)}


def outputs(update: Mapping[str, Any]) -> Mapping[str, Any]:
    """The update of a node, with evidence reduced to its id, source and scores."""
    if not tracing_is_enabled():
        return update
    return {name: plain(value) for name, value in update.items() if name not in _NOT_RECORDED}


def plain(value: Any) -> Any:
    """Plain data of a State value."""
    match value:
        case Overwrite():
            return plain(value.value)
        case Evidence():
            return value.model_dump(mode="json", include={"id", "source", "scores"})
        case ToolResult():
            body = value.model_dump(mode="json", exclude={"evidence"})
            return body | {"evidence": plain(value.evidence)}
        case BaseModel():
            return value.model_dump(mode="json")
        case list() | tuple():
            return [plain(item) for item in value]
        case _:
            return value


STAGE = TracePolicy(process_inputs=inputs, process_outputs=outputs)
"""How a node is recorded."""


class Untraced(Runnable[State, Any]):
    """A router without a span, which would hold the whole State to say one name."""

    def __init__(self, decide: Callable[[State], Any]) -> None:
        self.name = decide.__name__
        self._decide = decide

    def invoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: ARG002
        """Where to go next."""
        return self._decide(input)

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: ARG002
        """The same; a pure function needs no thread."""
        return self._decide(input)


async def flush() -> None:
    """Send what is queued; a process that ends would take it along. An unreachable LangSmith
    costs a few seconds and the trace, never the command.
    """
    if tracing_is_enabled():
        await asyncio.to_thread(get_client().flush, FLUSH_S)


def _root_of(span: RunTree) -> RunTree | None:
    """The run of the whole graph; None where it is part of a caller's own trace."""
    manager = ensure_config().get("callbacks")
    if not isinstance(manager, BaseCallbackManager):
        return None
    for handler in manager.handlers:
        if isinstance(handler, LangChainTracer):
            return handler.run_map.get(str(span.trace_id))
    return None
