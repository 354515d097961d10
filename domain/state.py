"""The State of the graph and the reducers that merge parallel updates without loss."""

from typing import Annotated, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from domain.answer import Answer, Draft, StageRecord
from domain.assessment import Assessment, Reflection
from domain.evidence import Evidence, ToolResult
from domain.limits import Degradation, Usage
from domain.plan import Plan, Route
from domain.run import Run, Turn

T = TypeVar("T")


def appended(old: tuple[T, ...], new: tuple[T, ...]) -> tuple[T, ...]:
    """Concatenation: the order of parallel updates follows the graph, nothing is dropped."""
    return (*old, *new)


def united(old: tuple[T, ...], new: tuple[T, ...]) -> tuple[T, ...]:
    """Union in order of first appearance."""
    return tuple(dict.fromkeys((*old, *new)))


def summed(old: Usage, new: Usage) -> Usage:
    """What two branches spent is spent."""
    return old + new


class InputState(TypedDict, total=False):
    """What a caller may hand over: a question, or messages of which the last human one counts."""

    question: Annotated[str, EphemeralValue]
    messages: Annotated[list[AnyMessage], add_messages]


class OutputState(TypedDict, total=False):
    """What a caller gets: the whole Answer, and the same as an AI message for chat clients."""

    answer: Answer
    messages: Annotated[list[AnyMessage], add_messages]


class State(TypedDict, total=False):
    """Everything a run knows. Small and plain: it survives any checkpointer without pickle.

    `question` is there for INIT only, which binds it into `run`: what an earlier turn that
    failed or was interrupted asked is never answered later. `results` holds what the tools of
    the current round brought until RERANK folds it into `evidence`. `asked` are the signatures
    of calls already made; `round_queries` the sub-queries of this round, `dispatched` those of
    all rounds. `guard_returns` counts how often SAFE_GUARD sent the run back for a missing
    conclusion (at most once). `owner` marks whose thread it is: nobody else's turns are kept.
    """

    question: Annotated[str, EphemeralValue]
    messages: Annotated[list[AnyMessage], add_messages]
    answer: Answer
    run: Run
    route: Route
    plan: Plan
    step: int
    round_queries: tuple[str, ...]
    dispatched: Annotated[tuple[str, ...], united]
    asked: Annotated[tuple[str, ...], united]
    results: Annotated[tuple[ToolResult, ...], appended]
    evidence: tuple[Evidence, ...]
    new_evidence: int
    assessments: Annotated[tuple[Assessment, ...], appended]
    reflections: Annotated[tuple[Reflection, ...], appended]
    draft: Draft
    guard_returns: int
    degradations: Annotated[tuple[Degradation, ...], appended]
    usage: Annotated[Usage, summed]
    trace: Annotated[tuple[StageRecord, ...], appended]
    turns: tuple[Turn, ...]
    owner: str
