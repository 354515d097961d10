"""Which versions stay open while others are published or rolled back, over the real stores."""

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from backends.knowledge import KnowledgeHome
from backends.library import Library
from domain.identity import Principal, Scope
from domain.plan import ToolCall
from runtime.policy import Policies
from tests.unit.test_knowledge import ANYONE, Embedder, StoppedClock, numbered, publish
from tools.guard import Guard
from tools.knowledge import knowledge_tools


class Asked(Embedder):
    async def embed_query(self, text: str) -> np.ndarray:
        return np.eye(1, 4, dtype=np.float32)[0]


@pytest.fixture
def home(tmp_path: Path) -> KnowledgeHome:
    return KnowledgeHome(tmp_path / "data", StoppedClock(), new_id=numbered())


@pytest.fixture
async def library(home: KnowledgeHome) -> AsyncIterator[Library]:
    async def embedder() -> Asked:
        return Asked()

    library = Library(home, embedder)
    yield library
    await library.close()


async def sources(library: Library, version: str) -> list[str]:
    found = await (await library.version(version)).catalog.documents(scope=ANYONE)
    return sorted(document.id for document in found)


async def found(library: Library, version: str) -> set[str]:
    alice = Principal(tenant="t1", user="alice")
    guard = Guard({tool.name: tool for tool in knowledge_tools(library, 9)}, Policies())
    result = await guard.call(
        ToolCall(tool="knowledge_search", arguments={"query": "退款政策 refund"}),
        principal=alice,
        scope=Scope.of(alice),
        timeout_s=60,
        version=version,
    )
    assert result.degradations == ()
    assert set(result.arms) == {"dense", "lexical"}
    return {hit.chunk_id for hits in result.arms.values() for hit in hits}


async def test_a_rollback_reads_what_it_rolled_back_to_and_can_be_undone(home, library):
    a = await publish(home, "a")
    assert (await library.current()).version == a
    b = await publish(home, "b")
    assert (await library.current()).version == b
    await home.switch(a)
    assert (await library.current()).version == a
    assert await sources(library, a) == ["a"]
    assert await sources(library, b) == ["a", "b"], "a run that began on b ends on it"

    c = await publish(home, "c")
    assert (await library.current()).version == c
    assert await sources(library, a) == ["a"], "current until the last swap"
    assert (await library.version(b)).version == c, "two swaps ago: closed"
    assert await sources(library, c) == ["a", "c"]


async def test_an_older_version_opened_last_is_the_one_that_stays(home, tmp_path):
    a = await publish(home, "a")
    b = await publish(home, "b")

    async def embedder() -> Asked:
        return Asked()

    library = Library(home, embedder)
    assert (await library.current()).version == b
    await home.switch(a)
    assert (await library.current()).version == a
    c = await publish(home, "c")
    assert (await library.current()).version == c
    await home.switch(a)
    assert (await library.current()).version == a
    for version, held in ((a, ["a"]), (c, ["a", "c"])):
        assert await sources(library, version) == held
    await library.close()


async def test_a_search_keeps_to_the_version_of_its_run(home, library):
    a = await publish(home, "a")
    await library.current()
    b = await publish(home, "b")
    assert await found(library, "") == {"a/0", "b/0"}, "no version means the current one"
    assert await found(library, a) == {"a/0"}
    assert await found(library, b) == {"a/0", "b/0"}
