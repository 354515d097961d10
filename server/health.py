"""What `GET /health` says."""

import asyncio
from typing import Literal

from domain.base import Model
from graph.services import Services


class Health(Model):
    """`documents` and `chunks` count those of the tenant this server answers for."""

    status: Literal["ok", "empty"]
    knowledge_version: str | None
    tenant: str
    documents: int
    chunks: int


async def health_of(services: Services) -> Health:
    """The state of the knowledge; raises KnowledgeError where it is there but cannot be opened."""
    tenant = services.settings.dev_tenant
    version, documents, chunks = None, 0, 0
    if await asyncio.to_thread(services.library.home.current) is not None:
        knowledge = await services.library.current()
        version = knowledge.version
        documents, chunks = await knowledge.catalog.count(tenant)
    return Health(
        status="ok" if documents else "empty",
        knowledge_version=version,
        tenant=tenant,
        documents=documents,
        chunks=chunks,
    )
