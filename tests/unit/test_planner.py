"""Plans hold only what can be asked, and a plan of nothing asks nothing."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from domain.identity import Scope
from domain.plan import Plan, Route
from nodes.rules.planner import RulePlanner
from nodes.rules.reflector import RuleReflector
from tests.unit.states import GAP, assessment, route, run, state

ALL = (
    "knowledge_search",
    "ticket_search",
    "change_log_search",
    "runbook_search",
    "graph_search",
)
SCOPE = Scope(tenant="demo", access=("everyone",))
ASKED = {
    "diagnosis": {"en": "Why did refunds fail?", "zh": "退款为什么失败？"},
    "relation": {"en": "Which team owns token-vault?", "zh": "token-vault 由哪个团队负责？"},
    "fact": {"en": "What is the limit?", "zh": "限额是多少？"},
    "how_to": {"en": "How do I refund?", "zh": "如何退款？"},
    "decision": {"en": "Should we wait?", "zh": "是否应该等待？"},
}


@dataclass(frozen=True)
class Names:
    """A library that holds nothing but entities."""

    entities: list[Any] = field(default_factory=list)

    async def version(self, _: str) -> Any:
        async def link(text: str, *, scope: Scope) -> list[Any]:
            return [e for e in self.entities if e.name in text]

        async def templates(*, scope: Scope) -> list[Any]:
            return []

        return SimpleNamespace(
            entities=SimpleNamespace(link=link), relational=SimpleNamespace(templates=templates)
        )


async def plan_of(asked: Route, tools: tuple[str, ...]) -> Plan:
    planner = RulePlanner(Names())  # type: ignore[arg-type]
    return await planner.plan(asked, tools=tools, run=run(), scope=SCOPE)


@pytest.mark.parametrize("intent", ASKED)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("denied", [(), *((tool,) for tool in ALL), ALL[1:], ALL[:3], ALL])
async def test_whatever_tools_are_denied_no_sub_query_waits_for_one_that_is_not_asked(
    intent: str, language: str, denied: tuple[str, ...]
) -> None:
    asked = route(intent=intent, language=language, standalone=ASKED[intent][language])
    plan = await plan_of(asked, tuple(tool for tool in ALL if tool not in denied))
    ids = {query.id for query in plan.sub_queries}
    assert all(set(query.depends_on) <= ids for query in plan.sub_queries)
    assert all(query.calls for query in plan.sub_queries)
    assert {r.sub_query for r in plan.requirements} <= ids | {""}
    assert denied != ALL or not ids


async def test_the_cause_is_still_looked_for_without_the_change_log() -> None:
    asked = route(intent="diagnosis", standalone=ASKED["diagnosis"]["en"])
    plan = await plan_of(asked, ("knowledge_search", "ticket_search"))
    cause = next(q for q in plan.sub_queries if q.slot == "cause")
    assert cause.depends_on == ("q1",)
    assert [r.text for r in plan.requirements if r.essential] == ["symptom", "cause"]


async def test_a_plan_of_nothing_leaves_no_move() -> None:
    empty = state(plan=Plan(sub_queries=()), assessments=(assessment(gaps=(GAP,)),))
    reflector = RuleReflector(Names())  # type: ignore[arg-type]
    assert await reflector.reflect(empty, tools=ALL, scope=SCOPE) is None
