"""Versions of the knowledge: whole or not at all, whatever happens meanwhile."""

import asyncio
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import backends.versions
from backends.holder import Holder
from backends.knowledge import Knowledge, KnowledgeHome
from backends.sparse import copy_tree
from domain.errors import KnowledgeError, StoreBusy
from domain.identity import Scope
from domain.knowledge import Chunk, Document, Metadata

ANYONE = Scope(tenant="t1", access=("everyone",))
ROOT = Path(__file__).parents[2]


class StoppedClock:
    def now(self) -> datetime:
        return datetime(2026, 11, 30, 21, 55, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


class Embedder:
    """Nothing is embedded here; only who embeds matters."""

    def __init__(self, fingerprint: str = "model-a", dimension: int = 4) -> None:
        self.fingerprint = fingerprint
        self.dimension = dimension

    async def embed_query(self, text: str) -> np.ndarray:
        raise NotImplementedError

    async def embed_passages(self, texts: object) -> np.ndarray:
        raise NotImplementedError

    async def close(self) -> None: ...


def numbered() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"{next(numbers):06d}ffff"


EMBEDDER = Embedder()


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "my data"


@pytest.fixture
def home(data_dir: Path) -> KnowledgeHome:
    return KnowledgeHome(data_dir, StoppedClock(), new_id=numbered())


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with v1 published, made once: making a vector store costs seconds of disk time."""
    folder = tmp_path_factory.mktemp("template")
    asyncio.run(publish(KnowledgeHome(folder, StoppedClock(), new_id=lambda: "0first"), "v1"))
    return folder


@pytest.fixture
def first(home: KnowledgeHome, data_dir: Path, template: Path) -> str:
    """The id of v1, published in the home."""
    copy_tree(template, data_dir)
    version = home.current()
    assert version is not None
    return version


async def add(knowledge: Knowledge, name: str) -> None:
    text = f"退款政策 refund {name}"
    meta = Metadata(tenant="t1")
    common = {"source": f"{name}.md", "title": name, "text": text, "meta": meta}
    document = Document(id=name, collection="c", content_hash=name, **common)
    chunk = Chunk(
        id=f"{name}/0", document_id=name, ordinal=0, section="s", start=0, end=len(text), **common
    )
    await knowledge.catalog.replace(document, [chunk])
    await knowledge.dense.upsert([chunk], np.eye(1, 4, dtype=np.float32))
    await knowledge.lexical.upsert([chunk])


async def publish(home: KnowledgeHome, *names: str) -> str:
    async with home.drafting(EMBEDDER) as draft:
        for name in names:
            await add(draft, name)
        return await home.publish(draft)


async def sources(home: KnowledgeHome) -> list[str]:
    knowledge = await home.open(EMBEDDER)
    documents = await knowledge.catalog.documents(scope=ANYONE)
    hits = await knowledge.lexical.search("refund", scope=ANYONE, limit=9)
    near = await knowledge.dense.search(np.eye(1, 4, dtype=np.float32)[0], scope=ANYONE, limit=9)
    await knowledge.close()
    assert len(documents) == len(hits) == len(near)
    return [document.id for document in documents]


def versions(data_dir: Path) -> list[str]:
    return sorted(path.name for path in (data_dir / "versions").iterdir())


async def test_nothing_yet_says_how_to_begin(home):
    assert home.current() is None
    with pytest.raises(KnowledgeError, match=r"no knowledge in .*my data.*agentic-rag ingest PATH"):
        await home.open(EMBEDDER)
    assert home.holder() is None


async def test_what_is_published_can_be_opened(home, data_dir):
    version = await publish(home, "v1")
    assert version == home.current() == "20261130T215500000000Z-000001"
    assert await sources(home) == ["v1"]
    manifest = json.loads((data_dir / "versions" / version / "manifest.json").read_text())
    assert manifest["created"].startswith("2026-11-30T21:55")
    assert (manifest["fingerprint"], manifest["dimension"]) == ("model-a", 4)
    assert (manifest["documents"], manifest["chunks"]) == (1, 1)


async def test_a_draft_goes_on_from_the_published_version(home, first):
    await publish(home, "v2")
    assert await sources(home) == ["v1", "v2"]


async def test_an_open_version_does_not_change_while_another_is_published(home, first, data_dir):
    old = await home.open(EMBEDDER)
    for name in ("v2", "v3", "v4"):
        last = await publish(home, name)
    assert first in versions(data_dir)
    assert [d.id for d in await old.catalog.documents(scope=ANYONE)] == ["v1"]
    assert len(await old.lexical.search("refund", scope=ANYONE, limit=9)) == 1
    new = await home.open(EMBEDDER)
    assert (old.version, new.version) == (first, last)
    await old.close()
    await new.close()
    await publish(home, "v5")
    assert first not in versions(data_dir)


async def test_the_version_before_is_kept_for_a_rollback(home, first, data_dir):
    published = [first, await publish(home, "v2"), await publish(home, "v3")]
    assert versions(data_dir) == published[1:]
    await home.switch(published[1])
    assert await sources(home) == ["v1", "v2"]
    with pytest.raises(KnowledgeError, match=published[0]):
        await home.switch(published[0])
    assert home.current() == published[1]


async def test_a_discarded_draft_leaves_nothing(home, first, data_dir):
    draft = await home.draft(EMBEDDER)
    await add(draft, "v2")
    await home.discard(draft)
    await home.discard(draft)
    assert versions(data_dir) == [first]
    assert await sources(home) == ["v1"]
    with pytest.raises(KnowledgeError, match="no open draft"):
        await home.publish(draft)


async def test_an_error_while_drafting_discards(home, first, data_dir):

    async def load() -> None:
        async with home.drafting(EMBEDDER) as draft:
            await add(draft, "v2")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await load()
    assert versions(data_dir) == [first]
    await publish(home, "v3")


async def test_a_kept_draft_is_complete_but_not_current(home, first, data_dir):
    draft = await home.draft(EMBEDDER)
    await add(draft, "v2")
    kept = await home.keep_draft(draft)
    assert (home.current(), home.kept_draft()) == (first, kept)
    assert await sources(home) == ["v1"]
    await publish(home, "v3")
    assert kept in versions(data_dir)
    await home.switch(kept)
    assert await sources(home) == ["v1", "v2"]


@pytest.mark.parametrize("other", [Embedder("model-b"), Embedder("model-a", 8)])
async def test_another_embedder_is_refused_with_the_way_out(home, first, other):
    named = rf"model-a \(4 dim.*{other.fingerprint} \({other.dimension} dim.*--rebuild.*old one"
    with pytest.raises(KnowledgeError, match=named):
        await home.open(other)
    with pytest.raises(KnowledgeError, match=named):
        await home.draft(other)
    async with home.drafting(other, rebuild=True) as draft:
        assert await draft.catalog.count() == (0, 0)
        await home.publish(draft)
    await (await home.open(other)).close()


async def test_a_draft_that_does_not_fit_together_is_not_published(home, first):
    draft = await home.draft(EMBEDDER)
    await add(draft, "v2")
    await draft.dense.delete(["v2/0"])
    with pytest.raises(KnowledgeError, match="catalog 2, dense 1, lexical 2"):
        await home.publish(draft)
    assert home.current() == first
    assert await sources(home) == ["v1"]


async def test_one_draft_at_a_time(home, first, data_dir):
    draft = await home.draft(EMBEDDER)
    with pytest.raises(StoreBusy, match=rf"agentic-rag ingest \(process {os.getpid()}\)"):
        await KnowledgeHome(data_dir, StoppedClock()).draft(EMBEDDER)
    await home.discard(draft)


async def test_the_holder_is_named_and_can_be_found(home, first, data_dir):
    elsewhere = KnowledgeHome(data_dir, StoppedClock())
    knowledge = await home.open(EMBEDDER, name="服务器", url="http://127.0.0.1:2024")
    expected = Holder(os.getpid(), "服务器", "http://127.0.0.1:2024")
    assert elsewhere.holder() == home.holder() == expected
    with pytest.raises(StoreBusy, match=rf"服务器 \(process {os.getpid()}, http://127"):
        await elsewhere.open(EMBEDDER)
    await publish(elsewhere, "v2")
    await knowledge.close()
    await knowledge.close()
    assert elsewhere.holder() is None
    assert await sources(elsewhere) == ["v1", "v2"]


async def test_what_a_dead_process_left_is_no_obstacle(home, first, data_dir):
    (data_dir / "holder.lock").write_text('{"pid": 1, "name": "gone", "url": "http://x"}')
    (data_dir / "ingest.lock").write_bytes(b"\xff garbage")
    assert home.holder() is None
    assert await sources(home) == ["v1"]
    await publish(home, "v2")


def damage_none(version: Path) -> None:
    shutil.rmtree(version)


def damage_manifest(version: Path) -> None:
    (version / "manifest.json").write_bytes(b"\xff{ garbage")


def damage_foreign(version: Path) -> None:
    manifest = json.loads((version / "manifest.json").read_text())
    manifest["version"] = "20200101T000000000000Z-1"
    (version / "manifest.json").write_text(json.dumps(manifest))


def damage_incomplete(version: Path) -> None:
    (version / "manifest.json").unlink()


def damage_part(version: Path) -> None:
    shutil.rmtree(version / "lexical")


def damage_catalog(version: Path) -> None:
    os.truncate(version / "catalog.sqlite", 5_000)


def damage_counts(version: Path) -> None:
    shutil.rmtree(version / "dense")
    (version / "dense").mkdir()


def damage_lexical(version: Path) -> None:
    (version / "lexical" / "meta.json").write_bytes(b"garbage")


def damage_dense(version: Path) -> None:
    (version / "dense" / "edge_config.json").write_bytes(b"garbage")


@pytest.mark.parametrize(
    "damage",
    [
        damage_none,
        damage_manifest,
        damage_foreign,
        damage_incomplete,
        damage_part,
        damage_catalog,
        damage_counts,
        damage_lexical,
        damage_dense,
    ],
)
async def test_damage_is_named_with_the_way_out(home, first, data_dir, damage):
    version = data_dir / "versions" / first
    damage(version)
    with pytest.raises(KnowledgeError) as caught:
        await home.open(EMBEDDER)
    assert str(version) in str(caught.value)
    assert "damaged" in str(caught.value)
    assert "agentic-rag ingest PATH --rebuild" in str(caught.value)
    assert home.holder() is None


async def test_a_rebuild_repairs_damage(home, first, data_dir):
    damage_manifest(data_dir / "versions" / first)
    with pytest.raises(KnowledgeError, match="--rebuild"):
        await home.draft(EMBEDDER)
    async with home.drafting(EMBEDDER, rebuild=True) as draft:
        await add(draft, "v2")
        await home.publish(draft)
    assert await sources(home) == ["v2"]


@pytest.mark.parametrize("content", [b"", b"../../etc", b"\xff\0"])
async def test_a_damaged_pointer_is_named_and_a_rebuild_repairs_it(home, first, data_dir, content):
    (data_dir / "CURRENT").write_bytes(content)
    with pytest.raises(KnowledgeError, match=r"CURRENT is damaged.*--rebuild"):
        await home.open(EMBEDDER)
    async with home.drafting(EMBEDDER, rebuild=True) as draft:
        await home.publish(draft)
    assert await sources(home) == []
    assert first in versions(data_dir)


async def nearly_full(monkeypatch, free: int) -> None:
    usage = shutil.disk_usage("/")._replace(free=free)
    monkeypatch.setattr(backends.versions.shutil, "disk_usage", lambda path: usage)


FULL = r"disk that holds .*my data is full; the published version {} is untouched.*DATA_DIR"


async def test_a_full_disk_is_told_before_anything_is_written(home, first, data_dir, monkeypatch):
    with monkeypatch.context() as patch:
        await nearly_full(patch, 1_000_000)
        with pytest.raises(KnowledgeError, match=FULL.format(first)):
            await home.draft(EMBEDDER)
        with pytest.raises(KnowledgeError, match=FULL.format(first)):
            await home.open(EMBEDDER)
    assert versions(data_dir) == [first]
    assert await sources(home) == ["v1"]


async def test_a_disk_that_fills_up_while_drafting(home, first, data_dir):

    async def load() -> None:
        async with home.drafting(EMBEDDER) as draft:
            with draft.catalog._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA max_page_count = 1")
            for n in range(200):
                await add(draft, f"v{n + 2}")

    with pytest.raises(KnowledgeError, match=FULL.format(first)):
        await load()
    assert versions(data_dir) == [first]
    assert await sources(home) == ["v1"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
async def test_a_disk_that_fills_up_while_publishing(home, first, data_dir, monkeypatch, call):
    draft = await home.draft(EMBEDDER)
    await add(draft, "v2")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(backends.versions.os, call, full)
        with pytest.raises(KnowledgeError, match=FULL.format(first)):
            await home.publish(draft)
    assert versions(data_dir) == [first]
    assert await sources(home) == ["v1"]
    await publish(home, "v3")
    assert await sources(home) == ["v1", "v3"]


async def test_a_cancelled_draft_leaves_nothing(home, first, data_dir):
    task = asyncio.ensure_future(publish(home, "v2"))
    for _ in range(30):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert versions(data_dir) == [first]
    await publish(home, "v3")
    assert await sources(home) == ["v1", "v3"]


KILLED = """
import asyncio, sys
from pathlib import Path
from backends.knowledge import KnowledgeHome
from tests.unit.test_knowledge import EMBEDDER, StoppedClock, add

async def main():
    home = KnowledgeHome(Path(sys.argv[1]), StoppedClock())
    draft = await home.draft(EMBEDDER)
    await add(draft, "v2")
    await draft.lexical.flush()
    print("ready", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_killed_draft_leaves_the_published_version_usable(home, first, data_dir):
    process = subprocess.Popen(  # noqa: ASYNC220 - starting it blocks for no time
        [sys.executable, "-c", KILLED, str(data_dir)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process, process.stdout as output:
        assert await asyncio.to_thread(output.readline) == "ready\n"
        with pytest.raises(StoreBusy, match=f"process {process.pid}"):
            await home.draft(EMBEDDER)
        process.send_signal(signal.SIGKILL)
    assert len(versions(data_dir)) == 2
    assert await sources(home) == ["v1"]
    await publish(home, "v3")
    assert await sources(home) == ["v1", "v3"]
    assert versions(data_dir) == sorted([first, home.current()])
