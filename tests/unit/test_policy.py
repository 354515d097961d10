"""A policy file that is wrong stops the program: it never opens what it was meant to close."""

from pathlib import Path

import pytest

from domain.errors import ConfigurationError
from domain.identity import Principal
from domain.limits import Limits
from graph.services import make_services
from runtime.policy import Policy, load_policies
from runtime.settings import Settings

ALICE = Principal(tenant="demo", user="alice")


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "the file"),
        ("[]", "the file"),
        ("tenant:\n  demo: {}\n", "tenant: Extra"),
        ("tenants: {}\nlimits: {}\n", "limits: Extra"),
        ("tenants:\n", "tenants"),
        ("tenants:\n  demo:\n", r"tenants\.demo"),
        ("tenants:\n  demo: {tool: {}}\n", r"tenants\.demo\.tool: Extra"),
        ("tenants:\n  demo: {tools: {ticket_search: ops}}\n", "ticket_search"),
        ("tenants:\n  demo: {limits: {step: 8}}\n", r"limits\.step"),
        ("tenants:\n  demo: {limits: {steps: 0}}\n", r"limits\.steps"),
        ("tenants:\n  demo: {about: {owner: x}}\n", r"demo\.about"),
        ("tenants:\n  商户: {}\n  商户: {}\n", "商户 stands there twice"),
        ("tenants: {demo: {tools: {a: [x], a: [y]}}}\n", "a stands there twice"),
        ("tenants: [", "line 1"),
        (b"tenants: \xff\xfe", "utf-8"),
        ("tenants: {demo: {tools: {a: [2026-13-45]}}}\n", "month"),
    ],
)
def test_a_wrong_file_is_named_with_its_fault(tmp_path: Path, text: str | bytes, named: str):
    with pytest.raises(ConfigurationError, match=rf"(?s)policy\.yaml.*{named}"):
        load_policies(written(tmp_path, text))


def test_a_missing_file_is_an_error_and_no_file_means_the_defaults(tmp_path: Path):
    with pytest.raises(ConfigurationError, match=r"none\.yaml"):
        load_policies(tmp_path / "none.yaml")
    assert load_policies(None).of("demo") == Policy()


@pytest.mark.parametrize(
    "rules",
    [
        "tools: {ticket_serach: [ops]}",
        "tools: {webs_search: [ops]}",
        "outside_tools: [web_serch]",
        "outside_tools: [ticket_search]",
    ],
)
def test_a_rule_for_a_tool_that_does_not_exist_stops_the_program(tmp_path: Path, rules: str):
    path = written(tmp_path, f"tenants:\n  acme: {{{rules}}}\n")
    name = rules.split("{")[-1].split("[")[-1 if "outside" in rules else 0].strip(": ]")
    with pytest.raises(ConfigurationError, match=rf"policy\.yaml.*'acme'.*'{name}'"):
        make_services(Settings(data_dir=tmp_path, policy_file=path, _env_file=None))


def test_every_tool_can_be_named_also_one_that_is_not_configured(tmp_path: Path):
    made = make_services(Settings(data_dir=tmp_path, _env_file=None))
    assert "web_search" not in made.guard.tools
    names = [*made.guard.tools, "web_search", "api_call"]
    rules = ", ".join(f"{name}: [ops]" for name in names)
    path = written(
        tmp_path, f"tenants: {{demo: {{tools: {{{rules}}}, outside_tools: [web_search]}}}}\n"
    )
    made = make_services(Settings(data_dir=tmp_path, policy_file=path, _env_file=None))
    assert made.guard.allowed(ALICE) == []
    assert made.policies.of("demo").outside_tools == ("web_search",)


@pytest.mark.parametrize(
    ("stated", "changed"),
    [
        ({"steps": 8}, {"steps": 8}),
        ({"steps": 16}, {}),
        ({"latency_ms": 4_500}, {"latency_ms": 4_500}),
        ({"confidence": 0.9}, {"confidence": 0.9}),
        ({"confidence": 0.1}, {}),
        ({}, {}),
    ],
)
def test_only_stated_bounds_count_and_they_only_lower(
    stated: dict[str, float], changed: dict[str, float]
):
    base = Limits(steps=10, latency_ms=30_000, prompt_tokens=90_000, money=9.0, confidence=0.5)
    assert Policy(limits=Limits(**stated)).bounds(base) == base.model_copy(update=changed)
    assert Policy().bounds(base) == base
