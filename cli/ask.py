"""`agentic-rag ask`: one question through the whole graph."""

import asyncio
from datetime import date, datetime
from typing import Annotated, Any

import typer
from rich.markup import escape

from cli.output import execute, notes, people, print_json
from cli.session import principal, services
from domain.answer import Answer
from domain.errors import InputError, StoreBusy
from domain.identity import Principal
from domain.plan import Mode
from domain.run import Context
from graph.build import build_graph
from graph.services import Services
from server.client import ask_server, health

_VERDICTS = {
    "answered": "green",
    "answered_with_caveat": "yellow",
    "conflict": "yellow",
    "clarify": "cyan",
    "abstained": "magenta",
    "refused": "red",
}


def ask(
    question: Annotated[str, typer.Argument(help="The question, in Chinese or English.")],
    tenant: Annotated[str, typer.Option(help="Whose knowledge; default DEV_TENANT.")] = "",
    user: Annotated[str, typer.Option(help="Who asks; default DEV_USER.")] = "",
    role: Annotated[list[str] | None, typer.Option(help="A role held; repeat it.")] = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Judge validity on this day, not today."),
    ] = None,
    mode: Annotated[Mode | None, typer.Option(help="Force a mode.")] = None,
    limit_steps: Annotated[int | None, typer.Option(min=1, help="At most so many rounds.")] = None,
    limit_ms: Annotated[int | None, typer.Option(min=1, help="At most so many ms.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the Answer as JSON.")] = False,
) -> None:
    """Ask a question and get an answer whose every statement is cited and checked."""
    context = Context(
        mode=mode,
        as_of=as_of.date() if as_of else None,
        limit_steps=limit_steps,
        limit_ms=limit_ms,
    )

    async def work() -> int:
        async with services("ask") as made:
            who = principal(made.settings, tenant, user, role or [])
            answer = await _answer(made, question, context, who)
        if as_json:
            print_json(answer)
        else:
            show(answer)
        return 0

    execute(work, as_json=as_json)


async def _answer(made: Services, question: str, context: Context, who: Principal) -> Answer:
    """Ask in this process, or the server that has the knowledge open."""
    try:
        with made.identity.acting_as(who):
            result = await build_graph(made).ainvoke({"question": question}, context=context)
    except StoreBusy:
        holder = await asyncio.to_thread(made.library.home.holder)
        if holder is None or not holder.url:
            raise
        await _must_answer_as(holder.url, who, made.settings.developer)
        return await _forward(holder.url, question, context)
    answer: Answer = result["answer"]
    return answer


async def _must_answer_as(url: str, who: Principal, developer: Principal) -> None:
    """A server answers as its own developer: asked for anybody else, nothing is sent to it."""
    if who != developer:
        raise InputError(
            f"the knowledge is open in the server at {url}, which answers only as its DEV_TENANT "
            "and DEV_USER; ask without --tenant, --user and --role, or stop the server"
        )
    tenant = (await health(url)).get("tenant")
    if tenant != who.tenant:
        raise InputError(
            f"the server at {url} answers for another tenant than {who.tenant!r}; stop it, or "
            "start it with that DEV_TENANT"
        )


async def _forward(url: str, question: str, context: Context) -> Answer:
    notes.print(f"the knowledge is open in the server at {url}; asking there", style="dim")
    payload: dict[str, Any] = {
        "question": question,
        "mode": context.mode,
        "as_of": context.as_of.isoformat() if isinstance(context.as_of, date) else None,
        "limit_steps": context.limit_steps,
        "limit_ms": context.limit_ms,
    }
    stated = {key: value for key, value in payload.items() if value is not None}
    return Answer.model_validate(await ask_server(url, stated))


def show(answer: Answer) -> None:
    """The answer for people: verdict, text, boundary, sources, and where the time went."""
    colour = _VERDICTS[answer.verdict]
    people.print(f"[{colour}]{answer.verdict}[/]  confidence {answer.confidence:.2f}")
    people.print(escape(answer.text))
    if answer.boundary:
        people.print(f"[yellow]{escape(answer.boundary)}[/]")
    for citation in answer.citations:
        place = " > ".join(citation.locator.heading_path)
        page = f", page {citation.locator.page}" if citation.locator.page else ""
        version = f", {citation.version}" if citation.version else ""
        people.print(
            f"[dim]\\[{citation.number}] {escape(citation.source)}{version}{page}"
            f"{' — ' + escape(place) if place else ''}[/]"
        )
    for degradation in answer.degradations:
        people.print(f"[yellow]degraded[/] {degradation.stage}: {escape(degradation.cause)}")
    stages = ", ".join(f"{r.stage} {r.duration_ms:.0f}" for r in answer.trace)
    people.print(f"[dim]ms by stage: {stages}[/]")
