"""Whether a template may be stored: one SELECT, every hole declared, and it runs."""

import re
import sqlite3

from backends.relational.base import Template
from domain.errors import IngestError

_COLUMN = re.compile(r"\{(\w+)\}")


def check(connection: sqlite3.Connection, template: Template) -> None:
    """Raises IngestError naming the template and its fault; `connection` can only read."""
    sql = template.sql.strip().rstrip(";")
    holes = _Holes()
    try:
        connection.execute(f"EXPLAIN {sql}", holes)
        wrapped = f"SELECT * FROM (\n{sql}\n) LIMIT 0"  # noqa: S608 - a declared template
        columns = {name for name, *_ in connection.execute(wrapped, holes).description}
    except sqlite3.Error as error:
        raise _fault(template, f"its SQL is no single SELECT that runs here: {error}") from error
    declared = {parameter.name for parameter in template.parameters}
    if undeclared := holes.names - declared:
        raise _fault(template, f"its SQL uses the undeclared parameter {min(undeclared)}")
    if unused := declared - holes.names:
        raise _fault(template, f"its SQL does not use the parameter {min(unused)}")
    for summary in template.summary.values():
        if unknown := set(_COLUMN.findall(summary)) - columns - declared:
            raise _fault(template, f"its summary names {min(unknown)}, which is no column")


class _Holes(dict[str, None]):
    """Answers NULL for every parameter and remembers which ones were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __missing__(self, name: str) -> None:
        self.names.add(name)


def _fault(template: Template, fault: str) -> IngestError:
    return IngestError(f"SQL template {template.name} cannot be used: {fault}")
