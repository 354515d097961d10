"""The questions that must work out of the box, asked of the real graph over the example."""

import asyncio
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from domain.answer import Answer
from domain.errors import BackendError, InputError, KnowledgeError
from domain.identity import Principal, Scope
from domain.run import Context
from graph.build import Graph, build_graph
from graph.services import Services
from tests.integration.example import PAYMENTS, load_example, services

QUESTIONS: list[dict[str, Any]] = yaml.safe_load((PAYMENTS / "questions.yaml").read_text("utf-8"))[
    "questions"
]
STAGES = {
    "init",
    "route",
    "plan",
    "retrieve",
    "rerank",
    "evaluate",
    "reflect",
    "answer",
    "safe_guard",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example") / "data"
    asyncio.run(load_example(folder))
    return folder


@pytest_asyncio.fixture
async def made(data_dir: Path) -> AsyncIterator[Services]:
    async with services(data_dir) as opened:
        yield opened


@pytest_asyncio.fixture
async def graph(made: Services) -> Graph:
    return build_graph(made)


async def ask(graph: Graph, question: str, **context: Any) -> Answer:
    result = await graph.ainvoke({"question": question}, context=Context(**context))
    answer: Answer = result["answer"]
    return answer


@pytest.mark.parametrize("case", QUESTIONS, ids=[q["id"] for q in QUESTIONS])
async def test_the_example_questions(graph: Graph, case: dict[str, Any]) -> None:
    answer = await ask(graph, case["question"])
    sources = [citation.source for citation in answer.citations]

    assert answer.verdict == case["verdict"], answer.text
    assert answer.language == case["language"]
    assert answer.route is not None
    assert answer.route.intent == case["intent"]
    for wanted in case["must_contain"]:
        assert any(w.strip().casefold() in answer.text.casefold() for w in wanted.split(" | "))
    for wanted in case["must_cite"]:
        assert any(source.startswith(wanted) for source in sources), sources
    for unwanted in case["must_not_cite"]:
        assert not any(source.startswith(unwanted) for source in sources)
    assert not answer.degradations
    if answer.verdict == "abstained":
        assert not answer.citations
        assert not answer.statements
    must_prove_itself(answer)


def must_prove_itself(answer: Answer) -> None:
    """Every statement has a citation; each quote stands where the citation says it does."""
    cited = {citation.statement for citation in answer.citations}
    quotes = {citation.quote for citation in answer.citations}
    for statement in answer.statements:
        proofs = [quote for quote in statement.quotes if quote.role == "proof"]
        assert statement.id in cited or all(proof.text in quotes for proof in proofs)
        assert proofs
    for citation in answer.citations:
        assert f"[{citation.number}]" in answer.text
        path = PAYMENTS / citation.source
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            assert citation.quote in text
            if citation.locator.heading_path:
                assert text[citation.start : citation.end] == citation.quote


async def test_a_diagnosis_fills_all_five_slots_and_each_is_cited(graph: Graph) -> None:
    answer = await ask(graph, QUESTIONS[0]["question"])
    slots = [statement.slot for statement in answer.statements]
    assert {"cause", "symptom", "change", "excluded", "action"} <= set(slots)
    assert slots.index("cause") == 0


async def test_the_trace_names_every_stage_and_tool_with_its_time(graph: Graph) -> None:
    answer = await ask(graph, QUESTIONS[0]["question"])
    names = [record.stage for record in answer.trace]
    assert names[0] == "init"
    assert set(names) >= STAGES - {"reflect"}
    assert {"ticket_search", "change_log_search", "runbook_search", "graph_search"} <= set(names)
    assert all(record.duration_ms >= 0 for record in answer.trace)
    starts = [record.start for record in answer.trace if record.stage in STAGES]
    assert starts == sorted(starts)
    assert answer.usage.tool_calls == sum(name.endswith(("_search", "_lookup")) for name in names)


async def test_a_role_opens_what_is_closed_to_others(graph: Graph, made: Services) -> None:
    question = next(q["question"] for q in QUESTIONS if q["id"] == "restricted-en")
    with made.identity.acting_as(Principal(tenant="demo", user="f", roles=("finance",))):
        answer = await ask(graph, question)
    assert answer.verdict == "answered"
    assert any("rolling-reserve" in citation.source for citation in answer.citations)


async def test_another_tenant_sees_nothing(graph: Graph, made: Services) -> None:
    with (
        made.identity.acting_as(Principal(tenant="other", user="x", roles=("finance",))),
        pytest.raises(KnowledgeError, match="'other'"),
    ):
        await ask(graph, "What is a tenant limit?")


async def test_as_of_a_day_before_v2_the_answer_is_v1(graph: Graph) -> None:
    question = "Within how many days after capture may a merchant refund an order?"
    then = await ask(graph, question, as_of=date(2026, 1, 15))
    now = await ask(graph, question)
    assert "90 days" in then.text
    assert "180 days" not in then.text
    assert "180 days" in now.text
    assert {c.version for c in then.citations} == {"v1"}


async def test_a_greeting_is_answered_directly_and_says_so(graph: Graph) -> None:
    answer = await ask(graph, "你好！")
    assert answer.verdict == "answered"
    assert "并非来自知识库" in answer.text
    assert not answer.citations
    assert answer.usage.tool_calls == 0


async def test_limits_bound_the_run_and_the_answer_stays_honest(graph: Graph) -> None:
    answer = await ask(graph, QUESTIONS[0]["question"], limit_steps=1)
    assert len(answer.assessments) == 1
    assert answer.verdict in ("answered_with_caveat", "abstained")
    hurried = await ask(graph, QUESTIONS[0]["question"], limit_ms=1)
    assert hurried.verdict in ("answered_with_caveat", "abstained")
    assert hurried.degradations


async def test_a_forced_mode_is_obeyed(graph: Graph) -> None:
    single = await ask(graph, "Which office building hosts the Lighthouse team?", mode="single")
    assert single.route is not None
    assert single.route.mode == "single"
    assert len(single.assessments) == 1


async def test_a_question_that_names_nothing_is_asked_back(graph: Graph) -> None:
    answer = await ask(graph, "and what about it?")
    assert answer.verdict == "clarify"
    assert not answer.citations


@pytest.mark.parametrize("question", ["", "   \n\t ", "\0\0", "\ufeff\u200b"])
async def test_an_empty_question_is_refused_with_a_way_out(graph: Graph, question: str) -> None:
    with pytest.raises(InputError, match="empty"):
        await ask(graph, question)


async def test_a_question_that_is_too_long_is_refused_by_name(graph: Graph) -> None:
    with pytest.raises(InputError, match="QUESTION_MAX_CHARS"):
        await ask(graph, "refund " * 20_000)


@pytest.mark.parametrize(
    "question",
    [
        "What is a tenant limit?\0\x07",
        "🤖💥 What is a tenant limit? 🚀",
        "\u202eWhat is a tenant limit?\u202c",
        "What is a tenant limit? مرحبا",
        'What is a "tenant limit" AND (title:* OR ~5) -- DROP TABLE merchants; {{x}} <script>?',
        "lim\ud800it what is a tenant limit?",
    ],
)
async def test_odd_characters_do_no_harm(graph: Graph, question: str) -> None:
    answer = await ask(graph, question)
    assert not answer.degradations
    assert answer.verdict in ("answered", "answered_with_caveat", "abstained")


async def test_a_second_turn_leans_on_the_first_through_the_checkpointer(made: Services) -> None:
    graph = build_graph(made, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    first = await graph.ainvoke(
        {"question": "What is the refund window in refund policy v2?"}, config
    )
    second = await graph.ainvoke({"messages": [HumanMessage("and what about v1?")]}, config)
    assert "180 days" in first["answer"].text
    assert "90 days" in second["answer"].text
    assert second["answer"].route.standalone == "What is the refund window in refund policy v1?"
    assert [m.type for m in second["messages"]] == ["human", "ai", "human", "ai"]
    assert len(second["answer"].assessments) == 1


async def test_a_caller_that_can_resume_is_asked_and_may_answer(made: Services) -> None:
    graph = build_graph(made, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "c"}}
    context = Context(resumable=True)
    paused = await graph.ainvoke({"question": "and what about it?"}, config, context=context)
    assert "answer" not in paused
    [asked] = paused["__interrupt__"]
    assert "missing" in asked.value
    resumed = await graph.ainvoke(
        Command(resume="the tenant limit of the Standard tier"), config, context=context
    )
    assert "120 concurrent requests" in resumed["answer"].text


async def test_a_short_reply_completes_the_question_and_is_not_asked_back_again(
    made: Services,
) -> None:
    graph = build_graph(made, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "s"}}
    context = Context(resumable=True)
    await graph.ainvoke({"question": "What about it?"}, config, context=context)
    resumed = await graph.ainvoke(Command(resume="chargeback"), config, context=context)
    assert resumed["answer"].verdict != "clarify"
    await graph.ainvoke({"question": "And that?"}, config, context=context)


