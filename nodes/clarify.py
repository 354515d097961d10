"""CLARIFY: asks the caller back, where the caller has said that it can answer."""

from dataclasses import dataclass
from typing import ClassVar

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from domain.run import Context
from domain.state import State
from nodes.base import Update
from nodes.compose.render import clarification
from nodes.init import clean
from runtime.clock import Clock


@dataclass(frozen=True)
class ClarifyNode:
    """Pauses the run; the reply completes the question and the clock starts anew."""

    clock: Clock

    name: ClassVar[str] = "clarify"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        route, run = state["route"], state["run"]
        reply = interrupt(
            {
                "question": clarification(route.missing, route.language),
                "missing": route.missing,
            }
        )
        text = clean(str(reply))
        return {
            "question": f"{state['question'].rstrip('?？ ')}: {text}"
            if text
            else state["question"],
            "run": run.model_copy(update={"started": self.clock.monotonic(), "resumable": False}),
        }

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        return {"question": update["question"]}
