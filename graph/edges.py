"""All stop rules: pure functions of the State that say which node comes next."""

from collections.abc import Sequence
from typing import Literal

from langgraph.types import Send

from domain.limits import Usage
from domain.state import State
from nodes.retrieve import ready_queries, tasks

AfterRoute = Literal["plan", "answer", "clarify"]
AfterEvaluate = Literal["retrieve", "reflect", "answer"]
AfterReflect = Literal["retrieve", "answer", "clarify"]
AfterGuard = Literal["reflect", "done"]


def after_route(state: State) -> AfterRoute:
    """Direct questions need no retrieval; a lacking one is asked back only where that can be."""
    route = state["route"]
    if route.mode == "clarify":
        return "clarify" if state["run"].resumable else "answer"
    return "answer" if route.mode == "direct" else "plan"


def dispatch(state: State) -> Sequence[Send] | Literal["rerank"]:
    """One `Send` a (sub-query, tool); with nothing left to ask, straight on."""
    sends = [Send(task["call"].tool, task) for task in tasks(state)]
    return sends or "rerank"


def after_evaluate(state: State) -> AfterEvaluate:
    """Stops when it is clearly enough, confident, or out of steps, time, or new evidence."""
    run, step = state["run"], state["step"]
    assessment = state["assessments"][-1]
    pending = ready_queries(state["plan"], state.get("dispatched", ()))
    if step >= run.limits.steps or _spent(state):
        return "answer"
    if pending:
        return "retrieve"
    essential = any(gap.requirement.essential for gap in assessment.gaps)
    if assessment.clear or (assessment.confidence >= run.limits.confidence and not essential):
        return "answer"
    if run.forced_mode == "single":
        return "answer"
    if step > 1 and assessment.new_evidence == 0:
        return "answer"
    return "reflect"


def after_reflect(state: State) -> AfterReflect:
    """A round follows only where the chosen move added something to ask, of sources or the user."""
    if state["route"].mode == "clarify":
        return "clarify" if state["run"].resumable else "answer"
    out_of_steps = state["step"] >= state["run"].limits.steps
    ready = ready_queries(state["plan"], state.get("dispatched", ()))
    return "retrieve" if ready and not out_of_steps else "answer"


def after_guard(state: State) -> AfterGuard:
    """Back once for a lost conclusion, while steps and time remain."""
    run = state["run"]
    if state.get("guard_returns", 0) != 1 or state["step"] >= run.limits.steps:
        return "done"
    return "done" if _spent(state) else "reflect"


def _spent(state: State) -> bool:
    """Whether the time for searching, the tokens or the money of the run are used up."""
    limits, usage = state["run"].limits, state.get("usage", Usage())
    return (
        state["assessments"][-1].elapsed_ms >= time_for_search_ms(state)
        or 0 < limits.prompt_tokens <= usage.prompt_tokens
        or 0 < limits.money <= usage.money
    )


def time_for_search_ms(state: State) -> float:
    """When searching has to end so that answering and guarding still fit."""
    return state["run"].limits.latency_ms * 0.6
