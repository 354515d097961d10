"""A statement may commit to nothing that its quotes do not hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.text.facts import disagreements, facts

EN = "On 2026-11-12 at 21:55 release R-881 raised gateway.tenant.limit from 2 to 8 for Blue Kite."
ZH = "自 2026年7月1日起，退款期限为 180 天，手续费为 0.5%，不得超过 20,000 元。"


@pytest.mark.parametrize(
    "sentence", [EN, ZH, "The DNS records are unchanged.", "部分退款不被允许。"]
)
def test_a_sentence_agrees_with_itself(sentence: str) -> None:
    assert disagreements(sentence, sentence) == []


@pytest.mark.parametrize(
    ("statement", "quote", "kind"),
    [
        (EN.replace("to 8", "to 9"), EN, "numbers 9"),
        (EN.replace("11-12", "11-13"), EN, "dates 2026-11-13"),
        (EN.replace("21:55", "22:55"), EN, "times 22:55"),
        (EN.replace("R-881", "R-882"), EN, "identifiers r-882"),
        (EN.replace("Blue Kite", "Red Kite"), EN, "name Red Kite"),
        (EN.replace("raised", "has not raised"), EN, "negation"),
        (ZH.replace("180", "90"), ZH, "numbers 90"),
        (ZH.replace("7月", "8月"), ZH, "dates 2026-08-01"),
        (ZH.replace("0.5%", "0.5"), ZH, "numbers 0.5"),
        (ZH.replace("不得超过", "可以达到"), ZH, "negation"),
    ],
)
def test_a_changed_fact_is_noticed(statement: str, quote: str, kind: str) -> None:
    assert kind in disagreements(statement, quote)


def test_notation_does_not_matter() -> None:
    assert disagreements("It is 20,000 since 2026-07-01.", "自 2026 年 7 月 1 日起为 20000。") == []
    assert disagreements("三十天内", "30 天内") == []
    assert facts("1 July 2026").dates == facts("2026/7/1").dates == {"2026-07-01"}


def test_the_quote_may_say_more() -> None:
    assert disagreements("The limit is 120.", "The limit is 120, since 2024 it was 80.") == []


@given(st.text(max_size=200))
def test_any_text_agrees_with_itself(text: str) -> None:
    assert disagreements(text, text) == []
