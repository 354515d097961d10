"""How commands print: one JSON object, or text for people; errors in one line with the way out."""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape

from domain.errors import AgenticRagError

people = Console(stderr=False, soft_wrap=True, highlight=False)
"""Standard output, for people."""

notes = Console(stderr=True, soft_wrap=True, highlight=False)
"""Standard error: progress and errors, so that standard output stays machine-readable."""


def print_json(value: BaseModel | dict[str, Any]) -> None:
    """Exactly one JSON object on standard output."""
    body = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    sys.stdout.write(json.dumps(body, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def fail(error: AgenticRagError, as_json: bool) -> NoReturn:
    """Say what went wrong and leave with the error's exit code."""
    if as_json:
        print_json({"error": type(error).__name__, "message": str(error)})
    else:
        notes.print(f"[bold red]error[/]: {escape(str(error))}")
    raise SystemExit(error.exit_code)


def execute(work: Callable[[], Coroutine[Any, Any, int]], *, as_json: bool) -> None:
    """Run a command's coroutine; its result is the exit code.

    Errors of this program become one line. Ctrl-C leaves with 130, a closed pipe with 141.
    """
    try:
        code = asyncio.run(work())
    except AgenticRagError as error:
        fail(error, as_json)
    except KeyboardInterrupt:
        notes.print("stopped; nothing that was there is lost")
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
    raise SystemExit(code)
