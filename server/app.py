"""The HTTP routes of this program beside those of LangGraph Server.

A run through the server's queue waits for its poll; `POST /ask` asks the graph at once.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from domain.errors import KnowledgeError
from graph.build import build_graph
from graph.services import shared_services
from server.failures import safe
from server.health import health_of
from server.requests import read_ask

_log = logging.getLogger(__name__)

services = shared_services()
graph = build_graph(services)


async def ask(request: Request) -> Response:
    """The Answer to one question, as the developer of the settings: nobody is authenticated yet."""
    asked = await read_ask(request)
    with services.identity.acting_as(services.settings.developer):
        result = await graph.ainvoke(asked.input, context=asked.context)
    return JSONResponse(result["answer"].model_dump(mode="json"))


async def health(_: Request) -> Response:
    """Whether questions can be answered, and from what; an error if the stores cannot be read."""
    return JSONResponse((await health_of(services)).model_dump(mode="json"))


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    """Take the knowledge before the first question, so that other processes find this server."""
    try:
        await services.library.current()
    except KnowledgeError as error:
        _log.warning("no question can be answered yet: %s", error)
    try:
        yield
    finally:
        await services.close()


app = Starlette(
    lifespan=lifespan,
    routes=[
        Route("/ask", safe(ask), methods=["POST"]),
        Route("/health", safe(health), methods=["GET"]),
    ],
)
