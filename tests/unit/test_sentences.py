"""What may be quoted is cut at the right places."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from runtime.text.sentences import split

DOCUMENT = """---
title: Limits
---
# Gateway limits

The limit is 120 requests, e.g. for one tenant. A second sentence follows!
港湾支付不收手续费。第二句话？
A sentence that wraps
over two lines.

| Code | Meaning |
|---|---|
| E1 | too many requests |
| E2 | bad signature |

1. Open the console. Then sign in.
2. Choose the tenant
   and confirm.

```py
x = 1. + 2.
```
> A quoted line.
"""


def texts(kind: str) -> list[str]:
    return [DOCUMENT[u.start : u.end] for u in split(DOCUMENT) if u.kind == kind]


def test_sentences_of_both_languages_end_where_they_end() -> None:
    assert texts("sentence") == [
        "The limit is 120 requests, e.g. for one tenant.",
        "A second sentence follows!",
        "港湾支付不收手续费。",
        "第二句话？",
        "A sentence that wraps\nover two lines.",
        "A quoted line.",
    ]


def test_a_row_knows_its_header_and_the_rule_is_no_row() -> None:
    rows = [u for u in split(DOCUMENT) if u.kind == "row"]
    assert [DOCUMENT[u.start : u.end] for u in rows] == [
        "| E1 | too many requests |",
        "| E2 | bad signature |",
    ]
    assert all(u.header and DOCUMENT[slice(*u.header)] == "| Code | Meaning |" for u in rows)


def test_steps_keep_their_number_and_their_wrapped_lines() -> None:
    steps = [(u.number, DOCUMENT[u.start : u.end]) for u in split(DOCUMENT) if u.kind == "item"]
    assert steps == [
        (1, "Open the console."),
        (1, "Then sign in."),
        (2, "Choose the tenant\n   and confirm."),
    ]


def test_code_is_no_sentence_and_front_matter_is_nothing() -> None:
    assert texts("code") == ["x = 1. + 2."]
    assert "title: Limits" not in " ".join(DOCUMENT[u.start : u.end] for u in split(DOCUMENT))


@given(st.text(alphabet="ab .!?。；\n|-#`1) 中文\t>*", max_size=200))
def test_units_are_ordered_slices_that_never_overlap(text: str) -> None:
    units = split(text)
    assert all(0 <= u.start < u.end <= len(text) for u in units)
    assert all(a.end <= b.start for a, b in pairwise(units))
    assert all(text[u.start : u.end].strip() for u in units)
