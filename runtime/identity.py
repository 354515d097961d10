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

    A trusted caller inside this process (the command line, the HTTP app) binds one with
    `acting_as`. Else it is the user whom the LangGraph server authenticated. Else it is the
    developer named in the settings: in this process, and on a server that authenticates
    nobody, where whoever reaches the port is that developer (so keep it on the loopback). A
    server that does authenticate never falls back: `server_authenticates` says that it does.
    """

    def __init__(self, developer: Principal | None, *, server_authenticates: bool = False) -> None:
        self._developer = developer
        self._server_authenticates = server_authenticates
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
        server = getattr(runtime, "server_info", None)
        user = getattr(server, "user", None)
        if user is not None:
            return principal_of(user)
        if server is not None and self._server_authenticates:
            raise AccessDenied("the server authenticated nobody for this run; sign in")
        if self._developer is not None:
            return self._developer
        raise AccessDenied(
            "nobody is authenticated and no development identity is set; sign in, or set "
            "DEV_TENANT and DEV_USER on a machine that only you can reach"
        )


def server_authenticates(environment: Mapping[str, str]) -> bool:
    """Whether the LangGraph server of this environment was given an authentication.

    A run's `server_info` does not tell: its user is None for want of either. The server
    itself decides by these two variables, which its start command sets.
    """
    kind = environment.get("LANGGRAPH_AUTH_TYPE") or "noop"
    return bool(environment.get("LANGGRAPH_AUTH")) or kind != "noop"


def principal_of(user: Mapping[str, Any] | Any) -> Principal:
    """The Principal in what the server's authentication returned.

    Raises AccessDenied where the user has no tenant (default deny) or where roles or
    clearances are no list of names: a bare string would become one role a letter.
    """

    def field(name: str) -> Any:
        return user.get(name) if isinstance(user, Mapping) else getattr(user, name, None)

    def names(name: str) -> tuple[str, ...]:
        value = field(name)
        if value is None:
            return ()
        listed = isinstance(value, list | tuple | set | frozenset)
        if not listed or not all(isinstance(item, str) for item in value):
            raise AccessDenied(f"the authenticated user's {name} are no list of names")
        return tuple(value)

    tenant = field("tenant")
    if not tenant:
        raise AccessDenied("the authenticated user belongs to no tenant; ask the operator")
    return Principal(
        tenant=str(tenant),
        user=str(field("identity") or "unknown"),
        roles=names("roles"),
        clearances=names("clearances"),
    )
