"""Tools that leave the organisation's knowledge: closed by default, read-only, bounded."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from domain.errors import AccessDenied, BackendError, ConfigurationError, InputError
from domain.identity import Principal, Scope
from domain.plan import ToolCall
from runtime.policy import Policies, Policy, load_policies
from tests.unit.states import evidence
from tests.unit.wire import serving
from tools.api_call import api_tool, read_operations
from tools.guard import Guard
from tools.reader import OutsideCache
from tools.web_search import web_tool

ALICE = Principal(tenant="demo", user="alice")
SPEC = """
openapi: 3.0.0
paths:
  /orders/{id}:
    get:
      operationId: getOrder
      parameters:
        - {name: id, in: path, required: true}
        - {name: fields, in: query}
    delete:
      operationId: deleteOrder
  /orders:
    get: {operationId: listOrders}
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "openapi.yaml"
    path.write_text(SPEC)
    return path


async def call(spec: Path, url: str, operation: str, parameters: dict[str, Any]) -> Any:
    policies = Policies(
        {"demo": Policy(outside_tools=("api_call",), api_operations=("getOrder", "deleteOrder"))}
    )
    async with httpx.AsyncClient() as client:
        tool = api_tool(spec, url, policies, OutsideCache(), client)
        return await Guard({"api_call": tool}, policies).call(
            ToolCall(tool="api_call", arguments={"operation": operation, "parameters": parameters}),
            principal=ALICE,
            scope=Scope.of(ALICE),
            timeout_s=5,
        )


async def test_an_allowed_operation_brings_its_body_as_evidence(spec: Path) -> None:
    with serving(lambda path, query: (200, {"path": path, "query": query})) as (url, _):
        result = await call(spec, url, "getOrder", {"id": "A/1 ?", "fields": "state"})
    [evidence] = result.evidence
    assert evidence.source == "api:getOrder"
    assert '"path": "/orders/A%2F1%20%3F"' in evidence.text
    assert evidence.meta.tenant == "demo"


@pytest.mark.parametrize("operation", ["listOrders", "deleteOrder", "nope"])
async def test_other_operations_are_refused_before_any_request(spec: Path, operation: str) -> None:
    with serving(lambda *_: (200, {})) as (url, seen), pytest.raises(AccessDenied):
        await call(spec, url, operation, {})
    assert not seen


async def test_unknown_and_missing_parameters_are_named(spec: Path) -> None:
    with pytest.raises(InputError, match="id"):
        await call(spec, "http://127.0.0.1:1", "getOrder", {})
    with pytest.raises(InputError, match="evil"):
        await call(spec, "http://127.0.0.1:1", "getOrder", {"id": "1", "evil": "x"})


@pytest.mark.parametrize("status", [404, 500, 302])
async def test_a_failing_operation_is_told_without_its_body(spec: Path, status: int) -> None:
    with (
        serving(lambda *_: (status, {"secret": "token"})) as (url, _),
        pytest.raises(BackendError) as raised,
    ):
        await call(spec, url, "getOrder", {"id": "1"})
    assert "getOrder failed" in str(raised.value)
    assert "token" not in str(raised.value)


async def test_an_endless_answer_is_refused(spec: Path) -> None:
    with serving(lambda *_: (200, b"x" * 300_000)) as (url, _), pytest.raises(BackendError):
        await call(spec, url, "getOrder", {"id": "1"})


def test_a_broken_openapi_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "openapi.yaml"
    path.write_text("paths: [")
    with pytest.raises(ConfigurationError, match=r"openapi\.yaml"):
        read_operations(path)


async def search(url: str, policy: Policy, cache: OutsideCache) -> Any:
    guard = Guard({"web_search": web_tool(url, cache)}, Policies({"demo": policy}))
    return await guard.call(
        ToolCall(tool="web_search", arguments={"query": "payment limits"}),
        principal=ALICE,
        scope=Scope.of(ALICE),
        timeout_s=10,
    )


OPEN = Policy(outside_tools=("web_search",))
FOUND = {
    "results": [
        {
            "title": "Limits", "url": "https://x.example", "content": "A snippet.",
            "engines": ["x"], "category": "general",
        }
    ],
    "answers": [], "infoboxes": [], "suggestions": [], "corrections": [], "query": "q",
    "number_of_results": 1, "unresponsive_engines": [],
}  # fmt: skip


async def test_web_pages_come_as_evidence_of_the_lowest_authority() -> None:
    cache = OutsideCache()
    with serving(lambda *_: (200, FOUND)) as (url, seen):
        result = await search(url, OPEN, cache)
    [evidence] = result.evidence
    assert evidence.text == "A snippet."
    assert evidence.meta.authority == 10
    assert "payment" in seen[0]
    assert cache.get("demo", evidence.id) == evidence
    assert cache.get("other", evidence.id) is None


async def test_web_search_is_off_unless_the_policy_allows_it() -> None:
    with serving(lambda *_: (200, FOUND)) as (url, seen), pytest.raises(AccessDenied):
        await search(url, Policy(), OutsideCache())
    assert not seen


async def test_a_broken_search_server_is_a_backend_error() -> None:
    with (
        serving(lambda *_: (500, {})) as (url, _),
        pytest.raises(BackendError, match="SEARXNG_URL"),
    ):
        await search(url, OPEN, OutsideCache())


def test_the_outside_cache_forgets_the_oldest_of_a_tenant_first() -> None:
    cache = OutsideCache(bytes_per_tenant=25)
    for tenant in ("demo", "other"):
        for name in ("a", "b", "c"):
            cache.put(tenant, evidence(name * 10, id=name))
    for tenant in ("demo", "other"):
        assert [cache.get(tenant, name) is not None for name in "abc"] == [False, True, True]


def test_a_policy_file_is_read_strictly(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("tenants:\n  demo:\n    outside_tools: [web_search]\n")
    policies = load_policies(path)
    assert policies.of("demo").allows("web_search", ALICE)
    assert not policies.of("other").allows("web_search", ALICE)
    path.write_text("tenants:\n  demo:\n    outside_tool: [web_search]\n")
    with pytest.raises(ConfigurationError, match="outside_tool"):
        load_policies(path)
    assert load_policies(None).of("demo") == Policy()
