"""CLARIFY: asks the caller back, where the caller has said that it can answer."""

from dataclasses import dataclass
from typing import ClassVar

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from domain.run import Context
from domain.state import State
from nodes.base import Update
from nodes.compose.render import clarification
from nodes.init import checked_question, unsearched
from runtime.clock import Clock


@dataclass(frozen=True)
class ClarifyNode:
    """Pauses the run; the reply completes the question, and the search starts anew."""

    clock: Clock
    question_max_chars: int

    name: ClassVar[str] = "clarify"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        route, run = state["route"], state["run"]
        reply = interrupt(
            {
                "question": clarification(route.missing, route.language),
                "missing": route.missing,
            }
        )
        added = checked_question(reply, self.question_max_chars)
        question = f"{run.question.rstrip('?？ ')}: {added}"
        return unsearched() | {
            "run": run.model_copy(
                update={
                    "question": question,
                    "started": self.clock.monotonic(),
                    "resumable": False,
                    "clarified": True,
                }
            ),
        }

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        return {"question": update["run"].question}
