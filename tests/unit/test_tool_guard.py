"""Every tool call passes one guard: who may, with what arguments, seeing what, for how long."""

import asyncio
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from pydantic import Field

from domain.errors import AccessDenied, BackendError, InputError
from domain.evidence import ToolResult
from domain.identity import Filter, Principal, Scope
from domain.plan import ToolCall
from runtime.policy import Policies, Policy
from tools.base import ToolArgs, make_tool
from tools.guard import Guard

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


def test_a_model_cannot_see_or_name_the_scope() -> None:
    schema = Recorder().tool().tool_call_schema
    assert set(schema.model_json_schema()["properties"]) == {"query", "limit"}  # type: ignore[union-attr]


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
