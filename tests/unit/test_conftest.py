"""The fences of the test run itself: a fence that does not hold is worse than none."""

import socket
import time

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


async def test_a_blocking_call_of_ours_on_the_event_loop_fails() -> None:
    code = "def nap(time):\n    time.sleep(0)\n"
    made: dict[str, object] = {}
    exec(compile(code, runtime.clock.__file__, "exec"), made)
    nap = made["nap"]
    assert callable(nap)
    with pytest.raises(BlockingError):
        nap(time)
