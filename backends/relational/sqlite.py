"""Relational data on SQLite: one read-only database a tenant, asked through templates."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from pydantic import TypeAdapter, ValidationError

from backends.relational.base import Rows, SqlValue, Template
from backends.relational.check import check
from backends.relational.parameters import bind
from backends.relational.sandbox import building, interrupt_when, reading
from domain.errors import AccessDenied, BackendError, IngestError, InputError, KnowledgeError
from domain.identity import Scope
from runtime.clock import Clock, SystemClock
from runtime.ids import stable_id

P = ParamSpec("P")
T = TypeVar("T")
_TEMPLATES = TypeAdapter(tuple[Template, ...])


class SqliteRelational:
    """Databases in a directory, each with its templates as JSON beside it.

    A query that runs longer than `timeout_s` is interrupted, as is one whose caller is
    cancelled.
    """

    def __init__(
        self, directory: Path, *, clock: Clock | None = None, timeout_s: float = 5.0
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._clock = clock or SystemClock()
        self._timeout_s = timeout_s
        self._executor = ThreadPoolExecutor(4, thread_name_prefix="relational")
        self._known: dict[str, tuple[Template, ...]] = {}

    async def build(self, tenant: str, script: str, templates: Sequence[Template]) -> None:
        await self._in_worker(self._build, tenant, script, tuple(templates))
        self._known.pop(tenant, None)

    async def templates(self, *, scope: Scope) -> list[Template]:
        declared = await self._declared(scope.tenant)
        return sorted((t for t in declared if _may_run(t, scope)), key=lambda t: t.name)

    async def run(self, template: str, parameters: Mapping[str, SqlValue], *, scope: Scope) -> Rows:
        declared = {item.name: item for item in await self._declared(scope.tenant)}
        if template not in declared:
            names = ", ".join(item.name for item in await self.templates(scope=scope))
            raise InputError(f"there is no query {template[:60]!r}; there is {names or 'none'}")
        chosen = declared[template]
        if not _may_run(chosen, scope):
            raise AccessDenied(f"the query {template!r} is not open to this caller")
        cancelled = threading.Event()
        try:
            bound = bind(chosen, parameters)
            return await self._in_worker(self._run, scope.tenant, chosen, bound, cancelled)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def close(self) -> None:
        await asyncio.to_thread(self._executor.shutdown)

    def _run(
        self,
        tenant: str,
        template: Template,
        bound: dict[str, SqlValue],
        cancelled: threading.Event,
    ) -> Rows:
        deadline = self._clock.monotonic() + self._timeout_s

        def late() -> bool:
            return cancelled.is_set() or self._clock.monotonic() > deadline

        try:
            with closing(reading(self._file(tenant, ".sqlite"))) as connection:
                interrupt_when(connection, late)
                cursor = connection.execute(template.sql, bound)
                found = cursor.fetchmany(template.max_rows + 1)
                columns = tuple(name for name, *_ in cursor.description)
        except sqlite3.Error as error:
            why = f"took longer than {self._timeout_s:g} s" if late() else f"failed: {error}"
            raise BackendError(f"the query {template.name} {why}") from error
        return Rows(
            template=template.name,
            parameters=bound,
            columns=columns,
            rows=tuple(tuple(map(_plain, row)) for row in found[: template.max_rows]),
            truncated=len(found) > template.max_rows,
        )

    def _build(self, tenant: str, script: str, templates: tuple[Template, ...]) -> None:
        database, declared = self._file(tenant, ".sqlite"), self._file(tenant, ".json")
        fresh = self._file(tenant, ".new")
        fresh.unlink(missing_ok=True)
        if not script.strip() and not templates:
            database.unlink(missing_ok=True)
            declared.unlink(missing_ok=True)
            return
        try:
            _create(fresh, script)
            with closing(reading(fresh)) as connection:
                _check_all(connection, templates)
            declared.write_bytes(_TEMPLATES.dump_json(templates, indent=2))
            os.replace(fresh, database)
        finally:
            fresh.unlink(missing_ok=True)

    async def _declared(self, tenant: str) -> tuple[Template, ...]:
        if tenant not in self._known:
            self._known[tenant] = await self._in_worker(self._read_templates, tenant)
        return self._known[tenant]

    def _read_templates(self, tenant: str) -> tuple[Template, ...]:
        path = self._file(tenant, ".json")
        try:
            return _TEMPLATES.validate_json(path.read_bytes())
        except FileNotFoundError:
            return ()
        except ValidationError as error:
            raise KnowledgeError(
                f"the SQL templates {path} are damaged. Load them again with "
                "`agentic-rag ingest PATH --rebuild`."
            ) from error

    async def _in_worker(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        work = partial(function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def _file(self, tenant: str, suffix: str) -> Path:
        return self._directory / f"{stable_id('t', tenant)}{suffix}"


def _create(path: Path, script: str) -> None:
    try:
        with closing(building(path)) as connection:
            connection.executescript(script)
            if connection.in_transaction:
                connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode=DELETE")
    except (sqlite3.Error, ValueError) as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise
        raise IngestError(f"the SQL script cannot be used: {error}") from error


def _check_all(connection: sqlite3.Connection, templates: Sequence[Template]) -> None:
    names = [template.name for template in templates]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise IngestError(f"there are several SQL templates named {min(repeated)}")
    for template in templates:
        check(connection, template)


def _may_run(template: Template, scope: Scope) -> bool:
    return not set(template.access).isdisjoint(scope.access)


def _plain(value: SqlValue | bytes) -> SqlValue:
    return f"<{len(value)} bytes>" if isinstance(value, bytes) else value
