"""What any catalog has to do; here the one on SQLite."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.catalog.schema import BLOCK
from backends.catalog.sqlite import SqliteCatalog
from domain.errors import KnowledgeError
from domain.identity import Filter, Scope
from domain.knowledge import Chunk, Document, Metadata, Quarantined
from domain.visibility import visible
from tests.contract.store_cases import ANYONE, metadata, of_tenant, scopes, words

PARAGRAPHS = ("Refunds take 3 days.\n", "退款需要三天。\0\n", "😀 | a | b |\n", "\u202eright\n")


def document(
    id: str = "d", text: str = "".join(PARAGRAPHS), meta: Metadata | None = None, **more: str
) -> Document:
    base = {"collection": "c", "source": f"{id}.md", "title": "标题", "content_hash": "h1"}
    return Document(**{**base, **more}, id=id, text=text, meta=meta or of_tenant("t1"))


def split(doc: Document, pieces: list[str], sections: str = "") -> list[Chunk]:
    chunks, start = [], 0
    for ordinal, piece in enumerate(pieces):
        chunks.append(
            Chunk(
                id=f"{doc.id}/{ordinal}",
                document_id=doc.id,
                source=doc.source,
                title=doc.title,
                ordinal=ordinal,
                section=sections[ordinal] if sections else "s",
                text=piece,
                start=start,
                end=start + len(piece),
                heading_path=("指南", "Refunds"),
                page=ordinal + 1,
                kind="procedure",
                context="标题",
                meta=doc.meta,
            )
        )
        start += len(piece)
    return chunks


@pytest.fixture
async def catalog(tmp_path: Path) -> AsyncIterator[SqliteCatalog]:
    catalog = SqliteCatalog(tmp_path / "a catalog?.sqlite")
    yield catalog
    await catalog.close()


async def test_gives_back_what_was_stored(catalog):
    doc = document().model_copy(update={"pages": (0, 21)})
    chunks = split(doc, list(PARAGRAPHS))
    await catalog.replace(doc, chunks)
    assert await catalog.document("d", scope=ANYONE) == doc
    assert await catalog.documents(scope=ANYONE) == [doc.model_copy(update={"text": ""})]
    assert await catalog.siblings("d/2", scope=ANYONE) == chunks
    assert await catalog.hashes("c") == {"d.md": "h1"}
    assert await catalog.count() == await catalog.count("t1") == (1, 4)
    assert await catalog.count("t2") == (0, 0)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.text(st.characters(codec="utf-8"), max_size=20),
    st.sampled_from([0, 1, BLOCK - 5, BLOCK, 2 * BLOCK]),
    st.integers(0, 30),
    st.integers(0, 30) | st.just(BLOCK + 1),
)
async def test_any_piece_is_verbatim(catalog, text, padding, start, length):
    doc = document(text="金" * padding + text + "尾巴")
    await catalog.replace(doc, [])
    start = max(0, padding - 20) + start
    found = await catalog.text("d", start, start + length, scope=ANYONE)
    inside = start + length <= len(doc.text)
    assert found == (doc.text[start : start + length] if inside else None)


async def test_a_window_stays_in_its_section(catalog):
    doc = document(text="abcdefgh")
    await catalog.replace(doc, split(doc, list(doc.text), "xxxxyyxx"))
    windows = await catalog.windows(["d/2", "d/5", "nope", "d/6"], scope=ANYONE, neighbours=3)
    assert {id: window.text for id, window in windows.items()} == {
        "d/2": "abcd",
        "d/5": "ef",
        "d/6": "gh",
    }
    assert windows["d/5"].chunk.text == "f"
    assert all(w.text == doc.text[w.start : w.end] for w in windows.values())
    near = await catalog.windows(["d/1"], scope=ANYONE, neighbours=1)
    assert near["d/1"].text == "abc"


async def test_replacing_tells_which_chunks_went(catalog):
    old, new = document(), document(text="new", content_hash="h2")
    await catalog.replace(old, split(old, list(PARAGRAPHS)))
    assert await catalog.replace(new, split(new, ["new"])) == ["d/0", "d/1", "d/2", "d/3"]
    assert await catalog.count() == (1, 1)
    assert await catalog.remove("c", "d.md") == ["d/0"]
    assert await catalog.remove("c", "d.md") == []
    assert await catalog.count() == (0, 0)
    assert await catalog.tenants() == []


async def test_a_failed_replacement_leaves_the_old_document(catalog):
    doc = document()
    chunks = split(doc, list(PARAGRAPHS))
    await catalog.replace(doc, chunks)
    twice = split(doc, ["Refunds", " take"])
    with pytest.raises(Exception, match="UNIQUE"):
        await catalog.replace(doc, [twice[0], twice[1].model_copy(update={"id": "d/0"})])
    assert await catalog.siblings("d/0", scope=ANYONE) == chunks


async def test_refuses_a_chunk_that_is_not_in_its_document(catalog):
    doc = document()
    forged = split(doc, list(PARAGRAPHS))[0].model_copy(update={"text": "Refunds take 9 days.\n"})
    with pytest.raises(ValueError, match="d/0 is no verbatim part"):
        await catalog.replace(doc, [forged])


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(metadata, words), min_size=1, max_size=6), scopes)
async def test_every_way_in_shows_exactly_the_scope(catalog, stored, scope):
    docs = [document(f"d{n}", meta=m, source=f"{s}{n}") for n, (m, s) in enumerate(stored)]
    for doc in docs:
        await catalog.replace(doc, split(doc, [doc.text]))
    try:
        ids = [f"{doc.id}/0" for doc in docs]
        listed = await catalog.documents(scope=scope)
        windows = await catalog.windows(ids, scope=scope, neighbours=1)
        texts = {doc.id: await catalog.text(doc.id, 0, 3, scope=scope) for doc in docs}
        whole = {doc.id: await catalog.document(doc.id, scope=scope) for doc in docs}
        kin = {doc.id: await catalog.siblings(f"{doc.id}/0", scope=scope) for doc in docs}
    finally:
        for doc in docs:
            await catalog.remove("c", doc.source)
    expected = {doc.id for doc in docs if visible(doc.meta, scope, doc.source)}
    assert {doc.id for doc in listed} == expected
    assert {window.chunk.document_id for window in windows.values()} == expected
    for seen in (texts, whole, kin):
        assert {id for id, found in seen.items() if found} == expected


async def test_more_ids_than_a_statement_has_room_for(catalog):
    doc = document()
    await catalog.replace(doc, split(doc, list(PARAGRAPHS)))
    ids = [f"other/{n}" for n in range(300_000)]
    assert list(await catalog.windows([*ids, "d/3"], scope=ANYONE, neighbours=0)) == ["d/3"]


async def test_a_bound_beyond_every_integer_is_only_a_bound(catalog):
    await catalog.replace(document(), [])
    for op, seen in (("lte", 1), ("gte", 0), ("ne", 1)):
        scope = ANYONE.narrowed((Filter(field="authority", op=op, value=10**30),))
        assert len(await catalog.documents(scope=scope)) == seen


async def test_quarantine_is_replaced_and_stays_with_its_tenant(catalog):
    broken = Quarantined(collection="c", source="坏.pdf", reason="需要密码")
    await catalog.quarantine("c", [broken], tenant="t1")
    await catalog.quarantine("c2", [broken.model_copy(update={"collection": "c2"})], tenant="t2")
    assert await catalog.quarantined(tenant="t1") == [broken]
    await catalog.quarantine("c", [], tenant="t1")
    assert await catalog.quarantined(tenant="t1") == []
    assert len(await catalog.quarantined(tenant="t2")) == 1


async def test_many_readers_beside_a_writer(catalog):
    docs = [document(f"d{n}") for n in range(20)]
    await asyncio.gather(*(catalog.replace(doc, split(doc, [doc.text])) for doc in docs))
    windows = [catalog.windows([f"d{n % 20}/0"], scope=ANYONE, neighbours=3) for n in range(200)]
    writes = [catalog.replace(doc, split(doc, [doc.text])) for doc in docs]
    *found, _, _ = await asyncio.gather(*windows, *writes[:2])
    assert all(len(each) == 1 for each in found)
    await asyncio.gather(*writes[2:])


async def test_a_cancelled_reader_harms_nobody(catalog):
    doc = document()
    await catalog.replace(doc, split(doc, list(PARAGRAPHS)))
    readers = [
        asyncio.ensure_future(catalog.windows(["d/0"], scope=ANYONE, neighbours=3))
        for _ in range(50)
    ]
    await asyncio.sleep(0)
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    assert len(await catalog.windows(["d/0"], scope=ANYONE, neighbours=3)) == 1


async def test_a_finished_catalog_is_one_file_that_many_may_read(tmp_path):
    path = tmp_path / "catalog.sqlite"
    writer = SqliteCatalog(path)
    await writer.replace(document(), [])
    await writer.close()
    assert [file.name for file in tmp_path.iterdir()] == ["catalog.sqlite"]
    readers = [SqliteCatalog(path, read_only=True) for _ in range(3)]
    assert [await reader.count() for reader in readers] == [(1, 0)] * 3
    with pytest.raises(Exception, match="readonly"):
        await readers[0].remove("c", "d.md")
    for reader in readers:
        await reader.close()
    assert [file.name for file in tmp_path.iterdir()] == ["catalog.sqlite"]


@pytest.mark.parametrize("content", [b"", b"garbage" * 500, b"SQLite format 3\0" + b"\1" * 4096])
async def test_a_damaged_file_is_named_with_the_way_out(tmp_path, content):
    path = tmp_path / "catalog.sqlite"
    path.write_bytes(content)
    with pytest.raises(KnowledgeError, match=r"catalog\.sqlite is not a usable.*ingest PATH"):
        SqliteCatalog(path, read_only=True)


async def test_text_is_stored_once(tmp_path):
    path = tmp_path / "catalog.sqlite"
    catalog = SqliteCatalog(path)
    doc = document(text="unmistakable words")
    await catalog.replace(doc, split(doc, ["unmistakable ", "words"]))
    await catalog.close()
    assert path.read_bytes().count(b"unmistakable") == 1


async def test_old_versions_are_seen_and_future_ones_are_not(catalog):
    await catalog.replace(
        document("new", meta=of_tenant("t1", effective_from=date(2026, 6, 2))), []
    )
    await catalog.replace(document("old", meta=of_tenant("t1", effective_to=date(2026, 1, 1))), [])
    asked = Scope(tenant="t1", access=("everyone",), as_of=date(2026, 6, 1))
    assert [doc.id for doc in await catalog.documents(scope=asked)] == ["old"]


def test_the_scope_is_in_the_index(tmp_path):
    SqliteCatalog(tmp_path / "c.sqlite")
    with sqlite3.connect(tmp_path / "c.sqlite") as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN SELECT * FROM documents WHERE tenant = 't1'"
        ).fetchall()
    assert "ix_documents_tenant" in plan[0][3]
