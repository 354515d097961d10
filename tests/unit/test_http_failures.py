"""What a caller sees over HTTP when something fails."""

import logging

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.errors import (
    AccessDenied,
    BackendError,
    ConfigurationError,
    InputError,
    InvalidRequest,
    KnowledgeError,
    StoreBusy,
)
from server.failures import safe


async def reply_to(failure: Exception) -> httpx.Response:
    async def endpoint(request: Request) -> Response:
        raise failure

    app = Starlette(routes=[Route("/", safe(endpoint))])
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
        return await client.get("/")


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (InputError("empty"), 400),
        (InvalidRequest("a field"), 422),
        (AccessDenied("not yours"), 403),
        (KnowledgeError("nothing loaded"), 404),
        (StoreBusy("held by another"), 503),
        (BackendError("late"), 503),
        (ConfigurationError("unset"), 503),
    ],
)
async def test_an_error_keeps_its_name_and_message(failure: Exception, status: int) -> None:
    reply = await reply_to(failure)
    assert reply.status_code == status
    assert reply.json() == {"error": type(failure).__name__, "message": str(failure)}


async def test_a_fault_shows_nothing_of_the_inside(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A test that imports langgraph's server later than ours finds our logger disabled by it.
    monkeypatch.setattr(logging.getLogger("server.failures"), "disabled", False)
    reply = await reply_to(ZeroDivisionError("/secret/path"))
    assert reply.status_code == 500
    assert "secret" not in reply.text
    assert "/secret/path" in caplog.text
