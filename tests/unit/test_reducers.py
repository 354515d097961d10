"""Parallel branches merge without loss, in whatever order they arrive."""

from hypothesis import given
from hypothesis import strategies as st

from domain.limits import Limits, Usage
from domain.run import Context
from domain.state import appended, summed, united

items = st.lists(st.text(max_size=4), max_size=8).map(tuple)
usages = st.builds(
    Usage,
    tool_calls=st.integers(0, 50),
    model_calls=st.integers(0, 50),
    prompt_tokens=st.integers(0, 10_000),
    completion_tokens=st.integers(0, 10_000),
)


@given(items, items, items)
def test_appending_keeps_everything_in_order(
    a: tuple[str, ...], b: tuple[str, ...], c: tuple[str, ...]
) -> None:
    assert appended(appended(a, b), c) == (*a, *b, *c)


@given(items, items)
def test_union_holds_each_once_and_forgets_none(a: tuple[str, ...], b: tuple[str, ...]) -> None:
    merged = united(a, b)
    assert set(merged) == {*a, *b}
    assert len(merged) == len(set(merged))
    assert united(merged, b) == merged


@given(usages, usages, usages)
def test_what_branches_spend_adds_up_in_any_order(a: Usage, b: Usage, c: Usage) -> None:
    assert summed(summed(a, b), c) == summed(a, summed(c, b))
    assert summed(a, b).prompt_tokens == a.prompt_tokens + b.prompt_tokens


@given(
    steps=st.none() | st.integers(1, 16),
    latency=st.none() | st.integers(1, 600_000),
    tokens=st.none() | st.integers(0, 10**6),
)
def test_a_caller_can_only_lower_the_limits(
    steps: int | None, latency: int | None, tokens: int | None
) -> None:
    policy = Limits(steps=4, latency_ms=4_500, prompt_tokens=12_000)
    asked = Context(limit_steps=steps, limit_ms=latency, limit_prompt_tokens=tokens)
    bounds = asked.limits(policy)
    assert bounds.steps == min(policy.steps, steps or policy.steps)
    assert bounds.latency_ms == min(policy.latency_ms, latency or policy.latency_ms)
    assert bounds.prompt_tokens <= policy.prompt_tokens
    assert bounds.confidence == policy.confidence


def test_the_confidence_bar_is_never_lowered_by_merging() -> None:
    strict, lax = Limits(confidence=0.9), Limits(confidence=0.1)
    assert strict.lowered(lax).confidence == 0.9
    assert lax.lowered(strict).confidence == 0.9
