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
from nodes.compose.render import (
    abstention,
    answer_text,
    citations_of,
    clarification,
    follow_ups,
    in_order,
)
from nodes.rules.evaluator import confidence
from runtime.identity import Identity
from tools.reader import EvidenceReader, Source


@dataclass(frozen=True)
class SafeGuardNode:
    """Lets statements pass one by one and composes the Answer of those that did."""

    reader: EvidenceReader
    verifier: Verifier
    identity: Identity

    name: ClassVar[str] = "safe_guard"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        principal = self.identity.current(runtime)
        scope = Scope.of(principal, as_of=state["run"].as_of)
        evidence = {item.id: item for item in state.get("evidence", ())}
        sources = await self._read_again(state, evidence, scope)
        passed, notes = [], []
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
            update |= _gap_for_reflect(state, notes)
        return update | {"answer": _answer(state, in_order(passed), evidence, sources)}

    async def _read_again(
        self, state: State, evidence: dict[str, Evidence], scope: Scope
    ) -> dict[str, Source]:
        """The sources of all quotes that this run may cite, as their stores hold them now."""
        wanted = {q.evidence for s in state["draft"].statements for q in s.quotes}
        version = state["run"].knowledge_version
        found = {}
        for id in sorted(wanted & set(evidence)):
            source = await self.reader.read(evidence[id], scope=scope, version=version)
            if source is not None and source.meta.tenant == scope.tenant:
                found[id] = source
        return found

    async def _objection(
        self, statement: Statement, state: State, sources: dict[str, Source]
    ) -> str:
        """Why a statement may not leave; empty where it may."""
        if not statement.quotes:
            return "" if state["route"].mode == "direct" else "it cites nothing"
        for quote in statement.quotes:
            source = sources.get(quote.evidence)
            if source is None:
                return "its source is not among this run's evidence or not visible to the caller"
            if not quote.text.strip() or source.text[quote.start : quote.end] != quote.text:
                return "its quote does not stand in the source"
        return "; ".join(await self.verifier.objections(statement, sources))

    def degraded(self, state: State, cause: str) -> Update:
        """Unchecked statements do not leave: the run abstains."""
        note = Degradation(stage=self.name, cause=cause, effect="nothing could be checked")
        return {"answer": _answer(state, [], {}, {}), "degradations": (note,)}

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


def _gap_for_reflect(state: State, notes: Sequence[Degradation]) -> Update:
    """Name the lost conclusion as a gap, so that REFLECT may look for other evidence once."""
    query = state["plan"].sub_queries[0] if state["plan"].sub_queries else None
    if query is None or not state.get("assessments"):
        return {}
    needed = Requirement(
        id=f"guard:{query.id}", kind="sub_question", text=query.question, sub_query=query.id
    )
    gap = Gap(requirement=needed, reason=notes[0].cause if notes else "the conclusion was dropped")
    last = state["assessments"][-1]
    again = last.model_copy(update={"gaps": (gap, *last.gaps), "clear": False})
    return {"assessments": (again,), "guard_returns": 1}


def _answer(
    state: State,
    passed: list[Statement],
    evidence: dict[str, Evidence],
    sources: dict[str, Source],
) -> Answer:
    route, run, draft = state["route"], state["run"], state["draft"]
    citations = citations_of(passed, evidence, sources)
    assessment = state["assessments"][-1] if state.get("assessments") else None
    score = _confidence(state, assessment, len(passed))
    verdict = _verdict(state, assessment, passed, score)
    if verdict in ("abstained", "clarify"):
        passed, citations = [], []
    return Answer(
        run_id=run.id,
        question=state["question"],
        verdict=verdict,
        language=route.language,
        text=_text(state, verdict)
        if not passed
        else answer_text(passed, citations, route.language),
        statements=tuple(passed),
        citations=tuple(citations),
        confidence=round(score, 4),
        boundary=draft.boundary,
        follow_ups=follow_ups(list(evidence.values()), citations, route.language),
        tenant=run.tenant,
        as_of=run.as_of,
        knowledge_version=run.knowledge_version,
    )


def _text(state: State, verdict: Verdict) -> str:
    route = state["route"]
    if verdict == "clarify":
        return clarification(route.missing or route.standalone, route.language)
    return abstention(state["draft"].missing, route.language)


def _confidence(state: State, assessment: Assessment | None, passed: int) -> float:
    """The stated formula, with the share of statements that passed as `verification`."""
    if state["route"].mode == "direct":
        return 1.0
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
        return "answered"
    if state["route"].mode == "clarify":
        return "clarify"
    judged = assessment is not None and assessment.sources > 0
    if assessment is None or not judged or not any(s.essential for s in passed):
        return "abstained"
    slots = {s.slot for s in passed}
    if state["route"].intent == "diagnosis" and "cause" not in slots:
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
