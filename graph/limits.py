"""How long each stage may take, and the fence behind it."""

from collections.abc import Mapping
from types import MappingProxyType

from domain.run import Profile, Run

SLICES_MS: Mapping[Profile, Mapping[str, int]] = MappingProxyType(
    {
        "rules": MappingProxyType(
            {
                "route": 100,
                "plan": 300,
                "retrieve": 1_200,
                "rerank": 300,
                "evaluate": 700,
                "reflect": 100,
                "answer": 900,
                "safe_guard": 200,
            }
        ),
        "model": MappingProxyType(
            {
                "route": 1_000,
                "plan": 4_000,
                "retrieve": 2_000,
                "rerank": 1_000,
                "evaluate": 2_000,
                "reflect": 2_000,
                "answer": 15_000,
                "safe_guard": 3_000,
            }
        ),
    }
)
"""Milliseconds by profile and stage, for a run of the profile's whole time. A tool's call has
the slice of `retrieve`."""

WHOLE_MS: Mapping[Profile, int] = MappingProxyType({"rules": 4_500, "model": 30_000})
"""The whole time of a run by profile; a run with another limit has its slices in proportion."""

CLOSING: frozenset[str] = frozenset({"answer", "safe_guard"})
"""Stages that always get their slice: a run out of time still ends with an honest answer."""

FENCE_S = 60.0
"""The graph's own timeout of a node, for what ignores its slice."""

RECURSION_LIMIT = 100
"""Supersteps of the graph; far above what 16 steps of five supersteps need."""


def budget_s(stage: str, run: Run, now: float) -> float:
    """Seconds a stage may take: its slice, or what is left of the run if that is less."""
    scale = run.limits.latency_ms / WHOLE_MS[run.profile]
    slice_ms = SLICES_MS[run.profile][stage] * scale
    if stage in CLOSING:
        return max(50.0, slice_ms) / 1000
    return max(1.0, min(slice_ms, run.remaining_ms(now))) / 1000
