"""Who a run acts for, and that nobody becomes the developer of a server that authenticates."""

from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.runtime import Runtime, ServerInfo

from domain.errors import AccessDenied
from domain.identity import Principal
from runtime.identity import Identity, principal_of, server_authenticates

DEVELOPER = Principal(tenant="demo", user="developer", roles=("admin",))
USER = {"identity": "alice", "tenant": "acme", "roles": ["ops"], "clearances": ("pii",)}


def on_server(user: Any = None) -> Runtime[Any]:
    return Runtime(server_info=ServerInfo(assistant_id="a", graph_id="g", user=user))


@pytest.mark.parametrize(
    ("environment", "authenticates"),
    [
        ({}, False),
        ({"LANGGRAPH_AUTH": ""}, False),
        ({"LANGGRAPH_AUTH_TYPE": "noop"}, False),
        ({"LANGGRAPH_AUTH_TYPE": "langsmith"}, True),
        ({"LANGGRAPH_AUTH": '{"path": "./auth.py:auth"}'}, True),
    ],
)
def test_a_run_without_a_user_is_the_developers_only_where_nobody_is_authenticated(
    environment: dict[str, str], authenticates: bool
):
    identity = Identity(DEVELOPER, server_authenticates=server_authenticates(environment))
    assert identity.current(Runtime()) == identity.current() == DEVELOPER
    if authenticates:
        with pytest.raises(AccessDenied, match="sign in"):
            identity.current(on_server())
    else:
        assert identity.current(on_server()) == DEVELOPER


@pytest.mark.parametrize("user", [USER, SimpleNamespace(**USER)], ids=["mapping", "object"])
def test_the_authenticated_user_comes_before_the_developer(user: Any):
    acme = Principal(tenant="acme", user="alice", roles=("ops",), clearances=("pii",))
    for authenticates in (False, True):
        identity = Identity(DEVELOPER, server_authenticates=authenticates)
        assert identity.current(on_server(user)) == acme
        with identity.acting_as(DEVELOPER):
            assert identity.current(on_server(user)) == DEVELOPER
    assert principal_of({"identity": "bob", "tenant": "acme", "roles": None}).roles == ()


@pytest.mark.parametrize("name", ["roles", "clearances"])
@pytest.mark.parametrize("value", ["admin", "", {"admin": True}, 7, [["admin"]], [None], b"ops"])
def test_roles_that_are_no_list_of_names_are_refused(name: str, value: Any):
    with pytest.raises(AccessDenied, match=name):
        principal_of({**USER, name: value})


@pytest.mark.parametrize("tenant", [None, ""])
def test_a_user_of_no_tenant_is_refused(tenant: Any):
    with pytest.raises(AccessDenied, match="no tenant"):
        Identity(DEVELOPER).current(on_server({**USER, "tenant": tenant}))


def test_without_anybody_access_is_denied():
    with pytest.raises(AccessDenied, match="DEV_TENANT"):
        Identity(None).current()