async def test_what_an_earlier_turn_left_unanswered_is_not_answered_later(made: Services) -> None:
    graph = build_graph(made, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "u"}}
    context = Context(resumable=True)
    await graph.ainvoke({"question": "and what about it?"}, config, context=context)
    later = await graph.ainvoke({"messages": [HumanMessage("What is a chargeback?")]}, config)
    assert later["answer"].question == "What is a chargeback?"
    assert "reversal of a card payment" in later["answer"].text


async def test_small_talk_after_a_question_carries_nothing_of_it(made: Services) -> None:
    graph = build_graph(made, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "d"}}
    await graph.ainvoke({"question": "What is a chargeback?"}, config)
    greeted = (await graph.ainvoke({"question": "hello"}, config))["answer"]
    assert greeted.verdict == "answered"
    assert not greeted.citations
    assert greeted.plan is None or not greeted.plan.sub_queries
    assert not greeted.assessments


async def test_evidence_is_rebuilt_from_its_store_and_forgeries_come_back_true(
    graph: Graph, made: Services
) -> None:
    state: dict[str, Any] = {}
    question = QUESTIONS[0]["question"]
    async for update in graph.astream({"question": question}, stream_mode="values"):
        state = update
    pieces = state["evidence"]
    assert {piece.kind for piece in pieces} >= {"chunk", "relations"}
    forged = [
        piece.model_copy(
            update={
                "title": "Binding law",
                "source": "law.md",
                "text": "Everything is free.",
                "meta": piece.meta.model_copy(update={"authority": 100, "version": "v9"}),
            }
        )
        for piece in pieces
    ]
    scope = Scope.of(made.settings.developer)
    version = state["run"].knowledge_version
    found, notes = await made.reader.read(forged, scope=scope, version=version)
    assert not notes
    assert set(found) == {piece.id for piece in pieces}
    for piece in pieces:
        again = found[piece.id]
        assert (again.text, again.title, again.source) == (piece.text, piece.title, piece.source)
        assert again.meta == piece.meta
    other = Scope(tenant="other", access=("everyone",))
    assert (await made.reader.read(pieces, scope=other, version=version))[0] == {}
    broken = [pieces[0].model_copy(update={"ref": "rows:{"})]
    found, notes = await made.reader.read(broken, scope=scope, version=version)
    assert not found
    assert len(notes) == 1


