"""Every tool call passes one guard: who may, with what arguments, seeing what, for how long."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from pydantic import Field, TypeAdapter

from backends.library import Library
from domain.errors import AccessDenied, BackendError, InputError, KnowledgeError
from domain.evidence import Hit, ToolResult
from domain.identity import Filter, Principal, Scope
from domain.limits import Degradation
from domain.plan import ToolCall
from nodes.retrieve import SearchTask
from nodes.search import SearchNode
from runtime.clock import SystemClock
from runtime.identity import Identity
from runtime.policy import Policies, Policy
from tests.unit.states import query, run
from tools.base import ToolArgs, make_tool
from tools.graph_search import graph_tool
from tools.guard import Guard
from tools.knowledge import knowledge_tools
from tools.sql_lookup import sql_tool

ALICE = Principal(tenant="demo", user="alice", roles=("ops",))
SCOPE = Scope.of(ALICE)


class Args(ToolArgs):
    query: str = Field(min_length=1)
    limit: int = Field(default=5, ge=1, le=10)


class Recorder:
    """A tool body that remembers what reached it."""

    def __init__(self, wait: asyncio.Event | None = None) -> None:
        self.calls: list[tuple[Args, Scope]] = []
        self._wait = wait

    async def __call__(self, args: Args, scope: Scope) -> ToolResult:
        self.calls.append((args, scope))
        if self._wait is not None:
            await self._wait.wait()
        return ToolResult(tool="probe")

    def tool(self, name: str = "probe") -> BaseTool:
        return make_tool(name, "A probe", Args, self)


def guard(recorder: Recorder, policy: Policy | None = None, name: str = "probe") -> Guard:
    return Guard({name: recorder.tool(name)}, Policies({"demo": policy or Policy()}))


async def call(guard: Guard, arguments: dict[str, Any], **changes: Any) -> ToolResult:
    name = changes.pop("name", "probe")
    given: dict[str, Any] = {"principal": ALICE, "scope": SCOPE, "timeout_s": 5.0} | changes
    return await guard.call(ToolCall(tool=name, arguments=arguments), **given)


async def test_the_scope_is_injected_and_filters_only_narrow_it() -> None:
    recorder = Recorder()
    only = Filter(field="version", op="eq", value="v1")
    await call(guard(recorder), {"query": "x"}, filters=(only,))
    [(args, scope)] = recorder.calls
    assert (args.query, args.limit) == ("x", 5)
    assert (scope.tenant, scope.filters) == ("demo", (only,))


async def test_a_model_cannot_see_or_set_what_the_guard_injects() -> None:
    recorder = Recorder()
    schema = recorder.tool().tool_call_schema
    assert set(schema.model_json_schema()["properties"]) == {"query", "limit"}  # type: ignore[union-attr]
    chosen = {"query": "x", "version": "old", "timeout_s": 9_999}
    await call(guard(recorder), chosen, version="v7", timeout_s=3.0)
    [(args, _)] = recorder.calls
    assert (args.version, args.timeout_s) == ("v7", 3.0)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"query": ""}, {"query": "x", "limit": 99}, {"query": "x", "tenant": "other"}],
    ids=["missing", "empty", "out of range", "invented"],
)
async def test_arguments_outside_the_schema_never_reach_the_tool(arguments: dict[str, Any]) -> None:
    recorder = Recorder()
    with pytest.raises(InputError, match="probe"):
        await call(guard(recorder), arguments)
    assert not recorder.calls


async def test_an_argument_named_scope_does_not_replace_the_callers() -> None:
    recorder = Recorder()
    wide = {"tenant": "other", "access": ["everyone", "finance"]}
    await call(guard(recorder), {"query": "x", "scope": wide})
    assert recorder.calls[0][1].tenant == "demo"


async def test_a_scope_wider_than_the_caller_is_refused() -> None:
    recorder = Recorder()
    for scope in (
        Scope(tenant="other", access=("everyone",)),
        Scope(tenant="demo", access=("everyone", "finance")),
    ):
        with pytest.raises(AccessDenied):
            await call(guard(recorder), {"query": "x"}, scope=scope)
    assert not recorder.calls


async def test_unknown_and_closed_tools_are_refused_alike() -> None:
    recorder = Recorder()
    closed = guard(recorder, Policy(tools={"probe": ("finance",)}))
    with pytest.raises(AccessDenied) as refused:
        await call(closed, {"query": "x"})
    with pytest.raises(AccessDenied) as unknown:
        await call(closed, {"query": "x"}, name="no_such_tool")
    assert str(refused.value).replace("probe", "") == str(unknown.value).replace("no_such_tool", "")
    assert closed.allowed(ALICE) == []
    opened = guard(recorder, Policy(tools={"probe": ("ops",)}))
    assert [tool.name for tool in opened.allowed(ALICE)] == ["probe"]


async def test_outside_tools_are_off_until_the_policy_names_them() -> None:
    recorder = Recorder()
    with pytest.raises(AccessDenied):
        await call(guard(recorder, name="web_search"), {"query": "x"}, name="web_search")
    allowed = guard(recorder, Policy(outside_tools=("web_search",)), name="web_search")
    await call(allowed, {"query": "x"}, name="web_search")
    assert len(recorder.calls) == 1


async def test_a_late_tool_is_cut_off_by_name() -> None:
    recorder = Recorder(wait=asyncio.Event())
    with pytest.raises(BackendError, match="probe did not answer within 10 ms"):
        await call(guard(recorder), {"query": "x"}, timeout_s=0.01)


class Broken(Recorder):
    """A tool body with a fault of its own."""

    def __init__(self, fault: Exception) -> None:
        super().__init__()
        self._fault = fault

    async def __call__(self, args: Args, scope: Scope) -> ToolResult:
        raise self._fault


def invalid() -> Exception:
    with pytest.raises(ValueError) as raised:
        TypeAdapter(int).validate_python("secret of another tenant")
    return raised.value


@pytest.mark.parametrize(
    "fault", [invalid(), ZeroDivisionError("secret"), OSError("secret"), TimeoutError("secret")]
)
async def test_a_fault_inside_a_tool_is_not_blamed_on_the_arguments(fault: Exception) -> None:
    with pytest.raises(BackendError) as raised:
        await call(guard(Broken(fault)), {"query": "x"})
    assert str(raised.value) == f"probe failed: {type(fault).__name__}"


async def test_an_error_of_this_program_passes_as_it_is() -> None:
    with pytest.raises(KnowledgeError, match="nothing loaded"):
        await call(guard(Broken(KnowledgeError("nothing loaded"))), {"query": "x"})


class StubLibrary:
    """Stores whose arms can be made to fail or to wait; remembers the versions asked for."""

    def __init__(self, **arms: Any) -> None:
        self.asked: list[str] = []
        self._arms = {"embed": None, "dense": "d", "lexical": "l"} | arms

    async def version(self, version: str) -> Any:
        self.asked.append(version)
        empty = SimpleNamespace(link=self._nothing, templates=self._nothing)
        return SimpleNamespace(
            dense=SimpleNamespace(search=self._dense),
            lexical=SimpleNamespace(search=self._lexical),
            entities=empty,
            relational=empty,
        )

    async def embedder(self) -> Any:
        return SimpleNamespace(embed_query=self._embed)

    async def _embed(self, text: str) -> Any:
        return await self._arm("embed")

    async def _dense(self, vector: Any, *, scope: Scope, limit: int) -> Any:
        return await self._arm("dense")

    async def _lexical(self, text: str, *, scope: Scope, limit: int) -> Any:
        return await self._arm("lexical")

    async def _nothing(self, *args: Any, **kwargs: Any) -> Any:
        return []

    async def _arm(self, name: str) -> Any:
        does = self._arms[name]
        if isinstance(does, Exception):
            raise does
        if isinstance(does, asyncio.Event):
            await does.wait()
        return [Hit(chunk_id=str(does), score=1.0)]


def searching(library: StubLibrary) -> Guard:
    opened = cast(Library, library)
    tools = [*knowledge_tools(opened, 5), graph_tool(opened), sql_tool(opened)]
    return Guard({tool.name: tool for tool in tools}, Policies())


async def searched(tool: str, library: StubLibrary, timeout_s: float = 5.0) -> Any:
    """What the tool node makes of one call in a run bound to the version v7."""
    node = SearchNode(tool, searching(library), Identity(ALICE), SystemClock())
    limits = run().limits.model_copy(update={"latency_ms": int(timeout_s * 1000)})
    task = SearchTask(
        run=run(knowledge_version="v7", started=SystemClock().monotonic(), limits=limits),
        step=1,
        sub_query=(asked := query(tool=tool)),
        call=asked.calls[0],
    )
    if tool == "sql_lookup":
        task["call"] = ToolCall(tool=tool, arguments={"template": "none"})
    return await node(task, Runtime())


@pytest.mark.parametrize("tool", sorted(searching(StubLibrary()).tools))
async def test_every_tool_reads_the_version_that_its_run_is_bound_to(tool: str) -> None:
    library = StubLibrary()
    await searched(tool, library)
    assert library.asked == ["v7"]


async def test_both_arms_are_asked_at_once() -> None:
    class Meeting(StubLibrary):
        """Each arm answers only once the other one was asked."""

        def __init__(self) -> None:
            super().__init__()
            self.there = {"dense": asyncio.Event(), "lexical": asyncio.Event()}

        async def _arm(self, name: str) -> Any:
            if name in self.there:
                self.there[name].set()
                await self.there["dense" if name == "lexical" else "lexical"].wait()
            return await super()._arm(name)

    update = await searched("knowledge_search", Meeting())
    assert update["degradations"] == ()
    assert set(update["results"][0].arms) == {"dense", "lexical"}


FAULTS = [
    ({"embed": RuntimeError("secret")}, "dense", "RuntimeError"),
    ({"dense": OSError("secret")}, "dense", "OSError"),
    ({"lexical": KnowledgeError("the index is damaged")}, "lexical", "the index is damaged"),
    ({"embed": asyncio.Event()}, "dense", "in time"),
    ({"dense": asyncio.Event()}, "dense", "in time"),
    ({"lexical": asyncio.Event()}, "lexical", "in time"),
]


@pytest.mark.parametrize(("arms", "lost", "cause"), FAULTS)
async def test_a_failed_or_late_arm_leaves_the_other_ones_result(
    arms: dict[str, Any], lost: str, cause: str
) -> None:
    late = any(isinstance(does, asyncio.Event) for does in arms.values())
    update = await searched("knowledge_search", StubLibrary(**arms), 1.0 if late else 30.0)
    [result] = update["results"]
    [kept] = {"dense", "lexical"} - {lost}
    assert {arm: len(hits) for arm, hits in result.arms.items()} == {kept: 1}
    [note] = update["degradations"]
    assert isinstance(note, Degradation)
    assert (note.stage, note.effect) == ("knowledge_search", f"{kept} arm alone")
    assert note.cause.startswith(f"{lost} arm")
    assert cause in note.cause
    assert "secret" not in note.cause


async def test_a_search_of_which_nothing_answers_has_failed() -> None:
    library = StubLibrary(embed=RuntimeError("secret"), lexical=OSError("secret"))
    with pytest.raises(BackendError, match="dense: RuntimeError; lexical: OSError"):
        await call(searching(library), {"query": "x"}, name="api_search")
