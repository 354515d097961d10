"""What a relational source must offer: named, typed, read-only templates."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from domain.base import Model
from domain.identity import EVERYONE, Scope

SqlValue = str | int | float | None


class Parameter(Model):
    """A typed hole in a template. `entity_type` names the kind of entity that fills it.

    `choices` closes the set of values; `default` makes it optional.
    """

    name: str
    type: Literal["string", "integer", "number", "date", "datetime"]
    description: str = ""
    entity_type: str = ""
    choices: tuple[str, ...] = ()
    default: SqlValue = None
    required: bool = True


class Template(Model):
    """A named query. `questions` are examples by which a question is matched to it.

    `summary` renders one row as a sentence per language, `{column}` by `{column}`.
    """

    name: str
    description: dict[str, str]
    questions: tuple[str, ...]
    sql: str
    parameters: tuple[Parameter, ...] = ()
    access: tuple[str, ...] = (EVERYONE,)
    summary: dict[str, str] = {}
    max_rows: int = 50


class Rows(Model):
    """A result: `rows[i][j]` is the value of `columns[j]`. `truncated` says that more matched."""

    template: str
    parameters: dict[str, SqlValue]
    columns: tuple[str, ...]
    rows: tuple[tuple[SqlValue, ...], ...]
    truncated: bool = False


class Relational(Protocol):
    """Runs templates of a tenant. Nothing blocks the event loop."""

    async def build(self, tenant: str, script: str, templates: Sequence[Template]) -> None:
        """Replace the database of a tenant by what a SQL script makes, with its templates.

        An empty script without templates leaves none. Raises IngestError naming the script's
        or the template's fault; what was there before stays then.
        """
        ...

    async def templates(self, *, scope: Scope) -> list[Template]:
        """The templates that the scope may run, by name."""
        ...

    async def run(self, template: str, parameters: Mapping[str, SqlValue], *, scope: Scope) -> Rows:
        """Run one template.

        Raises InputError for an unknown template, an unknown, missing or ill-typed
        parameter; AccessDenied where the scope may not run it; BackendError where the
        database fails or is late.
        """
        ...

    async def close(self) -> None:
        """Let go of the database."""
        ...
