"""Chunks are verbatim, complete, and never cut where a reader would lose the meaning."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.knowledge import Chunk, Document, Metadata
from ingest.chunking import Chunker
from ingest.pieces import ChunkLimits

CHUNKER = Chunker()
SMALL = Chunker(ChunkLimits(target=120, sentence=240, procedure=400, code=400))


def document(text: str, *, title: str = "Guide", pages: tuple[int, ...] = ()) -> Document:
    return Document(
        id="d1",
        collection="demo:docs",
        source="docs/guide.md",
        title=title,
        text=text,
        content_hash="h",
        meta=Metadata(tenant="demo"),
        pages=pages,
    )


def chunks(
    text: str,
    *,
    chunker: Chunker = CHUNKER,
    body: int = 0,
    markup: bool = True,
    record: bool = False,
) -> list[Chunk]:
    return chunker.chunks(document(text), body=body, markup=markup, record=record)


def assert_sound(text: str, found: list[Chunk], body: int = 0) -> None:
    position = body
    for ordinal, chunk in enumerate(found):
        assert chunk.ordinal == ordinal
        assert chunk.start >= position
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text.strip()
        assert not text[position : chunk.start].strip()
        position = chunk.end
    assert not text[position:].strip()
    assert len({chunk.id for chunk in found}) == len(found)


LINES = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.sampled_from(
            [
                "",
                "# Title",
                "### Deep",
                "Setext",
                "===",
                "---",
                "- item",
                "  - nested",
                "1. step",
                "2. step",
                "   more",
                "> quote",
                "```",
                "~~~~",
                "    code",
                "| a | b |",
                "|---|---|",
                "<table><tr><td>x</td></tr>",
                "</table>",
                "<!-- note -->",
                "[link]: http://example.org",
                "退款政策。手续费为百分之一。",
                "A sentence. Another one! 第三句？",
            ]
        ),
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(LINES, st.booleans(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_text_is_covered_in_order_by_verbatim_slices(
    lines: list[str], markup: bool, newline: str
) -> None:
    text = newline.join(lines)
    assert_sound(text, chunks(text, chunker=SMALL, markup=markup))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=2_000))
def test_arbitrary_characters_are_covered(text: str) -> None:
    assert_sound(text, chunks(text, chunker=SMALL))


CELL = st.text(alphabet="abc 退款 12.5%", min_size=1, max_size=30).filter(str.strip)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=40), st.booleans())
def test_a_table_is_cut_between_rows_only_and_keeps_its_header(
    rows: list[tuple[str, str]], lead_in: bool
) -> None:
    body = [f"| {a} | {b} |" for a, b in rows]
    before = "The limits are as follows:\n\n" if lead_in else ""
    text = before + "\n".join(["| Channel | Limit |", "| --- | --- |", *body]) + "\n\nAfterwards."
    found = chunks(text, chunker=SMALL)
    assert_sound(text, found)
    for row in body:
        holders = [c for c in found if row in c.text.split("\n")]
        assert holders, f"the row {row!r} was cut"
        for chunk in holders:
            assert "| Channel | Limit |" in chunk.text or "Channel | Limit" in chunk.context
    if lead_in:
        assert found[0].text.startswith("The limits are as follows:\n\n| Channel")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(alphabet="ab(){}=# \t。", max_size=40), max_size=9), st.integers(0, 300))
def test_a_code_block_is_never_cut(lines: list[str], padding: int) -> None:
    code = "\n".join(["```python", *lines, "```"])
    text = f"# A\n\n{'word ' * padding}\n\n{code}\n\nThe end."
    found = chunks(text, chunker=SMALL)
    assert_sound(text, found)
    assert any(code.rstrip() in chunk.text for chunk in found)


def test_code_far_above_the_limit_is_cut_between_lines() -> None:
    lines = [f"value_{number} = compute({number})" for number in range(200)]
    found = chunks("\n".join(["```", *lines, "```"]))
    assert len(found) > 1
    assert {c.kind for c in found} == {"code"}
    assert [line for c in found for line in c.text.split("\n")][1:-1] == lines


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["Open the console.", "执行回滚命令。", "Wait"]), min_size=2, max_size=9
    )
)
def test_a_procedure_stays_whole_with_what_is_nested_in_it(steps: list[str]) -> None:
    procedure = "\n".join(
        f"{number}. {step}\n\n   ```\n   run {number}\n   ```\n"
        for number, step in enumerate(steps, 1)
    ).rstrip()
    opening = "Some words before it. " * 5
    text = f"## Recovery\n\n{opening}\n\nDo the following:\n\n{procedure}\n\nDone."
    limits = ChunkLimits(target=120, sentence=240, procedure=1_000, code=400)
    found = chunks(text, chunker=Chunker(limits))
    assert_sound(text, found)
    holder = next(c for c in found if procedure in c.text)
    assert "Do the following:\n\n1. " in holder.text
    assert holder.kind in ("procedure", "code")


def test_a_long_procedure_is_cut_between_steps_and_carries_its_lead_in() -> None:
    steps = "\n".join(f"{n}. Step {n} {'does one more thing ' * 12}" for n in range(1, 30))
    found = chunks(f"# Rollback\n\nFirst things. To roll back the gateway:\n\n{steps}\n")
    assert len(found) > 2
    for chunk in found[1:]:
        assert re.match(r"\d+\. Step", chunk.text)
        assert "To roll back the gateway:" in chunk.context
    assert "To roll back the gateway:" in found[0].text


def test_a_numbered_list_that_goes_on_after_a_code_block_is_one_procedure() -> None:
    text = (
        "# Deploy\n\n1. Build the image\n\n```\nmake image\n```\n\n2. Push the image\n\n"
        "```\nmake push\n```\n\n3. Restart\n"
    )
    small = Chunker(ChunkLimits(target=40, sentence=80, procedure=400, code=400))
    (chunk,) = chunks(text, chunker=small)
    assert chunk.kind == "procedure"
    assert chunk.text.endswith("3. Restart")


def test_an_html_table_with_blank_lines_stays_with_its_header() -> None:
    rows = "\n\n".join(f"<tr><td>E{n}</td><td>Error number {n}</td></tr>" for n in range(60))
    text = f"# Codes\n\n<table>\n<tr><th>Code</th><th>Meaning</th></tr>\n\n{rows}\n</table>\n\nEnd."
    found = chunks(text)
    assert_sound(text, found)
    assert len(found) > 2
    for chunk in found[1:-1]:
        assert chunk.text.startswith("<tr>")
        assert "Code | Meaning" in chunk.context


def test_sentences_are_not_cut_in_either_language() -> None:
    english = "The limit for merchant 4.2 is 3.5 percent, e.g. for cards. " * 60
    chinese = "商户在22:00之后的失败率上升，原因是网关限流。" * 60
    for text, ending in ((english, "."), (chinese, "。")):
        found = chunks(text)
        assert len(found) > 1
        assert all(chunk.text.endswith(ending) for chunk in found)
        assert not any(chunk.text.endswith("e.g.") for chunk in found)


def test_chinese_chunks_have_half_the_characters() -> None:
    lengths = [len(chunk.text) for chunk in chunks("退款政策规定手续费不予退还。" * 200)]
    assert 400 <= max(lengths) <= 500


def test_sections_follow_headings() -> None:
    text = (
        "# Refunds\n\n## Fees\n\nOne percent.\n\n### Cards\n\nTwo percent.\n\n## 时限\n\n七天。\n"
    )
    found = chunks(text)
    assert [c.heading_path for c in found] == [
        ("Refunds", "Fees"),
        ("Refunds", "Fees", "Cards"),
        ("Refunds", "时限"),
    ]
    assert found[0].text.startswith("# Refunds\n\n## Fees")
    assert len({c.section for c in found}) == 3
    assert found[1].context == "Guide > Refunds > Fees > Cards"


def test_small_blocks_of_one_section_are_packed() -> None:
    (chunk,) = chunks("# A\n\nOne.\n\nTwo.\n\n- three\n- four\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert chunk.text.endswith("| 1 | 2 |")


def test_a_comment_or_a_rule_is_no_chunk_of_its_own() -> None:
    found = chunks("<!-- a licence nobody asked for -->\n\n# A\n\nWords.\n\n---\n")
    assert len(found) == 1


def test_headings_in_code_and_plain_text_open_no_section() -> None:
    assert [c.heading_path for c in chunks("```\n# not a heading\n```\n")] == [()]
    assert [c.heading_path for c in chunks("# a shell comment\nls\n", markup=False)] == [()]


def test_front_matter_is_outside_the_body() -> None:
    text = "---\nversion: v2\n---\n# A\n\nWords.\n"
    body = text.index("# A")
    found = chunks(text, body=body)
    assert_sound(text, found, body)
    assert found[0].text == "# A\n\nWords."


def test_pages_are_counted_from_one() -> None:
    text = "First page. " * 100 + "\n\n" + "Second page. " * 100
    second = text.index("Second")
    found = CHUNKER.chunks(document(text, pages=(0, second)), markup=False)
    assert found[0].page == 1
    assert found[-1].page == 2


def test_ids_depend_on_tenant_source_position_and_content() -> None:
    first = chunks("# A\n\nWords.\n")[0]
    assert first.id == chunks("# A\n\nWords.\n")[0].id
    assert first.id != chunks("# A\n\nOther words.\n")[0].id
    other = document("# A\n\nWords.\n").model_copy(update={"meta": Metadata(tenant="other")})
    assert first.id != CHUNKER.chunks(other)[0].id


def test_a_record_is_of_its_own_kind() -> None:
    (chunk,) = chunks("id: TCK-1\nsummary: fails\n", markup=False, record=True)
    assert chunk.kind == "record"


@pytest.mark.parametrize("text", ["", " \n\t\n", "\x1f", "\x1c\n\n\u2003"])
def test_nothing_gives_nothing(text: str) -> None:
    assert chunks(text) == []


def test_deep_nesting_and_endless_words_are_survived() -> None:
    for text in ("> " * 3_000 + "x", "- " * 2_000 + "x", "a" * 30_000, "[" * 5_000, "退" * 9_000):
        found = chunks(text)
        assert_sound(text, found)
        assert max(len(chunk.text) for chunk in found) <= 10_000
