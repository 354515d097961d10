"""What every tool shares: its name, its strict arguments, and what no model can see or choose."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool
from pydantic import BaseModel, ConfigDict

from domain.evidence import ToolResult
from domain.identity import Scope

ArgsT = TypeVar("ArgsT", bound="ToolArgs")
Body = Callable[[ArgsT, Scope], Awaitable[ToolResult]]


class ToolArgs(BaseModel):
    """Base of all argument schemas: closed, so that an invented argument is an error.

    The guard injects the rest: `scope`, the knowledge `version` the run is bound to (empty:
    the current one) and how long the call may take. `tool_call_schema`, which a model sees,
    leaves them out.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    scope: Annotated[Scope, InjectedToolArg]
    version: Annotated[str, InjectedToolArg] = ""
    timeout_s: Annotated[float | None, InjectedToolArg] = None


def make_tool(name: str, description: str, schema: type[ArgsT], body: Body[ArgsT]) -> BaseTool:
    """A LangChain tool whose artifact is the ToolResult and whose content is a short count."""

    async def call(**arguments: Any) -> tuple[str, ToolResult]:
        args = schema.model_validate(arguments)
        result = await body(args, args.scope)
        return result.note or f"{result.count} found", result

    return StructuredTool.from_function(
        coroutine=call,
        name=name,
        description=description,
        args_schema=schema,
        infer_schema=False,
        response_format="content_and_artifact",
    )
