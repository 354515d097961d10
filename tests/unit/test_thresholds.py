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
