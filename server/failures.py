"""How failures look over HTTP."""

import logging
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from domain.errors import (
    AccessDenied,
    AgenticRagError,
    BackendError,
    ConfigurationError,
    InputError,
    InvalidRequest,
    KnowledgeError,
    StoreBusy,
)

Endpoint = Callable[[Request], Awaitable[Response]]

_STATUS: dict[type[AgenticRagError], int] = {
    InvalidRequest: 422,
    InputError: 400,
    AccessDenied: 403,
    StoreBusy: 503,
    KnowledgeError: 404,
    BackendError: 503,
    ConfigurationError: 503,
}
_log = logging.getLogger(__name__)


def safe(endpoint: Endpoint) -> Endpoint:
    """Turn failures into JSON; one that is not this program's is logged and not shown."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except AgenticRagError as error:
            return _said(_status(error), type(error).__name__, str(error))
        except Exception:  # noqa: BLE001 - logged whole; a caller never gets a traceback
            _log.exception("%s failed", request.url.path)
            return _said(500, "InternalError", "the server failed; its log says why")

    return answer


def _status(error: AgenticRagError) -> int:
    return next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)


def _said(status: int, error: str, message: str) -> Response:
    return JSONResponse({"error": error, "message": message}, status_code=status)
