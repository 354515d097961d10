"""What binds one run: its identity in the trace, its bounds, and the turns before it."""

from datetime import date
from typing import Literal

from pydantic import Field

from domain.base import Model
from domain.limits import Limits
from domain.plan import Language, Mode

Profile = Literal["rules", "model"]
"""Which time slices apply: `rules` for the deterministic stages, `model` with a chat model."""


class Context(Model):
    """What a caller may choose for a run. It never holds a Principal; unknown keys are errors.

    The limits can only lower the policy's. `resumable` declares that the caller will answer a
    question back, so that the run may pause for it.
    """

    mode: Mode | None = None
    as_of: date | None = None
    profile: Profile = "rules"
    resumable: bool = False
    limit_steps: int | None = Field(default=None, ge=1)
    limit_ms: int | None = Field(default=None, ge=1)
    limit_prompt_tokens: int | None = Field(default=None, ge=0)
    limit_money: float | None = Field(default=None, ge=0)

    def limits(self, policy: Limits) -> Limits:
        """The policy's bounds, lowered where this caller asks for less."""
        asked = {
            "steps": self.limit_steps,
            "latency_ms": self.limit_ms,
            "prompt_tokens": self.limit_prompt_tokens,
            "money": self.limit_money,
        }
        chosen = {name: value for name, value in asked.items() if value is not None}
        return policy.lowered(policy.model_copy(update=chosen))


class Run(Model):
    """One run, bound by INIT. `started` is monotonic seconds of the process that runs it.

    `tenant` is for the trace only: every tool asks the identity service again, because a
    client may be able to write the State. `clarified` says that the caller was asked back once.
    """

    id: str
    question: str
    tenant: str
    started: float
    day: date
    as_of: date | None
    limits: Limits
    knowledge_version: str
    forced_mode: Mode | None = None
    profile: Profile = "rules"
    resumable: bool = False
    clarified: bool = False

    def elapsed_ms(self, now: float) -> float:
        """Milliseconds spent at the monotonic moment `now`."""
        return max(0.0, (now - self.started) * 1000)

    def remaining_ms(self, now: float) -> float:
        """Milliseconds left at `now`, never negative."""
        return max(0.0, self.limits.latency_ms - self.elapsed_ms(now))


class Turn(Model):
    """An earlier exchange of the thread: what a follow-up question may lean on."""

    question: str
    standalone: str
    language: Language
    entities: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    answer: str = ""
