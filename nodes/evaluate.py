"""EVALUATE: does the evidence suffice, and if not, what is missing?"""

from dataclasses import dataclass
from typing import ClassVar

from langgraph.runtime import Runtime

from domain.assessment import Assessment
from domain.identity import Scope
from domain.limits import Degradation
from domain.run import Context
from domain.state import State
from nodes.base import Evaluator, Update
from runtime.identity import Identity


@dataclass(frozen=True)
class EvaluateNode:
    """Asks the evaluator; where it fails, the evidence is taken as unjudged and not enough."""

    evaluator: Evaluator
    identity: Identity

    name: ClassVar[str] = "evaluate"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        scope = Scope.of(self.identity.current(runtime), as_of=state["run"].as_of)
        assessment = await self.evaluator.assess(state, scope=scope)
        if not assessment.unmeasured:
            return {"assessments": (assessment,)}
        note = Degradation(
            stage=self.name, cause=assessment.unmeasured, effect="the judgement is stricter"
        )
        return {"assessments": (assessment,), "degradations": (note,)}

    def degraded(self, state: State, cause: str) -> Update:
        """An assessment that claims nothing: unjudged evidence is no ground for an answer."""
        blank = Assessment(
            step=state["step"],
            coverage=0.0,
            agreement=0.0,
            source_quality=0.0,
            confidence=0.0,
            new_evidence=state.get("new_evidence", 0),
            sources=0,
        )
        note = Degradation(stage=self.name, cause=cause, effect="the evidence was not judged")
        return {"assessments": (blank,), "degradations": (note,)}

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        assessment: Assessment = update["assessments"][-1]
        return {
            "coverage": assessment.coverage,
            "confidence": assessment.confidence,
            "clear": assessment.clear,
            "gaps": [f"{gap.requirement.id}: {gap.reason}" for gap in assessment.gaps],
            "conflicts": len(assessment.conflicts),
        }
