"""RETRIEVE: picks the sub-queries whose turn it is; the tools themselves are nodes."""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, TypedDict

from langgraph.runtime import Runtime

from domain.evidence import Evidence
from domain.limits import Degradation
from domain.plan import Plan, SubQuery, ToolCall
from domain.run import Context, Run
from domain.state import State
from nodes.base import Update
from runtime.text.facts import facts

MOST_CODES = 4
"""Codes of the earlier evidence that a dependent sub-query asks along."""


class SearchTask(TypedDict):
    """What a tool node receives by `Send`: one call, and what it has to know of the run."""

    run: Run
    step: int
    sub_query: SubQuery
    call: ToolCall


@dataclass(frozen=True)
class RetrieveNode:
    """Starts a round: every sub-query not yet asked whose dependencies have been."""

    name: ClassVar[str] = "retrieve"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        ready = ready_queries(state["plan"], state.get("dispatched", ()))
        return {
            "step": state.get("step", 0) + 1,
            "round_queries": tuple(query.id for query in ready),
            "dispatched": tuple(query.id for query in ready),
        }

    def degraded(self, state: State, cause: str) -> Update:
        """An empty round; the evidence of earlier rounds decides."""
        note = Degradation(stage=self.name, cause=cause, effect="nothing was asked this round")
        return {
            "step": state.get("step", 0) + 1,
            "round_queries": (),
            "degradations": (note,),
        }

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        return {"step": update["step"], "sub_queries": list(update["round_queries"])}


def ready_queries(plan: Plan, dispatched: tuple[str, ...]) -> list[SubQuery]:
    """Sub-queries not dispatched whose dependencies all were, in the order of the plan."""
    done = set(dispatched)
    return [
        query
        for query in plan.sub_queries
        if query.id not in done and set(query.depends_on) <= done
    ]


def tasks(state: State) -> list[SearchTask]:
    """One task for each call of this round that was never made before."""
    asked = set(state.get("asked", ()))
    found: list[SearchTask] = []
    for id in state["round_queries"]:
        query = state["plan"].sub_query(id)
        if query is None:
            continue
        for planned in query.calls:
            call = _bridged(planned, query, state.get("evidence", ()))
            signature = query.signature(call)
            if signature not in asked:
                asked.add(signature)
                found.append(
                    SearchTask(run=state["run"], step=state["step"], sub_query=query, call=call)
                )
    return found


def _bridged(call: ToolCall, query: SubQuery, evidence: tuple[Evidence, ...]) -> ToolCall:
    """Lets a dependent sub-query use what the earlier ones found: titles and frequent codes."""
    text = call.arguments.get("query")
    if not query.depends_on or not isinstance(text, str):
        return call
    titles = [
        item.title
        for item in evidence
        if set(item.sub_queries) & set(query.depends_on) and item.title
    ]
    most = 12 if call.tool == "graph_search" else 3
    codes = [
        code
        for item in evidence
        if set(item.sub_queries) & set(query.depends_on)
        for code in sorted(facts(item.text).identifiers)
        if any(char.isdigit() for char in code)
    ]
    common = [code for code, _ in Counter(codes).most_common(MOST_CODES)]
    extra = " ".join(dict.fromkeys((*titles[:most], *common)))
    return call.model_copy(
        update={"arguments": {**call.arguments, "query": f"{text} {extra}".strip()[:2_000]}}
    )