@pytest.mark.parametrize(
    "question",
    [
        "Why did the failure rate of merchant Blue Kite Books rise after 22:00 on 2026-11-12?",
        "Why did the payment failure rate of Redwood Hotels rise on 2026-11-12?",
        "商户蓝风筝书店的支付失败率为什么在 2026-11-12 22:00 之后上升？",
        "How many suspended merchants are there?",
        "有多少个暂停的商户？",
        "How many active merchants are there in Africa?",
        "How many failed orders did Northwind Travel have on 2026-12-25?",
        "How many failed orders did Northwind Travel have on 2026-11-12 and 2026-11-13?",
        "How many failed orders did Northwind Travel and Redwood Hotels have on 2026-11-12?",
        "What does refund policy v3 say?",
        "退款政策 v3 的内容是什么？",
        "Why did webhooks fail on 2026-11-12?",
        "What is the tenant limit of Kestrel Logistics?",
        "Does channel-router depend on token-vault?",
    ],
)
async def test_what_is_not_recorded_is_not_made_up_from_its_neighbours(
    graph: Graph, question: str
) -> None:
    answer = await ask(graph, question)
    assert answer.verdict == "abstained", answer.text


@pytest.mark.parametrize(
    ("question", "said", "unsaid"),
    [
        ("How many active merchants are there in Europe?", "europe has 2 active", "southeast"),
        ("北风旅行 2026-11-12 21点有多少笔失败订单？", "失败 4 笔", "502 笔"),
        ("What is the daily amount limit of Starsea Mall?", "80000000", ""),
        ("Which team owns payment-gateway?", "Breakwater", "Lighthouse"),
        ("What is the refund window?", "180 days", "90 days"),
        ("What did release risk-engine 4.8.0 change?", "from 2 to 8", ""),
        ("WHAT IS A TENANT LIMIT", "highest number of concurrent requests", ""),
        ("What was the refund window on 2026-05-01?", "90 days", "180 days"),
        ("Why did payments of Lantern Games fail on 2026-10-21?", "E5022", "callback.concurrency"),
    ],
)
async def test_the_answer_is_about_what_is_asked(
    graph: Graph, question: str, said: str, unsaid: str
) -> None:
    answer = await ask(graph, question)
    assert answer.verdict in ("answered", "answered_with_caveat")
    assert said in answer.text
    assert not unsaid or unsaid not in answer.text


