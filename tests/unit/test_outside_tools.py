"""Tools that leave the organisation's knowledge: closed by default, read-only, bounded."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from domain.errors import AccessDenied, BackendError, ConfigurationError, InputError
from domain.identity import Principal, Scope
from domain.plan import ToolCall
from graph.services import make_services
from runtime.policy import Policies, Policy
from runtime.settings import Settings
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


async def call(
    spec: Path,
    url: str,
    operation: str,
    parameters: dict[str, Any],
    transport: httpx.AsyncBaseTransport | None = None,
) -> Any:
    policies = Policies(
        {"demo": Policy(outside_tools=("api_call",), api_operations=("getOrder", "deleteOrder"))}
    )
    async with httpx.AsyncClient(transport=transport) as client:
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


async def test_an_endless_answer_is_refused_while_it_comes(spec: Path) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 10_000
            yield b"x" * 10_000

    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=endless()))
    with pytest.raises(BackendError, match="more than 200000 bytes"):
        await call(spec, "http://api", "getOrder", {"id": "1"}, transport)
    assert sent <= 300_000


@pytest.mark.parametrize("value", ["", " ", ".", "..", "../admin", "a/../..", "a\\..", "./x"])
async def test_a_path_value_never_leads_to_another_resource(spec: Path, value: str) -> None:
    with (
        serving(lambda *_: (200, {})) as (url, seen),
        pytest.raises(InputError, match="parameter id"),
    ):
        await call(spec, url, "getOrder", {"id": value})
    assert not seen


@pytest.mark.parametrize("value", ["...", "a.b", "..a", "v1..v2", "订单 1", "%2e%2e"])
async def test_a_path_value_with_dots_of_its_own_is_one_segment(spec: Path, value: str) -> None:
    with serving(lambda path, _: (200, {"path": path})) as (url, _):
        [evidence] = (await call(spec, url, "getOrder", {"id": value})).evidence
    assert json.loads(evidence.text)["path"] == "/orders/" + quote(value, safe="")


@pytest.mark.parametrize(
    "url", ["http://\x7f", "http://a:b:c", "ftp://x", "", "http://" + "x" * 70_000]
)
async def test_an_address_that_cannot_be_asked_is_a_failure_of_the_operation(
    spec: Path, url: str
) -> None:
    with pytest.raises(BackendError, match="the operation getOrder failed"):
        await call(spec, url, "getOrder", {"id": "1"})


async def test_the_answers_own_encoding_is_read(spec: Path) -> None:
    body, kind = "退款".encode("gb18030"), {"content-type": "text/plain; charset=gb18030"}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=body, headers=kind))
    [evidence] = (await call(spec, "http://api", "getOrder", {"id": "1"}, transport)).evidence
    assert evidence.text == "退款"


async def test_closing_the_services_closes_the_connections(spec: Path, tmp_path: Path) -> None:
    made = make_services(Settings(data_dir=tmp_path, openapi_file=spec, _env_file=None))
    assert made.client is not None
    assert not made.client.is_closed
    await made.close()
    assert made.client.is_closed


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
