"""What a tenant allows beyond the defaults: tools, outside sources, bounds."""

from collections.abc import Collection, Mapping
from pathlib import Path

import yaml
from pydantic import ValidationError

from domain.base import Model
from domain.errors import ConfigurationError
from domain.identity import Principal
from domain.limits import Limits

OUTSIDE_TOOLS = frozenset({"web_search", "api_call"})
"""Tools that leave the organisation's own knowledge: off unless a policy names them."""


class Policy(Model):
    """The rules of one tenant.

    `tools` maps a tool to the roles of which a caller needs one; a tool that is not named is
    open to everyone of the tenant, except the outside tools, which are closed. Of `limits`
    only the bounds that the file states count.
    """

    tools: dict[str, tuple[str, ...]] = {}
    outside_tools: tuple[str, ...] = ()
    api_operations: tuple[str, ...] = ()
    limits: Limits | None = None

    def allows(self, tool: str, principal: Principal) -> bool:
        """Whether this caller may use the tool."""
        if tool in OUTSIDE_TOOLS and tool not in self.outside_tools:
            return False
        needed = self.tools.get(tool)
        return needed is None or bool(set(needed) & set(principal.access))

    def bounds(self, base: Limits) -> Limits:
        """`base`, lowered by the bounds that this policy states and by no others."""
        if self.limits is None:
            return base
        stated = {name: getattr(self.limits, name) for name in self.limits.model_fields_set}
        return base.lowered(base.model_copy(update=stated))


class PolicyFile(Model):
    """The whole file. `tenants` is demanded: a mistyped key must not mean "no rules"."""

    tenants: dict[str, Policy]


class Policies:
    """The policies by tenant; a tenant without one has the defaults."""

    def __init__(self, by_tenant: Mapping[str, Policy] | None = None, source: str = "") -> None:
        self._by_tenant = by_tenant or {}
        self._source = source

    def of(self, tenant: str) -> Policy:
        """The policy of a tenant."""
        return self._by_tenant.get(tenant, Policy())

    def must_name_only(self, tools: Collection[str]) -> None:
        """Raises ConfigurationError for a tool that does not exist.

        A rule for a mistyped name would leave the tool that it means open to everyone.
        """
        known = OUTSIDE_TOOLS | set(tools)
        for tenant, policy in self._by_tenant.items():
            wrong = [name for name in policy.tools if name not in known]
            wrong += [name for name in policy.outside_tools if name not in OUTSIDE_TOOLS]
            if wrong:
                raise ConfigurationError(
                    f"policy file {self._source}: the tenant {tenant!r} has rules for "
                    f"{', '.join(map(repr, wrong))}, which is no such tool; the tools are "
                    f"{', '.join(sorted(known))}, of which {' and '.join(sorted(OUTSIDE_TOOLS))} "
                    "are outside tools"
                )


def load_policies(path: Path | None) -> Policies:
    """Read `tenants: {name: policy}` from YAML; raises ConfigurationError naming file and key."""
    if path is None:
        return Policies()
    try:
        body = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a SafeLoader
        return Policies(PolicyFile.model_validate(body).tenants, str(path))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'the file'}: {item['msg']}"
            for item in error.errors()
        )
        raise ConfigurationError(f"policy file {path} cannot be used: {problems}") from None
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise ConfigurationError(f"policy file {path} cannot be used: {error}") from error


class _Loader(yaml.SafeLoader):
    """YAML keeps the last of two equal keys, which would drop the rules of the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise yaml.constructor.ConstructorError(
                None, None, f"{', '.join(twice)} stands there twice", node.start_mark
            )
        return dict(super().construct_mapping(node, deep))
