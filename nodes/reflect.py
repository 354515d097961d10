"""REFLECT: closes a gap with one controlled move, or says that no move would help."""

from dataclasses import dataclass
from typing import ClassVar

from langgraph.runtime import Runtime

from domain.assessment import Reflection
from domain.identity import Scope
from domain.limits import Degradation
from domain.run import Context
from domain.state import State
from nodes.base import Reflector, Update
from runtime.identity import Identity
from tools.guard import Guard


@dataclass(frozen=True)
class ReflectNode:
    """Adds the sub-queries of the chosen move to the plan; no move adds nothing."""

    reflector: Reflector
    guard: Guard
    identity: Identity

    name: ClassVar[str] = "reflect"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        principal = self.identity.current(runtime)
        chosen = await self.reflector.reflect(
            state,
            tools=[tool.name for tool in self.guard.allowed(principal)],
            scope=Scope.of(principal, as_of=state["run"].as_of),
        )
        if chosen is None:
            return {}
        reflection, queries = chosen
        if reflection.move == "ask_user":
            asked = state["route"].model_copy(update={"mode": "clarify", "missing": reflection.ask})
            return {"reflections": (reflection,), "route": asked}
        plan = state["plan"]
        grown = plan.model_copy(update={"sub_queries": (*plan.sub_queries, *queries)})
        return {"reflections": (reflection,), "plan": grown}

    def degraded(self, state: State, cause: str) -> Update:
        """No move: the loop ends with what there is."""
        note = Degradation(stage=self.name, cause=cause, effect="the loop ended early")
        return {"degradations": (note,)}

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        made: tuple[Reflection, ...] = update.get("reflections", ())
        if not made:
            return {"move": "none"}
        last = made[-1]
        return {"move": last.move, "gap": last.gap, "expected_gain": last.expected_gain}
