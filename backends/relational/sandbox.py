"""SQLite connections that cannot do what they are not for."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

_READS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
_OUTSIDE = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}
_FORBIDDEN_FUNCTIONS = {"load_extension", "writefile", "readfile", "edit"}
_MAX_VALUE_BYTES = 1_000_000
_STEPS_BETWEEN_LOOKS = 1_000


def reading(path: Path) -> sqlite3.Connection:
    """A connection that can only read: by its mode, by a pragma and by the authorizer."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
    connection.execute("PRAGMA query_only=ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    connection.set_authorizer(_only_reads)
    return connection


def building(path: Path) -> sqlite3.Connection:
    """A connection that writes one file and can reach no other."""
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    connection.set_authorizer(_nothing_outside)
    return connection


def interrupt_when(connection: sqlite3.Connection, late: Callable[[], bool] | None) -> None:
    """Stop the statement that runs on this connection once `late` says so."""
    connection.set_progress_handler(late, _STEPS_BETWEEN_LOOKS)


def _only_reads(action: int, *names: str | None) -> int:
    if action not in _READS or _is_forbidden(action, names[1]):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _nothing_outside(action: int, *names: str | None) -> int:
    if action in _OUTSIDE or _is_forbidden(action, names[1]):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _is_forbidden(action: int, name: str | None) -> bool:
    return action == sqlite3.SQLITE_FUNCTION and (name or "").lower() in _FORBIDDEN_FUNCTIONS
