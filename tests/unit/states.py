"""States for tests of nodes and edges."""

from datetime import date
from typing import Any

from domain.assessment import Assessment, Gap
from domain.evidence import Evidence, Locator
from domain.knowledge import Metadata
from domain.limits import Limits
from domain.plan import Plan, Requirement, Route, SubQuery, ToolCall
from domain.run import Run
from domain.state import State


def run(**changes: Any) -> Run:
    values: dict[str, Any] = {
        "id": "run",
        "question": "What is the limit?",
        "tenant": "demo",
        "started": 0.0,
        "day": date(2026, 11, 30),
        "as_of": None,
        "limits": Limits(),
        "knowledge_version": "v",
    }
    return Run(**(values | changes))


def route(**changes: Any) -> Route:
    values: dict[str, Any] = {
        "intent": "fact",
        "mode": "agentic",
        "language": "en",
        "standalone": "What is the limit?",
    }
    return Route(**(values | changes))


def query(
    id: str = "q1", *, after: tuple[str, ...] = (), tool: str = "knowledge_search"
) -> SubQuery:
    call = ToolCall(tool=tool, arguments={"query": f"{id} what is the limit"})
    return SubQuery(id=id, question="What is the limit?", calls=(call,), depends_on=after)


REQUIREMENT = Requirement(
    id="question:q1", kind="sub_question", text="What is the limit?", sub_query="q1"
)
GAP = Gap(requirement=REQUIREMENT, reason="nothing was found")


def assessment(**changes: Any) -> Assessment:
    values: dict[str, Any] = {
        "step": 1,
        "coverage": 1.0,
        "agreement": 1.0,
        "source_quality": 0.7,
        "confidence": 0.95,
        "new_evidence": 3,
        "sources": 2,
    }
    return Assessment(**(values | changes))


def evidence(text: str, **changes: Any) -> Evidence:
    values: dict[str, Any] = {
        "id": "e1",
        "kind": "chunk",
        "ref": f"text:d1:0:{len(text)}",
        "tool": "knowledge_search",
        "source": "limits.md",
        "title": "Limits",
        "text": text,
        "found_end": len(text),
        "locator": Locator(end=len(text)),
        "meta": Metadata(tenant="demo"),
        "sub_queries": ("q1",),
    }
    return Evidence(**(values | changes))


def state(**changes: Any) -> State:
    values: dict[str, Any] = {
        "run": run(),
        "route": route(),
        "plan": Plan(sub_queries=(query(),), requirements=(REQUIREMENT,)),
        "step": 1,
        "dispatched": ("q1",),
        "round_queries": ("q1",),
        "assessments": (assessment(),),
    }
    return State(**(values | changes))  # type: ignore[typeddict-item]
