"""What a tenant allows beyond the defaults: tools, outside sources, bounds."""

from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from domain.base import Model
from domain.errors import ConfigurationError
from domain.identity import Principal
from domain.limits import Limits

OUTSIDE_TOOLS = frozenset({"web_search", "api_call"})
"""Tools that leave the organisation's own knowledge: off unless a policy names them."""


class Policy(Model):
    """The rules of one tenant.

    `tools` maps a tool to the roles of which a caller needs one; a tool that is not named is
    open to everyone of the tenant, except the outside tools, which are closed.
    """

    tools: dict[str, tuple[str, ...]] = {}
    outside_tools: tuple[str, ...] = ()
    api_operations: tuple[str, ...] = ()
    limits: Limits | None = None
    about: dict[str, str] = Field(default_factory=dict)

    def allows(self, tool: str, principal: Principal) -> bool:
        """Whether this caller may use the tool."""
        if tool in OUTSIDE_TOOLS and tool not in self.outside_tools:
            return False
        needed = self.tools.get(tool)
        return needed is None or bool(set(needed) & set(principal.access))


class Policies:
    """The policies by tenant; a tenant without one has the defaults."""

    def __init__(self, by_tenant: dict[str, Policy] | None = None) -> None:
        self._by_tenant = by_tenant or {}

    def of(self, tenant: str) -> Policy:
        """The policy of a tenant."""
        return self._by_tenant.get(tenant, Policy())


def load_policies(path: Path | None) -> Policies:
    """Read `tenants: {name: policy}` from YAML; raises ConfigurationError naming file and key."""
    if path is None:
        return Policies()
    try:
        body = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        tenants = body.get("tenants", {}) if isinstance(body, dict) else None
        if not isinstance(tenants, dict):
            raise TypeError("expected a mapping `tenants:`")
        return Policies({name: Policy.model_validate(rules) for name, rules in tenants.items()})
    except (OSError, yaml.YAMLError, TypeError, ValidationError) as error:
        raise ConfigurationError(f"policy file {path} cannot be used: {error}") from error
