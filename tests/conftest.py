"""What holds for every test: no network, and nothing that blocks the event loop."""

import inspect
import socket
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster

from domain.errors import AgenticRagError

OURS = [
    "domain", "runtime", "prompts", "backends", "tools", "nodes", "graph", "ingest", "evals",
    "server", "cli",
]  # fmt: skip
"""Only our code is watched; what a library does by itself is not ours to change."""

TESTS = str(Path(__file__).parent)
COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class NetworkRefused(AgenticRagError):
    """A test reached for something outside this machine."""


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests reach this machine only; a name other than localhost is not even looked up."""
    connect, connect_ex, lookup = (
        socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo,
    )  # fmt: skip

    def guarded(sock: socket.socket, address: Any) -> None:
        _must_be_local(sock, address)
        connect(sock, address)

    def guarded_ex(sock: socket.socket, address: Any) -> int:
        _must_be_local(sock, address)
        return connect_ex(sock, address)

    def guarded_lookup(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_local(host):
            raise NetworkRefused(f"a test looks up {host!r}; tests run without a network")
        return lookup(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_ex)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_lookup)


@pytest.fixture(autouse=True)
def _no_blocking_call(request: pytest.FixtureRequest) -> Iterator[None]:
    """A coroutine of ours that waits for a disk, a socket or a clock fails its test."""
    if not inspect.iscoroutinefunction(getattr(request.node, "obj", None)):
        yield
        return
    detector = BlockBuster(scanned_modules=OURS)
    for function in detector.functions.values():
        function.can_block_predicate = _or_a_test_blocks(function.can_block_predicate)
    detector.activate()
    yield
    detector.deactivate()


def _or_a_test_blocks(otherwise: Callable[..., bool]) -> Callable[..., bool]:
    """A test may block its own loop, as by calling a constructor that reads the disk."""

    def may_block(*args: Any, **kwargs: Any) -> bool:
        return _blocked_coroutine().startswith(TESTS) or otherwise(*args, **kwargs)

    return may_block


def _blocked_coroutine() -> str:
    """The file of the innermost coroutine that runs: the one whose blocking call this is."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_flags & COROUTINE:
            return frame.f_code.co_filename
        frame = frame.f_back
    return ""


def _must_be_local(sock: socket.socket, address: Any) -> None:
    if sock.family != getattr(socket, "AF_UNIX", None) and not _is_local(address[0]):
        raise NetworkRefused(f"a test connects to {address!r}; tests run without a network")


def _is_local(host: Any) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
