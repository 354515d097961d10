"""INIT: binds the run to its caller, bounds, day and knowledge version."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from backends.library import Library
from domain.answer import Draft
from domain.errors import InputError, KnowledgeError
from domain.identity import Principal
from domain.limits import Limits, Usage
from domain.plan import Plan
from domain.run import Context, Run
from domain.state import State
from nodes.base import Update
from runtime.clock import Clock, today
from runtime.identity import Identity
from runtime.ids import NewId, stable_id
from runtime.policy import Policies


@dataclass(frozen=True)
class InitNode:
    """Starts every turn of a thread afresh; only the earlier turns are remembered.

    Raises InputError for a question that is empty or too long, KnowledgeError where the
    caller's tenant has no knowledge: neither can be answered with less.
    """

    library: Library
    identity: Identity
    policies: Policies
    limits: Limits
    clock: Clock
    new_id: NewId
    question_max_chars: int

    name: ClassVar[str] = "init"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        context = runtime.context or Context()
        principal = self.identity.current(runtime)
        question, told = self._question(state)
        knowledge = await self.library.current()
        if not (await knowledge.catalog.count(principal.tenant))[0]:
            raise KnowledgeError(
                f"there is no knowledge for the tenant {principal.tenant!r}; load some with "
                "`agentic-rag ingest PATH --tenant NAME`, or ask as another tenant"
            )
        policy = self.policies.of(principal.tenant)
        bounds = policy.bounds(self.limits)
        run = Run(
            id=self.new_id(),
            question=question,
            tenant=principal.tenant,
            started=self.clock.monotonic(),
            day=context.as_of or today(self.clock),
            as_of=context.as_of,
            limits=context.limits(bounds),
            knowledge_version=knowledge.version,
            forced_mode=context.mode,
            profile=context.profile,
            resumable=context.resumable,
        )
        return _fresh() | {"run": run} | _own(state, principal, question, told)

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        run: Run = update["run"]
        return {
            "tenant": run.tenant,
            "knowledge_version": run.knowledge_version,
            "limits": run.limits.model_dump(),
        }

    def _question(self, state: State) -> tuple[str, list[AnyMessage]]:
        """The question, and the message to remember it by where none was given."""
        typed = state.get("question", "")
        asked = typed or _last_human(state.get("messages", []))
        question = checked_question(asked, self.question_max_chars)
        return question, [HumanMessage(content=question)] if typed else []


def checked_question(text: object, max_chars: int) -> str:
    """A question fit to be asked; raises InputError saying what is wrong with it."""
    if not isinstance(text, str):
        raise InputError("the question is not a text; ask something in words")
    question = clean(text)
    if not any(char.isalnum() for char in question):
        raise InputError("the question is empty: it holds no word; ask something in words")
    if len(question) > max_chars:
        raise InputError(
            f"the question has {len(question):,} characters, more than the {max_chars:,} that "
            "QUESTION_MAX_CHARS allows; shorten it"
        )
    return question


def _own(state: State, principal: Principal, question: str, told: list[AnyMessage]) -> Update:
    """Messages and turns of the thread, as far as they are this caller's.

    A thread that somebody else began, or the same person with other access, is begun anew:
    what was said there may rest on documents that this caller may not see.
    """
    owner = stable_id("owner", principal.tenant, principal.user, *principal.access)
    if state.get("owner", owner) == owner:
        return {"messages": told, "owner": owner}
    kept = [HumanMessage(content=question)]
    return {
        "messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *kept],
        "turns": (),
        "owner": owner,
    }


def clean(text: str) -> str:
    """Without NUL, control and lone surrogate characters; white space folded at the ends."""
    kept = (c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs", "Cn"))
    return "".join(kept).strip()


def _last_human(messages: Sequence[AnyMessage]) -> str:
    for message in reversed(messages):
        if message.type == "human":
            return message.text
    return ""


def unsearched() -> Update:
    """The part of the State that searching fills, empty."""
    return {
        "plan": Plan(sub_queries=()),
        "draft": Draft(),
        "step": 0,
        "round_queries": (),
        "dispatched": Overwrite(()),
        "asked": Overwrite(()),
        "results": Overwrite(()),
        "evidence": (),
        "new_evidence": 0,
        "assessments": Overwrite(()),
        "reflections": Overwrite(()),
        "guard_returns": 0,
    }


def _fresh() -> Update:
    """What an earlier turn of the thread left behind is no part of this one."""
    return unsearched() | {
        "degradations": Overwrite(()),
        "usage": Overwrite(Usage()),
        "trace": Overwrite(()),
    }