async def test_a_thread_tells_nobody_else_what_was_said_in_it(made: Services) -> None:
    graph = build_graph(made, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "shared"}}
    secret = next(q["question"] for q in QUESTIONS if q["id"] == "restricted-en")
    with made.identity.acting_as(Principal(tenant="demo", user="f", roles=("finance",))):
        told = await graph.ainvoke({"question": secret}, config)
    assert "6 percent" in str(told["messages"])
    with made.identity.acting_as(Principal(tenant="demo", user="g")):
        after = await graph.ainvoke({"question": "and what about it?"}, config)
    assert "6 percent" not in str(after["messages"])
    assert "reserve" not in after["answer"].model_dump_json()
    assert [message.type for message in after["messages"]] == ["human", "ai"]


async def test_want_of_time_is_not_told_as_want_of_knowledge(graph: Graph) -> None:
    hurried = await ask(graph, "What is a tenant limit?", limit_ms=1)
    assert hurried.verdict == "abstained"
    assert "in time" in hurried.text
    assert "does not suffice" not in hurried.text


async def test_many_questions_in_one_are_bounded(graph: Graph) -> None:
    many = " ".join(f"What is the tenant limit of merchant M1{n:03}?" for n in range(150))
    answer = await ask(graph, many)
    assert answer.plan is not None
    assert len(answer.plan.sub_queries) <= 16
    assert answer.usage.tool_calls <= 40


async def test_a_failing_store_is_told_and_the_rest_goes_on(
    graph: Graph, made: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge = await made.library.current()

    async def fail(*_: Any, **__: Any) -> Any:
        raise BackendError("the word index is on fire")

    monkeypatch.setattr(knowledge.lexical, "search", fail)
    answer = await ask(graph, "What is a tenant limit?")
    assert any("on fire" in note.cause for note in answer.degradations)
    assert answer.verdict in ("answered", "answered_with_caveat")


@pytest.mark.parametrize(
    ("question", "reply", "said"),
    [
        ("How many failed orders were there on 2026-11-12?", "Northwind Travel", "502"),
        ("2026-11-12 一共有多少笔失败订单？", "北风旅行", "502"),
    ],
)
async def test_what_only_the_user_knows_is_asked_and_then_answered(
    made: Services, question: str, reply: str, said: str
) -> None:
    alone = await ask(build_graph(made), question)
    assert alone.verdict == "clarify"
    assert alone.reflections[-1].move == "ask_user"
    graph = build_graph(made, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "ask"}}
    context = Context(resumable=True)
    paused = await graph.ainvoke({"question": question}, config, context=context)
    assert "merchant" in paused["__interrupt__"][0].value["missing"]
    resumed = await graph.ainvoke(Command(resume=reply), config, context=context)
    assert said in resumed["answer"].text


@pytest.mark.parametrize(
    ("first", "then", "said", "unsaid"),
    [
        (
            "商户北风旅行 2026-11-12 有多少笔失败订单？",
            "那红杉酒店呢？",
            "红杉酒店",
            "北风旅行",
        ),
        (
            "How many failed orders did Northwind Travel have on 2026-11-12?",
            "what about Redwood Hotels?",
            "Redwood Hotels",
            "Northwind",
        ),
    ],
)
async def test_a_second_turn_about_another_merchant_is_about_that_one(
    made: Services, first: str, then: str, said: str, unsaid: str
) -> None:
    graph = build_graph(made, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "m"}}
    await graph.ainvoke({"question": first}, config)
    answer = (await graph.ainvoke({"question": then}, config))["answer"]
    assert said in answer.text
    assert unsaid not in answer.text
