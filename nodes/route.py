"""ROUTE: what kind of question is this, and how much effort does it deserve?"""

from dataclasses import dataclass
from typing import ClassVar

from langgraph.runtime import Runtime

from domain.identity import Scope
from domain.limits import Degradation
from domain.plan import Route
from domain.run import Context
from domain.state import State
from nodes.base import Router, Update
from runtime.identity import Identity
from runtime.text.language import question_language


@dataclass(frozen=True)
class RouteNode:
    """Asks the router; where it fails, every question is taken as one that needs the loop."""

    router: Router
    identity: Identity

    name: ClassVar[str] = "route"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        run = state["run"]
        scope = Scope.of(self.identity.current(runtime), as_of=run.as_of)
        route = await self.router.route(
            state["run"].question, state.get("turns", ()), run=run, scope=scope
        )
        return {"route": route}

    def degraded(self, state: State, cause: str) -> Update:
        """A plain question in the thorough mode: more work, but nothing is skipped."""
        route = Route(
            intent="fact",
            mode=state["run"].forced_mode or "agentic",
            language=question_language(state["run"].question),
            standalone=state["run"].question,
            reason="the router failed",
        )
        note = Degradation(stage=self.name, cause=cause, effect="treated as a plain question")
        return {"route": route, "degradations": (note,)}

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        route: Route = update["route"]
        return {"intent": route.intent, "mode": route.mode, "reason": route.reason}
