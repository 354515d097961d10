"""Opens what a command needs and closes it again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from domain.identity import Principal
from graph.services import Services, make_services
from runtime.settings import Settings, load_settings


@asynccontextmanager
async def services(name: str) -> AsyncIterator[Services]:
    """The services of this process by the settings, closed at the end."""
    made = make_services(load_settings(), name=f"agentic-rag {name}")
    try:
        yield made
    finally:
        await made.close()


def principal(settings: Settings, tenant: str, user: str, roles: list[str]) -> Principal:
    """Who the command acts for: the options, or the developer of the settings.

    Trusted as whoever can run the command can read DATA_DIR anyway.
    """
    return Principal(
        tenant=tenant or settings.dev_tenant,
        user=user or settings.dev_user,
        roles=tuple(roles) or settings.dev_roles,
    )
