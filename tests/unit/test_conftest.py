"""The fences of the test run itself: a fence that does not hold is worse than none."""

import socket
from collections.abc import Callable
from typing import Any

import pytest
from blockbuster import BlockingError

import runtime.clock
from tests.conftest import NetworkRefused


def test_the_network_is_refused() -> None:
    with socket.socket() as sock, pytest.raises(NetworkRefused):
        sock.connect(("192.0.2.1", 80))
    with pytest.raises(NetworkRefused):
        socket.getaddrinfo("example.org", 80)


def test_this_machine_is_reached() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


async def test_a_blocking_call_of_our_coroutines_fails() -> None:
    nap = _of_ours("async def nap():\n    import time\n    time.sleep(0)\n")
    with pytest.raises(BlockingError):
        await nap()


async def test_a_blocking_call_that_a_test_makes_itself_is_its_own_affair() -> None:
    _of_ours("def nap():\n    import time\n    time.sleep(0)\n")()


def _of_ours(code: str) -> Callable[[], Any]:
    """The function `nap` as if it stood in a file of ours."""
    made: dict[str, Any] = {}
    exec(compile(code, runtime.clock.__file__, "exec"), made)
    nap: Callable[[], Any] = made["nap"]
    return nap
