"""What any word index has to do; here the embedded one."""

import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.lexical.tantivy_index import TantivyStore
from domain.errors import BackendError, KnowledgeError, StoreBusy
from domain.identity import Filter, Scope
from domain.visibility import visible
from runtime.text import analyze
from tests.contract.store_cases import (
    ANYONE,
    another_process,
    chunk,
    chunks,
    narrow_scopes,
    of_tenant,
    scopes,
    varied,
)


@pytest.fixture
async def lexical(tmp_path: Path) -> AsyncIterator[TantivyStore]:
    store = await TantivyStore.open(tmp_path / "lexical")
    yield store
    await store.close()


async def found(store: TantivyStore, query: str, scope: Scope = ANYONE, limit: int = 50):
    return [hit.chunk_id for hit in await store.search(query, scope=scope, limit=limit)]


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(stored=chunks, scope=scopes)
async def test_finds_exactly_what_the_scope_shows(lexical, stored, scope):
    await lexical.upsert(stored)
    await lexical.flush()
    try:
        hits = await found(lexical, "退款 refund", scope)
        frequency = await lexical.document_frequency(["gatewai", "网关", "none"], scope=scope)
    finally:
        await lexical.delete([each.id for each in stored])
        await lexical.flush()
    expected = sorted(each.id for each in stored if visible(each.meta, scope, each.source))
    assert sorted(hits) == expected
    assert frequency == {"gatewai": len(expected), "网关": len(expected), "none": 0}


async def test_every_operator_on_every_field_means_the_same_here(lexical):
    stored = varied()
    await lexical.upsert(stored)
    await lexical.flush()
    for scope in narrow_scopes():
        hits = set(await found(lexical, "退款", scope))
        expected = {each.id for each in stored if visible(each.meta, scope, each.source)}
        assert hits == expected, scope


TEXTS = ("refund policy", "退款政策和时限", "网关限流 gateway.tenant.limit", "ORD-2031 failed")
QUERIES = ("refunds", "退款", "限流规则", "tenant limit", "2031", 'AND ( policy " * OR', "zebra")


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(st.sampled_from(TEXTS), max_size=6), query=st.sampled_from(QUERIES))
async def test_a_hit_shares_a_term_and_every_shared_term_hits(lexical, texts, query):
    stored = [chunk(f"c{n}", text=text) for n, text in enumerate(texts)]
    await lexical.upsert(stored)
    await lexical.flush()
    try:
        hits = await found(lexical, query)
    finally:
        await lexical.delete([each.id for each in stored])
        await lexical.flush()
    asked = set(analyze(query))
    assert sorted(hits) == [each.id for each in stored if asked & set(analyze(each.text))]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("退款", "zh"),
        ("政策", "zh"),
        ("refunding", "en"),
        ("REFUND", "en"),
        ("gateway.tenant.limit", "id"),
        ("tenant", "id"),
        ("E1042", "id"),
        ("1042", "id"),
        ("Ｅ１０４２", "id"),
        ("/v1/refunds", "path"),
    ],
)
async def test_words_and_identifiers_are_found_in_both_languages(lexical, query, expected):
    await lexical.upsert(
        [
            chunk("zh", text="商户的退款政策于三月生效"),
            chunk("en", text="A refund is paid within five days"),
            chunk("id", text="错误码E1042：超过gateway.tenant.limit"),
            chunk("path", text="POST /v1/refunds creates one"),
        ]
    )
    await lexical.flush()
    assert (await found(lexical, query))[0] == expected


@pytest.mark.parametrize(
    "query",
    ['AND ( " *', "body:x OR [* TO *]", "+refund -退款", "refund\0退款", "😀 refund", "a\\b'~^2",
     "refund AND NOT refund", "*", "", "   ", "\0", "😀", "\ud800 refund", "the of to", "\u202e"],
)  # fmt: skip
async def test_no_character_of_a_question_is_an_operator(lexical, query):
    await lexical.upsert([chunk("both", text="refund 退款"), chunk("other", text="unrelated")])
    await lexical.flush()
    expected = ["both"] if "refund" in query else []
    assert await found(lexical, query) == expected


async def test_a_question_of_a_hundred_thousand_characters_is_answered(lexical):
    await lexical.upsert([chunk("c", text="refund")])
    await lexical.flush()
    assert await found(lexical, "refund " + "退款网关 word " * 10_000) == ["c"]


async def test_the_title_headings_and_table_header_are_searched(lexical):
    await lexical.upsert(
        [
            chunk("t", text="x", title="Refund handbook"),
            chunk("h", text="x", heading_path=("退款", "时限")),
            chunk("c", text="| 1 | 2 |", context="Doc > Limits\n| merchant | ceiling |"),
        ]
    )
    await lexical.flush()
    assert await found(lexical, "handbook") == ["t"]
    assert await found(lexical, "时限") == ["h"]
    assert await found(lexical, "ceiling") == ["c"]


