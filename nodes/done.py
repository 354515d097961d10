"""DONE: completes the Answer with the record of its run and remembers the turn."""

from dataclasses import dataclass
from typing import ClassVar

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from domain.answer import Answer
from domain.limits import Usage
from domain.run import Context, Turn
from domain.state import State
from nodes.base import Update
from nodes.compose.harmless import harmless

REMEMBERED = 6


@dataclass(frozen=True)
class DoneNode:
    """The last node; what it returns is what the caller sees.

    A checkpointer gives tuples back as lists, hence the tuples here.
    """

    name: ClassVar[str] = "done"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        answer = state["answer"].model_copy(
            update={
                "route": state.get("route"),
                "plan": state.get("plan"),
                "assessments": tuple(state.get("assessments", ())),
                "reflections": tuple(state.get("reflections", ())),
                "degradations": tuple(state.get("degradations", ())),
                "usage": state.get("usage", Usage()),
                "trace": tuple(state.get("trace", ())),
            }
        )
        turns = (*state.get("turns", ()), _turn(state, answer))[-REMEMBERED:]
        return {
            "answer": answer,
            "messages": [AIMessage(content=_spoken(answer), name="agentic_rag")],
            "turns": turns,
        }

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        answer: Answer = update["answer"]
        return {"verdict": answer.verdict, "citations": len(answer.citations)}


def _turn(state: State, answer: Answer) -> Turn:
    route = state["route"]
    return Turn(
        question=state["run"].question,
        standalone=route.standalone,
        language=route.language,
        entities=route.mentions,
        versions=route.versions,
        answer=answer.text[:500],
    )


def _spoken(answer: Answer) -> str:
    """The answer for a chat window: text, boundary, and the sources by number."""
    sources = "\n".join(
        f"[{c.number}] " + harmless(f"{c.source}: {c.quote}") for c in answer.citations
    )
    return "\n\n".join(part for part in (answer.text, answer.boundary, sources) if part)
