"""Intent, identifiers, versions, periods and follow-ups, in both languages."""

from datetime import UTC, datetime, timedelta

import pytest

from domain.run import Turn
from nodes.rules.followup import leans_on_context, standalone
from nodes.rules.identifiers import identifiers, version_values, versions
from nodes.rules.intent import chatter, clauses, intent_of
from nodes.rules.periods import clock_times, period

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("What changed between refund policy v1 and v2?", "version_difference"),
        ("v1 和 v2 有什么区别？", "version_difference"),
        ("Why did the failure rate of Acme rise after 22:00?", "diagnosis"),
        ("支付失败率为什么上升？", "diagnosis"),
        ("这次故障的根因是什么？", "diagnosis"),
        ("Should we fail over to the backup channel?", "decision"),
        ("应该等待、切换一半还是全部切换？", "decision"),
        ("How many orders failed yesterday?", "statistics"),
        ("东南亚有多少个活跃商户？", "statistics"),
        ("Which team owns the service quota-registry?", "relation"),
        ("token-vault 由哪个团队负责？", "relation"),
        ("How do I rotate a certificate?", "how_to"),
        ("如何修改清算周期？", "how_to"),
        ("What is a tenant limit?", "definition"),
        ("什么是清算批次？", "definition"),
        ("When does the settlement batch close for weekly merchants?", "fact"),
    ],
)
def test_intent(question: str, intent: str) -> None:
    assert chatter(question) is None
    assert intent_of(question) == intent


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("hello", "greeting"),
        ("你好！", "greeting"),
        ("What can you do?", "capability"),
        ("你能做什么？", "capability"),
        ("Write me a poem about rain", "out_of_scope"),
        ("给我讲个笑话", "out_of_scope"),
        ("Hello, what can you do for me?", "capability"),
        ("What do you know?", "capability"),
        ("您可以回答哪些问题？", "capability"),
        ("你能帮我做什么呢？", "capability"),
        ("Tell me a joke, please!", "out_of_scope"),
        ("What is the weather like in Paris tomorrow?", "out_of_scope"),
        ("北京明天天气如何？", "out_of_scope"),
    ],
)
def test_small_talk_needs_no_retrieval(question: str, intent: str) -> None:
    assert chatter(question) == intent


def test_a_question_that_only_begins_like_small_talk_is_a_question() -> None:
    assert chatter("Hello, what is the refund window?") is None
    assert chatter("你好，退款期限是多少？") is None


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about merchant Orion Mall's refund limit?",
        "Who are you calling when the gateway is down?",
        "What can you do about a chargeback?",
        "How can you help a merchant get a refund?",
        "What questions can you answer about refunds?",
        "What is the limit of the weather forecast API today?",
        "Tell me a story about why refunds fail",
        "你能帮什么商户退款？",
        "你们能做什么退款？",
        "怎么用你们的退款接口？",
        "你是什么版本的网关？",
        "天气预报接口的限额是多少？",
        "今天天气接口为什么超时？",
        "讲个笑话接口的限额是多少？",
        "彩票号码接口由谁负责？",
    ],
)
def test_a_question_that_only_holds_words_of_small_talk_is_a_question(question: str) -> None:
    assert chatter(question) is None


def test_several_questions_in_one_are_told_apart() -> None:
    assert len(clauses("What changed between v1 and v2, and which one is in force?")) == 2
    assert len(clauses("退款政策有什么变化？现在执行的是哪一版？")) == 2
    assert len(clauses("What is the fee for cards and wallets?")) == 1


def test_versions_in_all_their_spellings() -> None:
    assert versions("What changed between policy v1 and version 2.1?") == ("1", "2.1")
    assert versions("第二版和第一版") == ("2", "1")
    assert versions("Is 3.2.1 supported?") == ("3.2.1",)
    assert versions("Order 12 of merchant M1001 on 2026-11-12") == ()
    assert {"1", "v1", "1.0"} <= set(version_values("1"))


def test_identifiers_are_found_and_versions_are_none() -> None:
    found = identifiers("Why does E4291 appear on /v1/refunds for gateway.tenant.limit in v2?")
    assert found == ("E4291", "/v1/refunds", "gateway.tenant.limit")
    assert identifiers("错误码 E3007 是什么意思？") == ("E3007",)


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("after 22:00 on 2026-11-12", datetime(2026, 11, 12, 22, tzinfo=UTC), None),
        ("2026年11月12日22点之后", datetime(2026, 11, 12, 22, tzinfo=UTC), None),
        (
            "12 November 2026",
            datetime(2026, 11, 12, tzinfo=UTC),
            datetime(2026, 11, 13, tzinfo=UTC),
        ),
        ("昨天", datetime(2026, 11, 29, tzinfo=UTC), datetime(2026, 11, 30, tzinfo=UTC)),
        (
            "before 9:30 on 2026-01-02",
            datetime(2026, 1, 2, tzinfo=UTC),
            datetime(2026, 1, 2, 9, 30, tzinfo=UTC),
        ),
    ],
)
def test_periods(question: str, start: datetime, end: datetime | None) -> None:
    found = period(question, NOW)
    assert found is not None
    assert found.start == start
    if end is not None:
        assert found.end == end


