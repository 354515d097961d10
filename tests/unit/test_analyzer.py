"""What becomes of a text before it is indexed, asked or compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.text import analyze, content_terms, detect, question_language

HAN = "退款支付商户网关限流失败率上升原因策略版本生效日期租户订单回调并发"


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("ORD-2031", {"ord", "2031"}),
        ("E1042", {"1042"}),
        ("gateway.tenant.limit", {"gatewai", "tenant", "limit"}),
        ("/v1/refunds", {"v1", "refund"}),
        ("snake_case_name", {"snake", "case", "name"}),
        ("v2", {"2"}),
        ("21:55", {"21", "55"}),
        ("3.2.1", {"3", "2", "1"}),
        ("C++", set()),
        ("C#", set()),
    ],
)
@pytest.mark.parametrize("frame", ["{}", "see {}.", "请看{}的说明", "({}),", "“{}”？"])
def test_an_identifier_stays_whole_and_gives_its_parts(identifier, parts, frame):
    terms = analyze(frame.format(identifier))
    assert identifier.lower() in terms
    assert parts <= set(terms)


def test_humps_are_parts():
    terms = analyze("maxRefundAmount HTTPServer")
    assert {"max", "refund", "amount", "http", "server"} <= set(terms)
    assert set(analyze("MAXREFUNDAMOUNT")) & set(terms)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("refunds", "Refunded"),
        ("ＥＤＣ２０２４", "edc2024"),
        ("José", "jose"),
        ("1,000", "1000"),
        ("merchant's", "merchants"),
        ("refund\0policy", "refund policy"),
        ("策略", "策略"),
        ("ﬁle", "file"),
    ],
)
def test_spellings_of_the_same_meet(one, other):
    assert analyze(one) == analyze(other)


@given(st.text(HAN, min_size=2, max_size=2), st.text(HAN, max_size=6), st.text(HAN, max_size=6))
def test_a_chinese_word_of_two_characters_is_found_whatever_stands_around_it(word, before, after):
    assert set(analyze(word)) & set(analyze(before + word + after))


@given(st.text())
def test_any_text_gives_clean_terms(text):
    terms = analyze(text)
    assert all(term and not any(char.isspace() for char in term) for term in terms)
    assert all(len(term) <= 64 and "\0" not in term for term in terms)
    assert set(content_terms(text)) <= set(terms)


@given(st.text(), st.text())
def test_a_line_break_separates(one, other):
    assert analyze(f"{one}\n{other}") == analyze(one) + analyze(other)


def test_content_leaves_out_what_carries_no_topic_in_both_languages():
    assert content_terms("What is the refund policy for the merchants?") == [
        "refund",
        "polici",
        "merchant",
    ]
    assert content_terms("请问退款策略是什么？") == ["退款", "策略"]
    assert content_terms("refund, refunds and REFUND") == ["refund"]


def test_a_run_without_end_is_no_term():
    assert analyze("A" * 10_000) == []
    assert analyze("a1" * 5_000 + " refund")[-1] == "refund"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", ""),
        ("😀 123", ""),
        ("The gateway limits each tenant to 200 calls.", "en"),
        ("Refund policy", "en"),
        ("网关对每个租户限流。", "zh"),
        ("调用 gateway.tenant.limit 接口时返回 E1042，表示超过租户限流阈值。", "zh"),
        ("The page 退款策略 explains how refunds are paid back to the merchant.", "en"),
        ("これは返金ポリシーの説明です。", "ja"),
        ("환불 정책은 다음과 같습니다.", "ko"),
        ("Как настроить платежный шлюз для возвратов", "ru"),
        ("Bonjour, je voudrais savoir comment configurer la passerelle de paiement", "fr"),
    ],
)
def test_the_language_of_a_text(text, language):
    assert detect(text) == language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What does 退款策略 mean?", "en"),
        ("退款策略 v1 和 v2 有什么区别？", "zh"),
        ("refund policy v1 and v2 的区别是什么", "zh"),
        ("gateway.tenant.limit 是多少？", "zh"),
        ("How do I configure the Worker group?", "en"),
        ("商户失败率", "zh"),
        ("E1042", "en"),
        ("", "en"),
    ],
)
def test_the_language_to_answer_in(question, language):
    assert question_language(question) == language
