"""The tool nodes: one call of one tool, on behalf of the caller, within the time that is left."""

from dataclasses import dataclass

from langgraph.runtime import Runtime

from domain.errors import AgenticRagError
from domain.evidence import ToolResult
from domain.identity import Scope
from domain.limits import Degradation, Usage
from domain.run import Context
from nodes.base import Update
from nodes.retrieve import SearchTask
from runtime.clock import Clock
from runtime.identity import Identity
from tools.guard import Guard


@dataclass(frozen=True)
class SearchNode:
    """Runs the call of its `Send`; a failure becomes an empty result and a Degradation.

    The Scope comes from the identity service, never from the task: a task could be forged by
    whoever can write the State.
    """

    tool: str
    guard: Guard
    identity: Identity
    clock: Clock

    async def __call__(self, state: SearchTask, runtime: Runtime[Context]) -> Update:
        run, query, call = state["run"], state["sub_query"], state["call"]
        principal = self.identity.current(runtime)
        left = run.remaining_ms(self.clock.monotonic()) / 1000
        try:
            result = await self.guard.call(
                call,
                principal=principal,
                scope=Scope.of(principal, as_of=run.as_of),
                filters=query.filters,
                timeout_s=max(left, 0.001),
                version=run.knowledge_version,
            )
            notes = result.degradations
        except AgenticRagError as error:
            result = ToolResult(tool=call.tool, note="failed")
            notes = (
                Degradation(stage=call.tool, cause=str(error), effect=f"{query.id} has no result"),
            )
        return {
            "results": (result.model_copy(update={"step": state["step"], "sub_query": query.id}),),
            "asked": (query.signature(call),),
            "usage": Usage(tool_calls=1),
            "degradations": notes,
        }

    @property
    def name(self) -> str:
        """The stage is named like its tool."""
        return self.tool

    def degraded(self, state: SearchTask, cause: str) -> Update:
        """No result of this call; the others go on."""
        query = state["sub_query"]
        note = Degradation(stage=self.tool, cause=cause, effect=f"{query.id} has no result")
        return {"asked": (query.signature(state["call"]),), "degradations": (note,)}

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        results: tuple[ToolResult, ...] = update.get("results", ())
        return {"sub_query": results[0].sub_query, "found": results[0].count} if results else {}