DAY = datetime(2026, 11, 12, tzinfo=UTC)


def at(hour: int, minute: int = 0) -> datetime:
    return DAY + timedelta(hours=hour, minutes=minute)


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("before 14:00 on 2026-11-12", DAY, at(14)),
        ("2026-11-12 14点之前", DAY, at(14)),
        ("2026-11-12 下午3点以前", DAY, at(15)),
        ("by 3 pm on 12 November 2026", DAY, at(15)),
        ("截至2026年11月12日9点", DAY, at(9)),
        ("at 3 pm on 2026-11-12", at(15), at(24)),
        ("2026-11-12 下午3点", at(15), at(24)),
        ("2026-11-12 下午三点半", at(15, 30), at(24)),
        ("2026-11-12 上午9点起", at(9), at(24)),
        ("after 12 a.m. on 2026-11-12", at(0), at(24)),
        ("2026-11-12 凌晨12点之后", at(0), at(24)),
        ("since 8 o'clock in the evening on 2026-11-12", at(20), at(24)),
        ("2026-11-12 晚上8点之后", at(20), at(24)),
        ("between 14:00 and 15:00 on 2026-11-12", at(14), at(15)),
        ("from 9 am to 5 pm on Nov 12, 2026", at(9), at(17)),
        ("2026-11-12 14点到15点之间", at(14), at(15)),
        ("2026-11-12 14点和15点之间", at(14), at(15)),
        ("2026-11-12 14:00-15:30", at(14), at(15, 30)),
        ("between 22:00 and 02:00 on 2026-11-12", at(22), at(26)),
        ("from 2026-11-12 14:00 to 2026-11-13 15:00", at(14), at(39)),
        ("2026-11-12 14点前后", at(14), at(24)),
        ("between 2026-11-12 and 2026-11-14", DAY, at(72)),
        ("2026年11月12日到11月14日", DAY, at(72)),
        ("before 2026-11-12", None, DAY),
        ("2026年11月12日之前", None, DAY),
        ("since 2026-11-12", DAY, None),
        ("2026年11月12日以后", DAY, None),
    ],
)
def test_both_ends_of_a_period(question: str, start: datetime | None, end: datetime | None) -> None:
    found = period(question, NOW)
    assert found is not None
    assert (found.start, found.end) == (start, end)


@pytest.mark.parametrize(
    "question",
    ["The bank declined 12 orders", "升级到 v2 时失败", "快一点", "between 3 and 5 parts"],
)
def test_figures_that_only_look_like_times_are_none(question: str) -> None:
    assert period(question, NOW) is None


def test_half_days_are_told_on_the_clock_of_24_hours() -> None:
    assert clock_times("between 9 am and 3:30 p.m.") == ("09:00", "15:30")
    assert clock_times("下午3点到晚上8点半") == ("15:00", "20:30")


def test_no_time_is_no_period_and_a_bare_clock_time_is_open() -> None:
    assert period("What is a tenant limit?", NOW) is None
    bare = period("after 22:00", NOW)
    assert bare is not None
    assert bare.start is None
    assert clock_times("22点之后到 23:30") == ("22:00", "23:30")
    assert period("on 2026-02-31", NOW) is None


def turn(question: str, *, entities: tuple[str, ...] = (), language: str = "en") -> Turn:
    return Turn.model_validate(
        {"question": question, "standalone": question, "language": language, "entities": entities}
    )


def test_a_follow_up_about_another_version_asks_the_same_of_it() -> None:
    before = turn("What is the refund window in refund policy v2?")
    assert standalone("and what about v1?", [before]) == (
        "What is the refund window in refund policy v1?"
    )
    before = turn("退款政策 v2 的退款期限是多少天？", language="zh")
    assert standalone("那 v1 呢？", [before]) == "退款政策 v1 的退款期限是多少天？"


def test_a_follow_up_about_another_entity_asks_the_same_of_it() -> None:
    before = turn("Which channel does Blue Kite use?", entities=("Blue Kite",))
    assert standalone("what about Redwood Hotels?", [before]) == (
        "Which channel does Redwood Hotels use?"
    )


def test_a_question_that_stands_alone_is_left_alone() -> None:
    before = turn("What is the refund window in refund policy v2?")
    question = "How do I rotate a client certificate?"
    assert standalone(question, [before]) == question
    assert standalone("and what about v1?", []) == "and what about v1?"
    assert leans_on_context("那 v1 呢？")
    assert not leans_on_context("What is a tenant limit?")
