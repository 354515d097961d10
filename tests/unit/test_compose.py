"""From evidence to statements: what is said, with which words as proof, and in what numbers."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from domain.answer import Draft, Quote, Statement
from domain.evidence import Evidence, Locator
from domain.identity import Scope
from domain.knowledge import Metadata
from domain.plan import Plan, Route, SubQuery
from domain.state import State
from nodes.compose.composer import RuleComposer
from nodes.compose.render import answer_text, citations_of
from nodes.rules.coverage import Coverage
from nodes.rules.evaluator import Reading
from nodes.rules.periods import period
from nodes.rules.select import Weights, candidates
from nodes.rules.verifier import RuleVerifier
from runtime.text.analyzer import content_terms
from tests.unit.states import evidence, query, route, state

SCOPE = Scope(tenant="demo", access=("everyone",))


@dataclass(frozen=True)
class Desk:
    """Reads evidence without a library: every term weighs alike."""

    async def read(self, state: State, scope: Scope) -> Reading:
        found = candidates(state["evidence"])
        weights = Weights({}, 10)
        asked = state["route"]
        coverage = Coverage(asked, state["plan"], state["evidence"], found, weights, {})
        return Reading(coverage, found, weights, tuple(content_terms(asked.standalone)))


async def composed(asked: Route, *found: Evidence, queries: tuple[SubQuery, ...] = ()) -> Draft:
    plan = Plan(sub_queries=queries or (query(),))
    composer = RuleComposer(Desk())  # type: ignore[arg-type]
    return await composer.compose(state(route=asked, plan=plan, evidence=found), scope=SCOPE)


def slot_query(id: str, slot: str) -> SubQuery:
    return query(id).model_copy(update={"slot": slot})


@pytest.mark.parametrize(
    ("language", "question"), [("en", "What is the limit?"), ("zh", "限额是多少？")]
)
@pytest.mark.parametrize("intent", ["fact", "definition", "diagnosis", "relation"])
async def test_a_forced_direct_question_that_needs_knowledge_is_not_answered(
    intent: str, language: str, question: str
) -> None:
    asked = route(intent=intent, mode="direct", language=language, standalone=question)
    assert await composed(asked) == Draft(missing=(question,))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("intent", ["greeting", "capability", "out_of_scope"])
async def test_small_talk_is_answered_directly(intent: str, language: str) -> None:
    draft = await composed(route(intent=intent, mode="direct", language=language))
    assert [s.slot for s in draft.statements] == ["direct"]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ("Vault stores cards.", "The Reef team owns token-vault.")),
        ("zh", ("token-vault 保存卡片令牌。", "它由礁石组负责。")),
    ],
)
async def test_all_sentences_that_state_a_relation_are_told_in_order(
    language: str, sentences: tuple[str, str]
) -> None:
    text = f"Reef (team) —owns→ token-vault (service)\n{' '.join(sentences)}"
    item = evidence(text, kind="relations", chunk_kind="record", title="Reef → token-vault")
    question = {"en": "Which team owns token-vault?", "zh": "token-vault 由哪个团队负责？"}[
        language
    ]
    asked = route(
        intent="relation", language=language, standalone=question, entities=("token-vault",)
    )
    draft = await composed(asked, item)
    assert tuple(s.text for s in draft.statements) == sentences
    assert any(s.essential for s in draft.statements)


@pytest.mark.parametrize("words", ["It is 5 days.", "为 5 天。"])
def test_equal_words_in_two_places_are_two_citations(words: str) -> None:
    text = f"{words} Otherwise: {words}"
    places = (0, text.rindex(words))
    statements = [
        Statement(
            id=f"s{start}",
            text=words,
            quotes=(Quote(evidence="e1", text=words, start=start, end=start + len(words)),),
        )
        for start in places
    ]
    sources = {"e1": evidence(text, locator=Locator(start=100, end=100 + len(text)))}
    citations = citations_of(statements, sources)
    assert [c.start for c in citations] == [100 + place for place in places]
    assert answer_text(statements, citations, "en") == f"{words} [1]\n{words} [2]"
    again = [*statements, statements[0]]
    assert answer_text(again, citations_of(again, sources), "en").endswith("[1]")


@pytest.mark.parametrize(
    ("day", "told"),
    [
        ("2026-11-12", True),
        ("2026年11月12日", True),
        ("12 November 2026", True),
        ("2026年11月13日", True),
        ("November 13, 2026", True),
        ("2026年11月14日", False),
        ("11 November 2026", False),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_symptom_is_of_the_day_that_was_asked_for_or_the_next(
    language: str, day: str, told: bool
) -> None:
    text = {"en": f"On {day} more refunds failed.", "zh": f"在 {day} 退款失败率上升。"}[language]
    question = {
        "en": "Why did refunds fail on 2026-11-12?",
        "zh": "2026-11-12 退款为什么失败？",
    }[language]
    asked = route(
        intent="diagnosis",
        language=language,
        standalone=question,
        period=period(question, datetime(2026, 11, 30, tzinfo=UTC)),
    )
    draft = await composed(asked, evidence(text), queries=(slot_query("q1", "symptom"),))
    assert bool(draft.statements) is told


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Why did webhooks fail on 2026-11-12?", "On 2026-11-12 more refunds failed."),
        ("2026-11-12 回调为什么失败？", "在 2026-11-12 退款失败率上升。"),
    ],
)
async def test_a_symptom_of_something_else_is_no_symptom(question: str, text: str) -> None:
    asked = route(
        intent="diagnosis",
        standalone=question,
        period=period(question, datetime(2026, 11, 30, tzinfo=UTC)),
    )
    draft = await composed(asked, evidence(text), queries=(slot_query("q1", "symptom"),))
    assert not draft.statements


def version(
    id: str, text: str, *, front: str = "", since: str = "", until: str = "", language: str = "en"
) -> Evidence:
    title = {"en": "Refund policy", "zh": "退款政策"}[language]
    declared: dict[str, Any] = {"tenant": "demo", "version": f"v{id}", "language": language}
    declared |= {"effective_from": since or None, "effective_to": until or None}
    whole = f"{front}# {title} v{id}\n\n{text}"
    return evidence(
        whole,
        id=f"e{id}",
        source=f"v{id}.md",
        title=f"{title} v{id}",
        locator=Locator(end=len(whole)),
        meta=Metadata.model_validate(declared),
        sub_queries=(f"q{id}",),
    )


WINDOW = {
    "en": "A merchant may refund an order within {} days.",
    "zh": "商户可在 {} 天内退款。",
}
COMPARE = {"en": "What changed between v1 and v2?", "zh": "v1 和 v2 有什么变化？"}


async def compared(language: str, first: Evidence, second: Evidence) -> Draft:
    asked = route(
        intent="version_difference",
        language=language,
        standalone=COMPARE[language],
        versions=("1", "2"),
    )
    queries = (slot_query("q1", "version:1"), slot_query("q2", "version:2"))
    draft = await composed(asked, first, second, queries=queries)
    sources = {e.id: e for e in (first, second)}
    for told in draft.statements:
        assert await RuleVerifier().objections(told, sources) == []
        for quote in told.quotes:
            assert sources[quote.evidence].text[quote.start : quote.end] == quote.text
    return draft


def said(draft: Draft, slot: str) -> list[Statement]:
    return [s for s in draft.statements if s.slot == slot]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("ends", [("2025-01-01", "2026-01-01"), ("2027-01-01", "2028-01-01")])
async def test_of_versions_out_of_force_nothing_says_that_they_are_in_force(
    language: str, ends: tuple[str, str]
) -> None:
    first, second = (
        version(id, WINDOW[language].format(days), since=ends[0], until=ends[1], language=language)
        for id, days in (("1", 90), ("2", 180))
    )
    draft = await compared(language, first, second)
    assert [s.slot for s in draft.statements] == ["difference"]
    assert draft.statements[0].essential


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Refund policy v2 was in force from 2025-06-01 to 2026-01-01."),
        ("zh", "退款政策 v2 自 2025-06-01 起生效，已于 2026-01-01 失效。"),
    ],
)
async def test_the_end_of_a_version_is_told_where_its_source_tells_it(
    language: str, sentence: str
) -> None:
    window = WINDOW[language]
    first = version(
        "1", window.format(90), since="2025-01-01", until="2025-06-01", language=language
    )
    second = version(
        "2",
        f"{sentence}\n\n{window.format(180)}",
        since="2025-06-01",
        until="2026-01-01",
        language=language,
    )
    draft = await compared(language, first, second)
    assert not said(draft, "in_force")
    assert [s.text for s in said(draft, "outdated")] == [sentence]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("front", "dated", "proof"),
    [
        ("---\neffective_from: 2026-07-01\n---\n", "", "effective_from: 2026-07-01"),
        ("", "Approved 2026-07-01.", "Approved 2026-07-01."),
        ("", "", ""),
    ],
    ids=["front matter", "sentence", "neither"],
)
async def test_a_declared_date_is_proven_by_the_words_that_hold_it_or_by_the_heading(
    language: str, front: str, dated: str, proof: str
) -> None:
    window = WINDOW[language]
    first = version(
        "1", window.format(90), since="2025-01-01", until="2026-07-01", language=language
    )
    body = f"{window.format(180)}\n\n{dated}"
    second = version("2", body, front=front, since="2026-07-01", language=language)
    [told] = said(await compared(language, first, second), "in_force")
    assert "2026-07-01" in told.text
    assert [q.text for q in told.quotes] == [proof or second.title]


@pytest.mark.parametrize(
    ("language", "other"),
    [
        ("en", "Refund policy v1 was in force until 2026-07-01."),
        ("zh", "退款政策 v1 有效期至 2026-07-01。"),
    ],
)
async def test_what_is_said_of_the_other_version_is_not_said_of_this_one(
    language: str, other: str
) -> None:
    window = WINDOW[language]
    first = version(
        "1", window.format(90), since="2025-01-01", until="2026-07-01", language=language
    )
    second = version("2", f"{window.format(180)}\n\n{other}", since="2026-07-01", language=language)
    [told] = said(await compared(language, first, second), "in_force")
    assert [q.text for q in told.quotes] == [second.title]
