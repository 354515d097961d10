"""Read-only operations of a declared OpenAPI file: off unless the policy lists them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import yaml
from langchain_core.tools import BaseTool
from pydantic import Field, JsonValue

from domain.errors import AccessDenied, BackendError, ConfigurationError, InputError
from domain.evidence import Evidence, Locator, Scores, ToolResult
from domain.identity import Scope
from domain.knowledge import Metadata
from runtime.ids import stable_id
from runtime.policy import Policies
from tools.base import ToolArgs, make_tool
from tools.reader import OutsideCache

MAX_BYTES = 200_000


class ApiArgs(ToolArgs):
    """An operation by its `operationId` with its declared parameters."""

    operation: str = Field(min_length=1, max_length=200)
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """A GET operation: its path template and where each parameter goes."""

    id: str
    path: str
    parameters: Mapping[str, str]
    required: frozenset[str]


def read_operations(path: Path) -> dict[str, Operation]:
    """The GET operations of an OpenAPI 3 file; raises ConfigurationError naming the file."""
    try:
        body = yaml.safe_load(path.read_text(encoding="utf-8"))
        found = {}
        for route, methods in body["paths"].items():
            get = methods.get("get")
            if get is None or "operationId" not in get:
                continue
            declared = [*methods.get("parameters", []), *get.get("parameters", [])]
            found[get["operationId"]] = Operation(
                id=get["operationId"],
                path=route,
                parameters={p["name"]: p["in"] for p in declared if p["in"] in ("path", "query")},
                required=frozenset(
                    p["name"] for p in declared if p.get("required") or p["in"] == "path"
                ),
            )
        return found
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(
            f"OPENAPI_FILE {path} is no usable OpenAPI 3 file: {error!r}"
        ) from error


@dataclass(frozen=True)
class ApiCall:
    """Calls an allow-listed operation and returns the response body as evidence."""

    base_url: str
    operations: Mapping[str, Operation]
    policies: Policies
    cache: OutsideCache
    client: httpx.AsyncClient

    async def __call__(self, args: ApiArgs, scope: Scope) -> ToolResult:
        allowed = self.policies.of(scope.tenant).api_operations
        operation = self.operations.get(args.operation)
        if operation is None or args.operation not in allowed:
            raise AccessDenied(f"the operation {args.operation} is not allowed for this tenant")
        path, query = _fill(operation, args.parameters)
        body = await self._get(self.base_url.rstrip("/") + path, query, operation.id)
        evidence = self._evidence(operation, path, query, body, scope)
        self.cache.put(scope.tenant, evidence)
        return ToolResult(tool="api_call", evidence=(evidence,))

    async def _get(self, url: str, query: dict[str, str], operation: str) -> str:
        try:
            async with self.client.stream(
                "GET", url, params=query, follow_redirects=False
            ) as response:
                response.raise_for_status()
                body = await _bounded(response, operation)
                return body.decode(response.encoding or "utf-8", "replace")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise BackendError(
                f"the operation {operation} failed: {type(error).__name__}"
            ) from None

    def _evidence(
        self, operation: Operation, path: str, query: dict[str, str], body: str, scope: Scope
    ) -> Evidence:
        ref = "api:" + json.dumps([operation.id, path, query], sort_keys=True)
        return Evidence(
            id=stable_id("e", ref, body),
            kind="api",
            ref=ref,
            tool="api_call",
            source=f"api:{operation.id}",
            title=operation.id,
            text=body,
            found_end=len(body),
            chunk_kind="record",
            locator=Locator(end=len(body)),
            scores=Scores(fused=0.5, final=0.5),
            meta=Metadata(tenant=scope.tenant, authority=70),
        )


async def _bounded(response: httpx.Response, operation: str) -> bytes:
    """The body; reading stops where it is too long, so an endless one costs no memory."""
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAX_BYTES:
            raise BackendError(
                f"the operation {operation} answered with more than {MAX_BYTES} bytes"
            )
    return bytes(body)


def _fill(operation: Operation, given: dict[str, Any]) -> tuple[str, dict[str, str]]:
    unknown = set(given) - set(operation.parameters)
    missing = operation.required - set(given)
    if unknown or missing:
        names = ", ".join(sorted(unknown | missing))
        raise InputError(f"{operation.id}: unknown or missing parameters: {names}")
    path, query = operation.path, {}
    for name, value in given.items():
        if operation.parameters[name] == "path":
            path = path.replace("{" + name + "}", _segment(operation, name, str(value)))
        else:
            query[name] = str(value)
    return path, query


def _segment(operation: Operation, name: str, value: str) -> str:
    """A value as one segment of a path: one that could lead to another resource is refused.

    Many servers decode an escaped slash before they resolve `..`, so every part counts.
    """
    if not value.strip() or {".", ".."} & set(re.split(r"[/\\]", value)):
        raise InputError(f"{operation.id}: the parameter {name} is empty or leads elsewhere")
    return quote(value, safe="")


def api_tool(
    file: Path, base_url: str, policies: Policies, cache: OutsideCache, client: httpx.AsyncClient
) -> BaseTool:
    """The declared operations as one LangChain tool."""
    return make_tool(
        "api_call",
        "Live data through allow-listed read-only API operations",
        ApiArgs,
        ApiCall(base_url, read_operations(file), policies, cache, client),
    )
