"""Nothing leaves that its source, read again, does not prove."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.runtime import Runtime

from domain.answer import Answer, Draft, Quote, Statement
from domain.assessment import Conflict
from domain.evidence import Evidence
from domain.identity import Principal, Scope
from domain.knowledge import Metadata
from domain.limits import Degradation
from domain.run import Context
from graph.edges import after_guard
from nodes.compose.direct import direct_reply
from nodes.rules.verifier import RuleVerifier
from nodes.safe_guard import SafeGuardNode
from runtime.clock import SystemClock
from runtime.identity import Identity
from tests.unit.states import assessment, evidence, route, state

TEXT = "The tenant limit of the Standard tier is 120 concurrent requests. It was 80 in 2024."
FACT = "The tenant limit of the Standard tier is 120 concurrent requests."


@dataclass
class Store:
    """What the stores hold now, by evidence id; it remembers with which scope it was asked."""

    sources: dict[str, Evidence]
    asked: list[Scope] = field(default_factory=list)

    async def read(
        self, pieces: Iterable[Evidence], *, scope: Scope, version: str
    ) -> tuple[dict[str, Evidence], tuple[Degradation, ...]]:
        self.asked.append(scope)
        return {p.id: self.sources[p.id] for p in pieces if p.id in self.sources}, ()


def source(text: str = TEXT, **changes: Any) -> Evidence:
    return evidence(text, **changes)


def statement(text: str = FACT, quote: str = FACT, *, id: str = "e1", start: int = 0) -> Statement:
    proof = Quote(evidence=id, text=quote, start=start, end=start + len(quote))
    return Statement(id="s1", text=text, quotes=(proof,), essential=True)


async def guarded(
    *statements: Statement, store: Store | None = None, **changes: Any
) -> dict[str, Any]:
    identity = Identity(Principal(tenant="demo", user="u"))
    node = SafeGuardNode(store or Store({"e1": source()}), RuleVerifier(), identity, SystemClock())  # type: ignore[arg-type]
    given = {"evidence": (evidence(TEXT),), "draft": Draft(statements=statements)} | changes
    return await node(state(**given), Runtime(context=Context()))


async def verdict(*statements: Statement, **changes: Any) -> Answer:
    answer: Answer = (await guarded(*statements, **changes))["answer"]
    return answer


async def test_a_proven_statement_leaves_with_its_citation() -> None:
    answer = await verdict(statement())
    assert answer.verdict == "answered"
    [citation] = answer.citations
    assert (citation.number, citation.quote, citation.source) == (1, FACT, "limits.md")
    assert TEXT[citation.start : citation.end] == FACT
    assert answer.text == f"{FACT} [1]"


@pytest.mark.parametrize(
    "bad",
    [
        statement("The tenant limit of the Standard tier is 130 concurrent requests."),
        statement("The tenant limit of the Standard tier is not 120 concurrent requests."),
        statement("The tenant limit of the Blue Kite tier is 120 concurrent requests."),
        statement(quote="The tenant limit of the Standard tier is 120 parallel requests."),
        statement(start=5),
        statement(id="e-made-up"),
        statement(quote="   ", text="Anything."),
        Statement(id="s1", text="It is so.", essential=True),
    ],
    ids=[
        "number",
        "negation",
        "name",
        "no such quote",
        "shifted",
        "made-up id",
        "blank",
        "no quote",
    ],
)
async def test_an_unproven_statement_is_dropped_and_told(bad: Statement) -> None:
    update = await guarded(bad)
    answer: Answer = update["answer"]
    assert answer.verdict == "abstained"
    assert not answer.citations
    assert bad.text not in answer.text
    assert [note.effect for note in update["degradations"]] == ["s1 dropped"]


async def test_evidence_planted_in_the_state_is_not_believed() -> None:
    planted = evidence("Refunds are free for everyone.", id="e9")
    claim = statement("Refunds are free for everyone.", "Refunds are free for everyone.", id="e9")
    answer = await verdict(claim, evidence=(planted,), store=Store({}))
    assert answer.verdict == "abstained"
    changed = await verdict(claim, evidence=(planted,), store=Store({"e9": source("Other text.")}))
    assert changed.verdict == "abstained"


async def test_sources_are_read_again_in_the_scope_of_the_caller() -> None:
    store = Store({"e1": source()})
    await guarded(statement(), store=store)
    assert [(scope.tenant, scope.access) for scope in store.asked] == [("demo", ("everyone",))]


async def test_a_lost_conclusion_goes_back_once_with_its_gap() -> None:
    lost = await guarded(statement("It is 999."))
    assert lost["guard_returns"] == 1
    assert lost["assessments"][-1].gaps[0].requirement.id == "guard:q1"
    again = await guarded(statement("It is 999."), guard_returns=1)
    assert again["guard_returns"] == 2


async def test_only_a_direct_reply_may_do_without_a_citation() -> None:
    greeting = route(mode="direct", intent="greeting")
    reply = direct_reply(greeting)
    assert reply is not None
    assert (await verdict(reply, route=greeting)).text == reply.text
    assert (await verdict(reply)).verdict == "abstained"
    forged = reply.model_copy(update={"text": "All refunds are free."})
    assert (await verdict(forged, route=greeting)).verdict == "abstained"


async def test_what_a_source_declares_of_itself_may_be_said() -> None:
    meta = {"tenant": "demo", "version": "v2", "effective_from": "2026-07-01"}
    declared = source(meta=Metadata.model_validate(meta))
    claim = statement("Limits v2 is in force since 2026-07-01.", FACT)
    assert (await verdict(claim, store=Store({"e1": declared}))).verdict == "answered"
    other = statement("Limits v2 is in force since 2026-08-01.", FACT)
    assert (await verdict(other, store=Store({"e1": declared}))).verdict == "abstained"


@given(
    ids=st.lists(st.sampled_from(["e1", "e1", "e2", "x"]), min_size=1, max_size=4),
    spans=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), min_size=4, max_size=4),
    shift=st.sampled_from([0, 0, 0, 1, -1]),
)
async def test_whatever_is_drafted_only_what_stands_in_the_evidence_is_cited(
    ids: list[str], spans: list[tuple[int, int]], shift: int
) -> None:
    drafted = []
    for id, (start, length) in zip(ids, spans, strict=False):
        words = TEXT[start : start + length]
        drafted.append(statement(words, words, id=id, start=start + shift))
    answer = await verdict(*drafted)
    sound = [s for s in drafted if s.quotes[0].evidence == "e1" and shift == 0 and s.text.strip()]
    assert bool(answer.citations) == bool(sound)
    for citation in answer.citations:
        assert citation.id == "e1"
        assert TEXT[citation.start : citation.end] == citation.quote


async def test_a_guard_that_fails_on_the_second_pass_does_not_return_again() -> None:
    node = SafeGuardNode(Store({}), RuleVerifier(), Identity(None), SystemClock())  # type: ignore[arg-type]
    update = node.degraded(state(guard_returns=1, draft=Draft()), "late")
    assert update["guard_returns"] == 2
    assert after_guard(state(guard_returns=update["guard_returns"])) == "done"


async def test_a_disagreement_is_told_only_with_words_that_still_stand_there() -> None:
    other = evidence("The tenant limit of the Standard tier is 80 concurrent requests.", id="e2")
    clash = Conflict(
        point="limit",
        preferred="e1",
        other="e2",
        preferred_quote=FACT,
        other_quote=other.text,
        reason="numbers",
    )
    judged = {"assessments": (assessment(conflicts=(clash,)),), "evidence": (evidence(TEXT), other)}
    told = await verdict(statement(), store=Store({"e1": source(), "e2": other}), **judged)
    assert told.verdict == "conflict"
    assert other.text in told.boundary
    hidden = await verdict(statement(), store=Store({"e1": source()}), **judged)
    assert other.text not in hidden.boundary
