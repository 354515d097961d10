"""How errors of this program look over HTTP."""

from starlette.responses import JSONResponse, Response

from domain.errors import (
    AccessDenied,
    AgenticRagError,
    BackendError,
    ConfigurationError,
    InputError,
    KnowledgeError,
    StoreBusy,
)
from server.requests import InvalidRequest

_STATUS: dict[type[AgenticRagError], int] = {
    InvalidRequest: 422,
    InputError: 400,
    AccessDenied: 403,
    StoreBusy: 503,
    KnowledgeError: 404,
    BackendError: 503,
    ConfigurationError: 503,
}


def error_response(error: AgenticRagError) -> Response:
    """`{error, message}`: the name of the class and the text for a person."""
    status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)
    return JSONResponse({"error": type(error).__name__, "message": str(error)}, status_code=status)
