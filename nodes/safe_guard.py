"""SAFE_GUARD: nothing leaves that was not checked against its source, read again just now."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from langgraph.runtime import Runtime

from domain.answer import Answer, Statement, Verdict
from domain.assessment import Assessment, Gap
from domain.evidence import Evidence
from domain.identity import Scope
from domain.limits import Degradation
from domain.plan import Requirement
from domain.run import Context
from domain.state import State
from nodes.base import Update, Verifier
from nodes.compose.boundary import boundary
from nodes.compose.direct import direct_reply
from nodes.compose.render import (
    abstention,
    answer_text,
    citations_of,
    clarification,
    follow_ups,
    in_order,
)
from nodes.rules.evaluator import confidence
from runtime.clock import Clock
from runtime.identity import Identity
from tools.reader import EvidenceReader


@dataclass(frozen=True)
class SafeGuardNode:
    """Lets statements pass one by one and composes the Answer of those that did."""

    reader: EvidenceReader
    verifier: Verifier
    identity: Identity
    clock: Clock

    name: ClassVar[str] = "safe_guard"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        principal = self.identity.current(runtime)
        scope = Scope.of(principal, as_of=state["run"].as_of)
        sources, read_notes = await self._read_again(state, scope)
        passed, notes = [], list(read_notes)
        for statement in state["draft"].statements:
            objection = await self._objection(statement, state, sources)
            if objection:
                notes.append(
                    Degradation(stage=self.name, cause=objection, effect=f"{statement.id} dropped")
                )
            else:
                passed.append(statement)
        update: Update = {"degradations": tuple(notes)}
        if state.get("guard_returns", 0) == 1:
            update["guard_returns"] = 2
        elif _lost_its_core(state["draft"].statements, passed):
            update |= self._gap_for_reflect(state, notes)
        return update | {"answer": _answer(state, in_order(passed), sources)}

    async def _read_again(
        self, state: State, scope: Scope
    ) -> tuple[dict[str, Evidence], tuple[Degradation, ...]]:
        """What this run may cite or name, as the stores hold it now."""
        wanted = {q.evidence for s in state["draft"].statements for q in s.quotes}
        for assessment in state.get("assessments", ())[-1:]:
            wanted |= {id for c in assessment.conflicts for id in (c.preferred, c.other)}
        pieces = [item for item in state.get("evidence", ()) if item.id in wanted]
        version = state["run"].knowledge_version
        return await self.reader.read(pieces, scope=scope, version=version)

    async def _objection(
        self, statement: Statement, state: State, sources: dict[str, Evidence]
    ) -> str:
        """Why a statement may not leave; empty where it may."""
        if not statement.quotes:
            return "" if _is_direct_reply(statement, state) else "it cites nothing"
        for quote in statement.quotes:
            source = sources.get(quote.evidence)
            if source is None:
                return "its source is not among this run's evidence or not visible to the caller"
            if not quote.text.strip() or source.text[quote.start : quote.end] != quote.text:
                return "its quote does not stand in the source"
        return "; ".join(await self.verifier.objections(statement, sources))

    def _gap_for_reflect(self, state: State, notes: Sequence[Degradation]) -> Update:
        """Name the lost conclusion as a gap, so that REFLECT may look for other evidence once."""
        query = state["plan"].sub_queries[0] if state["plan"].sub_queries else None
        if query is None or not state.get("assessments"):
            return {}
        needed = Requirement(
            id=f"guard:{query.id}", kind="sub_question", text=query.question, sub_query=query.id
        )
        reason = notes[0].cause if notes else "the conclusion was dropped"
        last = state["assessments"][-1]
        again = last.model_copy(
            update={
                "gaps": (Gap(requirement=needed, reason=reason), *last.gaps),
                "clear": False,
                "elapsed_ms": round(state["run"].elapsed_ms(self.clock.monotonic()), 1),
            }
        )
        return {"assessments": (again,), "guard_returns": 1}

    def degraded(self, state: State, cause: str) -> Update:
        """Unchecked statements do not leave: the run abstains, and does not try again."""
        note = Degradation(stage=self.name, cause=cause, effect="nothing could be checked")
        return {
            "answer": _answer(state, [], {}),
            "degradations": (note,),
            "guard_returns": 2,
        }

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        answer: Answer = update["answer"]
        dropped = [f"{d.effect}: {d.cause}" for d in update.get("degradations", ())]
        return {
            "verdict": answer.verdict,
            "passed": len(answer.statements),
            "confidence": answer.confidence,
            "dropped": dropped,
        }


def _lost_its_core(drafted: Sequence[Statement], passed: Sequence[Statement]) -> bool:
    return any(s.essential for s in drafted) and not any(s.essential for s in passed)


def _is_direct_reply(statement: Statement, state: State) -> bool:
    """Only our own fixed words for this question may do without a proof."""
    route = state["route"]
    return route.mode == "direct" and statement == direct_reply(route)


def _answer(
    state: State,
    passed: list[Statement],
    sources: dict[str, Evidence],
) -> Answer:
    route, run = state["route"], state["run"]
    citations = citations_of(passed, sources)
    assessment = state["assessments"][-1] if state.get("assessments") else None
    score = _confidence(state, assessment, len(passed))
    verdict = _verdict(state, assessment, passed, score)
    if verdict in ("abstained", "clarify"):
        passed, citations = [], []
    return Answer(
        run_id=run.id,
        question=run.question,
        verdict=verdict,
        language=route.language,
        text=_text(state, verdict)
        if not passed
        else answer_text(passed, citations, route.language),
        statements=tuple(passed),
        citations=tuple(citations),
        confidence=round(score, 4),
        boundary=boundary(route, assessment, passed, sources) if assessment else "",
        follow_ups=follow_ups(list(sources.values()), citations, route.language),
        tenant=run.tenant,
        as_of=run.as_of,
        knowledge_version=run.knowledge_version,
    )


def _text(state: State, verdict: Verdict) -> str:
    route = state["route"]
    if verdict == "clarify":
        return clarification(route.missing or route.standalone, route.language)
    failed = bool(state.get("degradations"))
    return abstention(state["draft"].missing, route.language, failed=failed)


def _confidence(state: State, assessment: Assessment | None, passed: int) -> float:
    """The stated formula, with the share of statements that passed as `verification`."""
    if state["route"].mode == "direct":
        return 1.0 if passed else 0.0
    drafted = len(state["draft"].statements)
    if assessment is None or not drafted or not passed:
        return 0.0
    return confidence(
        assessment.coverage, assessment.agreement, passed / drafted, assessment.source_quality
    )


def _verdict(
    state: State, assessment: Assessment | None, passed: Sequence[Statement], score: float
) -> Verdict:
    """Never a lowered bar to have something to say."""
    if state["route"].mode == "direct":
        return "answered" if passed else "abstained"
    if state["route"].mode == "clarify":
        return "clarify"
    judged = assessment is not None and assessment.sources > 0
    if assessment is None or not judged or not any(s.essential for s in passed):
        return "abstained"
    slots = {s.slot for s in passed}
    if state["route"].intent == "diagnosis" and not {"symptom", "cause"} <= slots:
        return "abstained"
    cited = {q.evidence for s in passed for q in s.quotes}
    if any({c.preferred, c.other} & cited for c in assessment.conflicts):
        return "conflict"
    outdated = set(assessment.outdated) & cited
    if state["route"].intent == "version_difference":
        outdated = set()
    essential_gap = any(gap.requirement.essential for gap in assessment.gaps)
    if essential_gap or outdated or score < state["run"].limits.confidence:
        return "answered_with_caveat"
    return "answered"
