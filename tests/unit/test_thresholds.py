"""A written rule is applied to the numbers of the case."""

import pytest

from nodes.rules.thresholds import applies, comparisons

CASE = "The success rate of Atlas Card (CH05) has been 93 percent for 20 minutes: what now?"
FALL = "港湾卡（CH02）的成功率已连续 12 分钟为 85%，应该怎么办？"


@pytest.mark.parametrize(
    ("rule", "case", "met"),
    [
        ("If the success rate is below 90 percent for 10 minutes, fail over.", CASE, False),
        (
            "If it is at least 90 percent and below 97 percent for 15 minutes, shift half.",
            CASE,
            True,
        ),
        ("If it is at least 97 percent, wait.", CASE, False),
        ("如果成功率连续 10 分钟低于 90%，选择方案 C。", FALL, True),
        ("如果成功率连续 15 分钟不低于 90% 且低于 97%，选择方案 B。", FALL, False),
        ("Refunds above CNY 5,000 need approval.", "May I refund CNY 6,000?", True),
        ("Refunds above CNY 5,000 need approval.", "May I refund CNY 5,000?", False),
        ("Refunds within 90 days are free.", "Is a refund after 90 days free?", True),
        ("超过 20,000 元的退款须经审批。", "退款 20,001 元需要审批吗？", True),
    ],
)
def test_bounds_decide(rule: str, case: str, met: bool) -> None:
    assert applies(rule, case) is met


def test_what_cannot_be_compared_is_unknown() -> None:
    assert applies("Ask the on-call engineer.", CASE) is None
    assert applies("At least 98 orders are needed.", CASE) is None


def test_both_bounds_of_a_range_are_read() -> None:
    found = comparisons("at least 90 percent and below 97 percent")
    assert [(c.op, c.bound.value, c.bound.unit) for c in found] == [
        ("ge", 90, "%"),
        ("lt", 97, "%"),
    ]


BOUNDS = {
    "le": [
        "不超过",
        "不得超过",
        "不能超过",
        "不可高于",
        "不应大于",
        "不会多于",
        "未超过",
        "至多",
        "not more than",
        "no more than",
        "not greater than",
        "must not exceed",
        "cannot exceed",
        "can't be more than",
        "no longer than",
        "less than or equal to",
        "within",
    ],
    "ge": [
        "不低于",
        "不得低于",
        "不能少于",
        "不可小于",
        "不应低于",
        "不会低于",
        "至少",
        "达到",
        "not less than",
        "no fewer than",
        "not smaller than",
        "must not be below",
        "cannot be less than",
        "at least",
    ],
    "gt": ["超过", "高于", "大于", "多于", "above", "more than", "exceeds", "greater than"],
    "lt": ["低于", "少于", "小于", "不到", "未达到", "below", "less than", "fewer than"],
}


@pytest.mark.parametrize(
    ("words", "op"), [(words, op) for op, spelled in BOUNDS.items() for words in spelled]
)
def test_the_words_before_a_figure_set_its_bound(words: str, op: str) -> None:
    unit = "days" if words.isascii() else "天"
    [found] = comparisons(f"It is {words} 30 {unit}" if words.isascii() else f"期限{words}30{unit}")
    assert (found.op, found.bound.value, found.bound.unit) == (op, 30, "day")


@pytest.mark.parametrize(
    ("rule", "case"),
    [
        ("单笔退款不得超过500元。", "退款 600 元可以吗？"),
        ("单笔退款不得低于100元。", "退款 50 元可以吗？"),
        ("A refund takes not more than 30 days.", "Can it take 31 days?"),
        ("A refund is not less than CNY 100.", "May I refund CNY 50?"),
    ],
)
def test_what_a_denied_bound_forbids_does_not_meet_the_rule(rule: str, case: str) -> None:
    assert applies(rule, case) is False


@pytest.mark.parametrize(
    ("rule", "case", "met"),
    [
        ("at least 90 percent and below 97 percent", "It was 50 percent, then 99 percent.", False),
        ("at least 90 percent and below 97 percent", "It was 50 percent, then 93 percent.", True),
        ("不低于 90% 且低于 97%", "成功率先是 50%，后来是 99%。", False),
        ("不低于 90% 且低于 97%", "成功率先是 50%，后来是 93%。", True),
    ],
)
def test_one_value_has_to_lie_within_the_whole_range(rule: str, case: str, met: bool) -> None:
    assert applies(rule, case) is met
