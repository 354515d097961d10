"""Who is asking. The one place that answers it, and never from anything a client can write."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langgraph.runtime import Runtime

from domain.errors import AccessDenied
from domain.identity import Principal


class Identity:
    """Resolves the Principal of a run.

    On a LangGraph server it is the authenticated user of the request. Inside this process a
    trusted caller (the command line, the HTTP app) binds one with `acting_as`. Otherwise it is
    the developer named in the settings, and only where no server is involved.
    """

    def __init__(self, developer: Principal | None) -> None:
        self._developer = developer
        self._bound: ContextVar[Principal | None] = ContextVar("principal", default=None)

    @contextmanager
    def acting_as(self, principal: Principal) -> Iterator[None]:
        """Run what is inside on behalf of `principal`; nested tasks inherit it."""
        token = self._bound.set(principal)
        try:
            yield
        finally:
            self._bound.reset(token)

    def current(self, runtime: Runtime[Any] | None = None) -> Principal:
        """The caller of this run; raises AccessDenied where nobody is known."""
        bound = self._bound.get()
        if bound is not None:
            return bound
        user = getattr(getattr(runtime, "server_info", None), "user", None)
        if user is not None:
            return principal_of(user)
        if self._developer is not None:
            return self._developer
        raise AccessDenied(
            "nobody is authenticated and no development identity is set; sign in, or set "
            "DEV_TENANT and DEV_USER on a machine that only you can reach"
        )


def principal_of(user: Mapping[str, Any] | Any) -> Principal:
    """The Principal in what the server's authentication returned.

    Raises AccessDenied where the user has no tenant: default deny.
    """

    def field(name: str) -> Any:
        return user.get(name) if isinstance(user, Mapping) else getattr(user, name, None)

    tenant = field("tenant")
    if not tenant:
        raise AccessDenied("the authenticated user belongs to no tenant; ask the operator")
    return Principal(
        tenant=str(tenant),
        user=str(field("identity") or "unknown"),
        roles=tuple(field("roles") or ()),
        clearances=tuple(field("clearances") or ()),
    )
