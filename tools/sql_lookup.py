"""Counts and figures from the relational database, through named templates only."""

from dataclasses import dataclass
from typing import Literal

from langchain_core.tools import BaseTool
from pydantic import Field, JsonValue

from backends.library import Library
from backends.relational.base import SqlValue
from domain.errors import InputError
from domain.evidence import ToolResult
from domain.identity import Scope
from tools.base import ToolArgs, make_tool
from tools.evidence import from_rows


class SqlArgs(ToolArgs):
    """A template by name with its typed parameters; there is no way to pass SQL."""

    template: str = Field(min_length=1, max_length=100)
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    language: Literal["zh", "en"] = "en"


@dataclass(frozen=True)
class SqlLookup:
    """Runs a template of the caller's tenant and renders the rows as sentences."""

    library: Library

    async def __call__(self, args: SqlArgs, scope: Scope) -> ToolResult:
        relational = (await self.library.version(args.version)).relational
        templates = {t.name: t for t in await relational.templates(scope=scope)}
        if args.template not in templates:
            raise InputError(f"there is no SQL template {args.template!r} that you may run")
        rows = await relational.run(args.template, _scalars(args.parameters), scope=scope)
        evidence = from_rows(
            rows, templates[args.template], tenant=scope.tenant, language=args.language
        )
        return ToolResult(tool="sql_lookup", evidence=(evidence,) if evidence else ())


def _scalars(parameters: dict[str, JsonValue]) -> dict[str, SqlValue]:
    plain: dict[str, SqlValue] = {}
    for name, value in parameters.items():
        if isinstance(value, list | dict):
            raise InputError(f"the parameter {name} must be a single value")
        plain[name] = value
    return plain


def sql_tool(library: Library) -> BaseTool:
    """The relational templates as a LangChain tool."""
    return make_tool(
        "sql_lookup",
        "Counts and figures from the database through named, read-only templates",
        SqlArgs,
        SqlLookup(library),
    )
