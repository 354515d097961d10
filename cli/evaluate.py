"""`agentic-rag eval`: measures on question sets."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cli.output import execute, notes, people, print_json
from evals.retrieval import evaluate_retrieval

evaluate = typer.Typer(no_args_is_help=True, help="Measure on question sets.")


@evaluate.callback()
def _group() -> None:
    """Measure on question sets."""


@evaluate.command("retrieval")
def retrieval(
    folder: Annotated[Path, typer.Argument(help="corpus.jsonl, queries.jsonl, qrels.tsv.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Index a standard retrieval set with the product's own backends and measure each arm."""

    async def work() -> int:
        result = await evaluate_retrieval(folder)
        if as_json:
            print_json(result)
            return 0
        measures = list(next(iter(result["arms"].values())))
        table = Table("arm", *measures, box=None)
        for arm, values in result["arms"].items():
            table.add_row(arm, *(f"{values[m]:.3f}" for m in measures))
        people.print(table)
        people.print("  ".join(f"{name} {value:.1f}" for name, value in result["cost"].items()))
        return 0

    if not as_json:
        notes.print(f"indexing {folder} ...", style="dim")
    execute(work, as_json=as_json)
