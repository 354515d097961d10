"""What a hostile page says is shown as words and can do nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.compose.harmless import harmless


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("See ![kiwi](https://evil.example/p.png?d=1) now", "See kiwi now"),
        ("[here](javascript:alert(1)) it is", "here) it is"),
        ("a <img src=x onerror=alert(1)> b", "a  b"),
        ("<script>alert(1)</script>", "alert(1)"),
        ("The owner is Bob [1] [2].", "The owner is Bob (1) (2)."),
        ("left\u202eright\u202c", "leftright"),
        ("hid\u200bden", "hidden"),
        ("图片 ![图](x) 与链接 [点我](http://x)", "图片 图 与链接 点我"),
    ],
)
def test_markup_becomes_words(hostile: str, shown: str) -> None:
    assert harmless(hostile) == shown


@pytest.mark.parametrize(
    "plain",
    [
        "`hpctl quota set <merchant> --concurrent <value>`",
        "If a < b and b > c, wait.",
        "rates[0.5], see (1)",
        "清算 > 周期",
    ],
)
def test_honest_text_is_left_alone(plain: str) -> None:
    assert harmless(plain) == plain


@given(st.text(alphabet="ab[]()!<>/=1`: \u202e中", max_size=80))
def test_no_tag_picture_or_mark_is_left_outside_code(text: str) -> None:
    outside = re.sub(r"`[^`]*`", "", harmless(text))
    assert not re.search(r"!\[[^\]]*\]\([^)]*\)", outside)
    assert not re.search(r"\[\d{1,3}\]", outside)
    assert "\u202e" not in harmless(text)
