"""PLAN: what has to be found out, where, and what the evidence has to cover."""

from dataclasses import dataclass
from typing import ClassVar

from langgraph.runtime import Runtime

from domain.identity import Scope
from domain.limits import Degradation
from domain.plan import Plan, Requirement, SubQuery, ToolCall
from domain.run import Context
from domain.state import State
from nodes.base import Planner, Update
from runtime.identity import Identity
from tools.guard import Guard


@dataclass(frozen=True)
class PlanNode:
    """Asks the planner, which may use only the tools that this caller may."""

    planner: Planner
    guard: Guard
    identity: Identity

    name: ClassVar[str] = "plan"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        run = state["run"]
        principal = self.identity.current(runtime)
        tools = [tool.name for tool in self.guard.allowed(principal)]
        scope = Scope.of(principal, as_of=run.as_of)
        return {"plan": await self.planner.plan(state["route"], tools=tools, run=run, scope=scope)}

    def degraded(self, state: State, cause: str) -> Update:
        """One search over the documents with the question as it stands."""
        question = state["route"].standalone
        query = SubQuery(
            id="q1",
            question=question,
            calls=(ToolCall(tool="knowledge_search", arguments={"query": question}),),
        )
        needed = Requirement(id="question:q1", kind="sub_question", text=question, sub_query="q1")
        note = Degradation(stage=self.name, cause=cause, effect="one plain search")
        return {
            "plan": Plan(sub_queries=(query,), requirements=(needed,)),
            "degradations": (note,),
        }

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        plan: Plan = update["plan"]
        return {
            "sub_queries": [
                f"{q.id} {q.slot or 'question'}: {', '.join(c.tool for c in q.calls)}"
                for q in plan.sub_queries
            ]
        }
