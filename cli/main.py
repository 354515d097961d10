"""The entry point `agentic-rag`."""

import typer

from cli.ask import ask
from cli.doctor import doctor
from cli.evaluate import evaluate
from cli.ingest import ingest
from cli.output import fail
from cli.status import status, tools
from domain.errors import AgenticRagError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A knowledge engine that proves every statement with a checked citation. "
    "Exit codes: 0 done (an abstention too), 1 a check or every file failed, 2 wrong input or "
    "settings, 3 not allowed, 4 no or damaged knowledge, 5 held by another process, "
    "6 a backend failed.",
)
app.command()(ingest)
app.command()(ask)
app.command()(tools)
app.command()(status)
app.command()(doctor)
app.add_typer(evaluate, name="eval")


def run() -> None:
    """Start the command line; an error raised while parsing is told in one line too."""
    try:
        app()
    except AgenticRagError as error:
        fail(error, as_json=False)
