"""What any vector store has to do; here the embedded one."""

import threading
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from backends.dense.edge import EdgeDenseStore
from backends.embed.base import Vectors
from domain.errors import BackendError, KnowledgeError, StoreBusy
from domain.identity import Filter, Scope
from domain.visibility import visible
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

DIMENSION = 8


def unit(count: int, seed: int = 0) -> Vectors:
    raw = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return raw / np.linalg.norm(raw, axis=1, keepdims=True)


@pytest.fixture
async def dense(tmp_path: Path) -> AsyncIterator[EdgeDenseStore]:
    store = await EdgeDenseStore.open(tmp_path / "dense", DIMENSION)
    yield store
    await store.close()


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(stored=chunks, scope=scopes)
async def test_finds_exactly_what_the_scope_shows(dense, stored, scope):
    vectors = unit(len(stored))
    await dense.upsert(stored, vectors)
    try:
        hits = await dense.search(unit(1, 7)[0], scope=scope, limit=50)
    finally:
        await dense.delete([each.id for each in stored])
    expected = {each.id for each in stored if visible(each.meta, scope, each.source)}
    assert {hit.chunk_id for hit in hits} == expected
    assert len(hits) == len(expected)


async def test_every_operator_on_every_field_means_the_same_here(dense):
    stored = varied()
    await dense.upsert(stored, unit(len(stored)))
    for scope in narrow_scopes():
        hits = {hit.chunk_id for hit in await dense.search(unit(1)[0], scope=scope, limit=50)}
        expected = {each.id for each in stored if visible(each.meta, scope, each.source)}
        assert hits == expected, scope


async def test_nearest_first_with_the_cosine_as_score(dense):
    vectors = unit(20)
    await dense.upsert([chunk(f"c{n}") for n in range(20)], vectors)
    query = unit(1, 3)[0]
    hits = await dense.search(query, scope=ANYONE, limit=5)
    cosines = vectors @ query
    best = np.argsort(-cosines)[:5]
    assert [hit.chunk_id for hit in hits] == [f"c{n}" for n in best]
    assert [hit.score for hit in hits] == pytest.approx(cosines[best].tolist(), abs=1e-5)


async def test_a_filter_never_makes_the_result_short(dense):
    near = unit(1)[0]
    crowd = np.repeat(near[None, :], 300, axis=0)
    await dense.upsert([chunk(f"c{n}", of_tenant("t1", region="eu")) for n in range(300)], crowd)
    await dense.upsert(
        [chunk(f"far{n}", of_tenant("t1", region="cn")) for n in range(10)], unit(10, 5)
    )
    scope = ANYONE.narrowed((Filter(field="region", value="cn"),))
    assert len(await dense.search(near, scope=scope, limit=10)) == 10


async def test_a_tenant_never_sees_another_s(dense):
    await dense.upsert([chunk("mine"), chunk("theirs", of_tenant("t2"))], unit(2))
    hits = await dense.search(unit(1)[0], scope=ANYONE, limit=10)
    assert [hit.chunk_id for hit in hits] == ["mine"]


async def test_writing_again_replaces_vector_and_metadata(dense):
    first, second = unit(2)
    await dense.upsert([chunk("c")], first[None, :])
    await dense.upsert([chunk("c", of_tenant("t2"))], second[None, :])
    assert await dense.count() == 1
    assert await dense.search(second, scope=ANYONE, limit=5) == []
    other = Scope(tenant="t2", access=("everyone",))
    (hit,) = await dense.search(second, scope=other, limit=5)
    assert hit.score == pytest.approx(1.0, abs=1e-5)


async def test_deleting_removes_only_what_is_named(dense):
    await dense.upsert([chunk("a"), chunk("b")], unit(2))
    await dense.delete(["a", "never there"])
    await dense.delete([])
    assert [hit.chunk_id for hit in await dense.search(unit(1)[0], scope=ANYONE, limit=5)] == ["b"]


async def test_an_empty_store_and_a_limit_of_zero_find_nothing(dense):
    assert await dense.search(unit(1)[0], scope=ANYONE, limit=5) == []
    await dense.upsert([chunk("a")], unit(1))
    assert await dense.search(unit(1)[0], scope=ANYONE, limit=0) == []


async def test_a_later_process_finds_what_was_written(tmp_path):
    vectors = unit(3)
    store = await EdgeDenseStore.open(tmp_path / "d", DIMENSION)
    await store.upsert([chunk(f"编号 {n}/😀") for n in range(3)], vectors)
    await store.close()
    again = await EdgeDenseStore.open(tmp_path / "d", DIMENSION)
    try:
        (hit,) = await again.search(vectors[1], scope=ANYONE, limit=1)
        assert hit.chunk_id == "编号 1/😀"
    finally:
        await again.close()


async def test_what_was_acknowledged_survives_a_killed_process(tmp_path):
    script = f"""
import asyncio, os, signal
from pathlib import Path
from backends.dense.edge import EdgeDenseStore
from tests.contract.store_cases import chunk
from tests.contract.test_dense import unit
async def main():
    store = await EdgeDenseStore.open(Path({str(tmp_path / "d")!r}), {DIMENSION})
    await store.upsert([chunk("a"), chunk("b")], unit(2))
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    killed = another_process(script)
    assert killed.returncode == -9, killed.stderr
    store = await EdgeDenseStore.open(tmp_path / "d", DIMENSION)
    try:
        assert await store.count() == 2
    finally:
        await store.close()


async def test_a_second_process_is_refused_by_name(dense, tmp_path):
    script = f"""
from pathlib import Path
from backends.dense.edge import EdgeDenseStore
EdgeDenseStore(Path({str(tmp_path / "dense")!r}), {DIMENSION})
"""
    other = another_process(script)
    assert "StoreBusy" in other.stderr
    assert str(tmp_path / "dense") in other.stderr


async def test_the_same_process_cannot_open_it_twice(dense, tmp_path):
    with pytest.raises(StoreBusy, match="in use"):
        await EdgeDenseStore.open(tmp_path / "dense", DIMENSION)


async def test_another_dimension_is_refused_with_the_way_out(tmp_path):
    store = await EdgeDenseStore.open(tmp_path / "d", DIMENSION)
    await store.upsert([chunk("a")], unit(1))
    await store.close()
    with pytest.raises(KnowledgeError, match="another embedder"):
        await EdgeDenseStore.open(tmp_path / "d", DIMENSION + 1)


async def test_a_damaged_directory_is_named(tmp_path):
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "edge_config.json").write_text("{not json")
    with pytest.raises(KnowledgeError, match="damaged"):
        await EdgeDenseStore.open(folder, DIMENSION)


async def test_a_closed_store_says_so(tmp_path):
    store = await EdgeDenseStore.open(tmp_path / "d", DIMENSION)
    await store.close()
    await store.close()
    with pytest.raises(BackendError, match="closed"):
        await store.search(unit(1)[0], scope=ANYONE, limit=1)


async def test_the_engine_works_off_the_event_loop(dense, monkeypatch):
    seen: set[int] = set()
    original = dense._write
    monkeypatch.setattr(
        dense, "_write", lambda *a: (seen.add(threading.get_ident()), original(*a))[1]
    )
    await dense.upsert([chunk("a")], unit(1))
    assert seen
    assert threading.get_ident() not in seen
