"""The one gate that every tool call passes: ACL, schema, scope, time."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

from domain.errors import AccessDenied, AgenticRagError, BackendError, InputError
from domain.evidence import ToolResult
from domain.identity import Filter, Principal, Scope
from domain.plan import ToolCall
from runtime.policy import Policies


@dataclass(frozen=True)
class Guard:
    """Calls tools on behalf of a principal, never wider than that principal may see."""

    tools: Mapping[str, BaseTool]
    policies: Policies

    def allowed(self, principal: Principal) -> list[BaseTool]:
        """The tools this principal may call, by name."""
        policy = self.policies.of(principal.tenant)
        return [self.tools[name] for name in sorted(self.tools) if policy.allows(name, principal)]

    async def call(
        self,
        call: ToolCall,
        *,
        principal: Principal,
        scope: Scope,
        filters: tuple[Filter, ...] = (),
        timeout_s: float,
        version: str = "",
    ) -> ToolResult:
        """Run one call against that version of the knowledge (empty: the current one).

        Raises AccessDenied for a tool that is unknown or not this caller's, InputError for
        arguments outside the schema, BackendError when the time is up or the tool breaks.
        """
        tool = self.tools.get(call.tool)
        if tool is None or not self.policies.of(principal.tenant).allows(call.tool, principal):
            raise AccessDenied(f"the tool {call.tool} is not available to you; ask the operator")
        if scope.tenant != principal.tenant or not set(scope.access) <= set(principal.access):
            raise AccessDenied(f"the scope of {call.tool} is wider than the caller's")
        injected = {"scope": scope.narrowed(filters), "version": version, "timeout_s": timeout_s}
        arguments = {**call.arguments, **injected}
        _must_fit(tool, arguments)
        try:
            async with asyncio.timeout(timeout_s):
                return await self._invoke(tool, arguments)
        except TimeoutError:
            raise BackendError(
                f"{call.tool} did not answer within {timeout_s * 1000:.0f} ms"
            ) from None

    async def _invoke(self, tool: BaseTool, arguments: dict[str, Any]) -> ToolResult:
        try:
            message = await tool.ainvoke(
                {"type": "tool_call", "id": tool.name, "name": tool.name, "args": arguments}
            )
        except AgenticRagError:
            raise
        except Exception as error:
            # Its text may hold what this caller must not see; the cause stays for the log.
            raise BackendError(f"{tool.name} failed: {type(error).__name__}") from error
        if not isinstance(message, ToolMessage) or not isinstance(message.artifact, ToolResult):
            raise BackendError(f"{tool.name} returned no result")
        return message.artifact


def _must_fit(tool: BaseTool, arguments: dict[str, Any]) -> None:
    """Before the call: a ValidationError inside the tool is the tool's fault, not the caller's."""
    schema = tool.args_schema
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        raise BackendError(f"{tool.name} declares no arguments to check")
    try:
        schema.model_validate(arguments)
    except ValidationError as error:
        fields = ", ".join(str(item["loc"][-1]) for item in error.errors() if item["loc"])
        raise InputError(f"{tool.name} cannot be called with these arguments: {fields}") from None