async def test_a_title_that_says_it_beats_a_passing_mention(lexical):
    filler = "Merchants settle every day and see the report in the console."
    await lexical.upsert(
        [
            chunk("mention", text=f"chargeback {filler}", title="Settlement"),
            chunk("about", text=f"chargeback {filler}", title="Chargeback"),
        ]
    )
    await lexical.flush()
    assert await found(lexical, "chargeback") == ["about", "mention"]


async def test_a_tenant_never_sees_another_s(lexical):
    await lexical.upsert([chunk("mine"), chunk("theirs", of_tenant("t2"))])
    await lexical.flush()
    assert await found(lexical, "refund") == ["mine"]


async def test_a_filter_never_makes_the_result_short(lexical):
    await lexical.upsert(
        [chunk(f"n{n}", of_tenant("t1", region="eu"), text="refund " * 5) for n in range(200)]
        + [chunk(f"f{n}", of_tenant("t1", region="cn"), text="refund of rest") for n in range(10)]
    )
    await lexical.flush()
    scope = ANYONE.narrowed((Filter(field="region", value="cn"),))
    assert len(await found(lexical, "refund", scope, limit=10)) == 10


async def test_writing_again_replaces_and_nothing_shows_before_the_flush(lexical):
    await lexical.upsert([chunk("c", text="refund")])
    await lexical.flush()
    await lexical.upsert([chunk("c", text="chargeback")])
    assert await found(lexical, "chargeback") == []
    await lexical.flush()
    assert await found(lexical, "refund") == []
    assert await found(lexical, "chargeback") == ["c"]
    assert await lexical.count() == 1


async def test_deleting_removes_only_what_is_named(lexical):
    await lexical.upsert([chunk("a"), chunk("b")])
    await lexical.delete(["a", "never there"])
    await lexical.delete([])
    await lexical.flush()
    assert await found(lexical, "refund") == ["b"]


async def test_a_later_process_finds_what_was_written(tmp_path):
    store = await TantivyStore.open(tmp_path / "l")
    await store.upsert([chunk("编号 1/😀\0", text="退款")])
    await store.close()
    again = await TantivyStore.open(tmp_path / "l")
    try:
        assert await found(again, "退款") == ["编号 1/😀\0"]
    finally:
        await again.close()


async def test_what_was_flushed_survives_a_killed_process(tmp_path):
    script = f"""
import asyncio, os, signal
from pathlib import Path
from backends.lexical.tantivy_index import TantivyStore
from tests.contract.store_cases import chunk
async def main():
    store = await TantivyStore.open(Path({str(tmp_path / "l")!r}))
    await store.upsert([chunk("a")])
    await store.flush()
    await store.upsert([chunk("b")])
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    killed = another_process(script)
    assert killed.returncode == -9, killed.stderr
    store = await TantivyStore.open(tmp_path / "l")
    try:
        assert await found(store, "refund") == ["a"]
    finally:
        await store.close()


async def test_a_second_process_is_refused_by_name(lexical, tmp_path):
    script = f"""
from pathlib import Path
from backends.lexical.tantivy_index import TantivyStore
TantivyStore(Path({str(tmp_path / "lexical")!r}))
"""
    other = another_process(script)
    assert "StoreBusy" in other.stderr
    assert str(tmp_path / "lexical") in other.stderr


async def test_the_same_process_cannot_open_it_twice(lexical, tmp_path):
    with pytest.raises(StoreBusy, match="in use"):
        await TantivyStore.open(tmp_path / "lexical")


async def test_a_damaged_directory_is_named(tmp_path):
    folder = tmp_path / "l"
    folder.mkdir()
    (folder / "meta.json").write_text("{not json")
    with pytest.raises(KnowledgeError, match="damaged"):
        await TantivyStore.open(folder)


async def test_a_closed_store_says_so(tmp_path):
    store = await TantivyStore.open(tmp_path / "l")
    await store.close()
    await store.close()
    with pytest.raises(BackendError, match="closed"):
        await store.search("refund", scope=ANYONE, limit=1)


async def test_the_engine_works_off_the_event_loop(lexical, monkeypatch):
    seen: set[int] = set()
    original = lexical._find
    monkeypatch.setattr(
        lexical, "_find", lambda *a: (seen.add(threading.get_ident()), original(*a))[1]
    )
    await found(lexical, "refund")
    assert seen
    assert threading.get_ident() not in seen
