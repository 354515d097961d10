"""ANSWER: statements composed from evidence, none of them checked yet."""

from dataclasses import dataclass
from typing import ClassVar

from langgraph.runtime import Runtime

from domain.answer import Draft
from domain.identity import Scope
from domain.limits import Degradation
from domain.run import Context
from domain.state import State
from nodes.base import Composer, Update
from runtime.identity import Identity


@dataclass(frozen=True)
class AnswerNode:
    """Asks the composer; where it fails there is no draft, and the guard will abstain."""

    composer: Composer
    identity: Identity

    name: ClassVar[str] = "answer"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        scope = Scope.of(self.identity.current(runtime), as_of=state["run"].as_of)
        return {"draft": await self.composer.compose(state, scope=scope)}

    def degraded(self, state: State, cause: str) -> Update:
        """No statement at all: saying nothing is always safe."""
        note = Degradation(stage=self.name, cause=cause, effect="no answer was composed")
        return {
            "draft": Draft(missing=(state["route"].standalone,)),
            "degradations": (note,),
        }

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        draft: Draft = update["draft"]
        return {"statements": len(draft.statements), "missing": list(draft.missing)}
