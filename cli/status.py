"""`agentic-rag status` and `agentic-rag tools`: what is loaded, and what a caller may use."""

import asyncio
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from cli.output import execute, people, print_json
from cli.session import principal, services
from graph.services import Services


def status(
    tenant: Annotated[str, typer.Option(help="Whose knowledge; default DEV_TENANT.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show the published knowledge of a tenant: version, counts, what was not loaded."""

    async def work() -> int:
        async with services("status") as made:
            found = await _status(made, tenant or made.settings.dev_tenant)
        if as_json:
            print_json(found)
            return 0
        for name, value in found.items():
            if name != "quarantined":
                people.print(f"{name}: {escape(str(value))}")
        for entry in found["quarantined"]:
            people.print(
                f"[yellow]quarantined[/] {escape(entry['source'])}: {escape(entry['reason'])}"
            )
        return 0

    execute(work, as_json=as_json)


async def _status(made: Services, tenant: str) -> dict[str, Any]:
    knowledge = await made.library.current()
    documents, chunks = await knowledge.catalog.count(tenant)
    entities, relations = await knowledge.entities.count(tenant)
    quarantined = await knowledge.catalog.quarantined(tenant=tenant)
    return {
        "data_dir": str(made.settings.data_dir),
        "tenant": tenant,
        "version": knowledge.version,
        "draft": await asyncio.to_thread(made.library.home.kept_draft),
        "embedder": knowledge.fingerprint,
        "documents": documents,
        "chunks": chunks,
        "entities": entities,
        "relations": relations,
        "quarantined": [{"source": q.source, "reason": q.reason} for q in quarantined],
    }


def tools(
    tenant: Annotated[str, typer.Option(help="Tenant; default DEV_TENANT.")] = "",
    role: Annotated[list[str] | None, typer.Option(help="A role held; repeat it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the tools that a caller may use, with their arguments."""

    async def work() -> int:
        async with services("tools") as made:
            who = principal(made.settings, tenant, "", role or [])
            allowed = made.guard.allowed(who)
        listed: list[dict[str, Any]] = [
            {
                "name": tool.name,
                "description": tool.description,
                "arguments": _schema(tool.tool_call_schema),
            }
            for tool in allowed
        ]
        if as_json:
            print_json({"tools": listed})
            return 0
        table = Table("tool", "what it looks through", "arguments", box=None)
        for entry in listed:
            names = ", ".join(entry["arguments"].get("properties", {}))
            table.add_row(entry["name"], escape(entry["description"]), names)
        people.print(table)
        return 0

    execute(work, as_json=as_json)


def _schema(schema: Any) -> dict[str, Any]:
    found: dict[str, Any] = schema if isinstance(schema, dict) else schema.model_json_schema()
    return found
