"""`agentic-rag ingest`: loads files, folders or declared sources and publishes them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cli.output import execute, notes, people, print_json
from cli.session import services
from domain.identity import EVERYONE
from domain.knowledge import DocType
from ingest.declaration import SourceOptions
from ingest.loader import load
from ingest.report import LoadReport, OnProgress
from ingest.report import Progress as Step


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders; sources.yaml is obeyed.")],
    tenant: Annotated[str, typer.Option(help="Whose knowledge; default DEV_TENANT.")] = "",
    doc_type: Annotated[DocType, typer.Option(help="Kind of document.")] = "document",
    access: Annotated[
        list[str] | None, typer.Option(help="Access tag a reader needs; repeat it.")
    ] = None,
    authority: Annotated[int, typer.Option(min=0, max=100, help="0 hearsay to 100 binding.")] = 50,
    domain: Annotated[str, typer.Option(help="Business domain.")] = "",
    product: Annotated[str, typer.Option(help="Product.")] = "",
    version: Annotated[str, typer.Option(help="Version of the documents.")] = "",
    language: Annotated[str, typer.Option(help="zh, en, ...; detected where not given.")] = "",
    draft: Annotated[bool, typer.Option("--draft", help="Do not publish.")] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Start from nothing, e.g. for another embedder.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Load documents; what was loaded before and is unchanged costs nothing."""
    stated = {"domain": domain, "product": product, "version": version, "language": language}
    given = {name: value for name, value in stated.items() if value}
    plain = not (tenant or access or given) and doc_type == "document" and authority == 50
    options = SourceOptions(
        tenant=tenant,
        doc_type=doc_type,
        access=tuple(access or (EVERYONE,)),
        authority=authority,
        **given,
    )

    async def work() -> int:
        async with services("ingest") as made:
            with _progress(as_json) as progress:
                report = await load(
                    paths,
                    home=made.library.home,
                    embedder=await made.library.embedder(),
                    settings=made.settings,
                    options=None if plain else options,
                    draft=draft,
                    rebuild=rebuild,
                    progress=progress,
                    clock=made.clock,
                )
            for warning in made.library.warnings:
                notes.print(f"[yellow]warning[/] {escape(warning)}")
        if as_json:
            print_json(report)
        else:
            _show(report)
        nothing = report.loaded + report.unchanged + report.replaced == 0
        return 1 if nothing and report.quarantined else 0

    execute(work, as_json=as_json)


@contextmanager
def _progress(quiet: bool) -> Iterator[OnProgress]:
    columns = (
        TextColumn("loading"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("{task.fields[source]}"),
    )  # fmt: skip
    with Progress(*columns, console=notes, disable=quiet, transient=True) as bar:
        task = bar.add_task("load", total=None, source="")

        def update(step: Step) -> None:
            bar.update(task, completed=step.done, total=step.total, source=escape(step.source))

        yield update


def _show(report: LoadReport) -> None:
    people.print(
        f"loaded {report.loaded}, replaced {report.replaced}, unchanged {report.unchanged}, "
        f"removed {report.removed}, quarantined {len(report.quarantined)} "
        f"({report.chunks} chunks, {report.seconds:.1f} s)"
    )
    for entry in report.quarantined:
        people.print(f"[yellow]quarantined[/] {escape(entry.source)}: {escape(entry.reason)}")
    for source in report.skipped:
        people.print(f"[dim]skipped {escape(source)}: its format is not read[/]")
    if report.draft:
        people.print(f"draft {report.version}: not published")
    elif report.changed:
        people.print(f"published version {report.version}")
    else:
        people.print("nothing changed")
