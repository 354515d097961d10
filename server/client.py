"""Asks a running server; the command line uses it where a server holds the knowledge."""

from typing import Any

import httpx

from domain import errors
from domain.errors import AgenticRagError, BackendError, InputError

_WAIT_S = 120.0
"""Above the longest run: the server bounds its own."""

_INPUT = (400, 422)


async def ask_server(url: str, payload: dict[str, Any]) -> dict[str, Any]:
    """The Answer of `POST /ask` as JSON.

    Raises the error that the server names, else InputError where it refuses what was sent and
    BackendError where there is no server or no answer.
    """
    return await _send("POST", url, "/ask", payload)


async def health(url: str) -> dict[str, Any]:
    """What `GET /health` says; raises as `ask_server` does."""
    return await _send("GET", url, "/health", None)


async def _send(method: str, url: str, path: str, payload: Any) -> dict[str, Any]:
    try:
        # trust_env=False: the server is on this machine, where a proxy cannot reach it.
        async with httpx.AsyncClient(timeout=_WAIT_S, trust_env=False) as client:
            response = await client.request(method, url.rstrip("/") + path, json=payload)
            body = response.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise BackendError(
            f"the server at {url} does not answer ({type(error).__name__}); look at its log, "
            "or stop it and run this command again"
        ) from error
    if not isinstance(body, dict) or response.is_error:
        raise _error_of(url, response.status_code, body)
    return body


def _error_of(url: str, status: int, body: Any) -> AgenticRagError:
    said = body if isinstance(body, dict) else {}
    kind = getattr(errors, str(said.get("error")), None)
    if not (isinstance(kind, type) and issubclass(kind, AgenticRagError)):
        kind = InputError if status in _INPUT else BackendError
    return kind(str(said.get("message") or f"the server at {url} gave no answer; look at its log"))
