"""What a run may spend, what it has spent, and what went wrong on the way."""

from pydantic import Field

from domain.base import Model


class Limits(Model):
    """Bounds of one run. A caller's values may only lower the policy's."""

    steps: int = Field(default=4, ge=1, le=16)
    prompt_tokens: int = Field(default=12_000, ge=0, le=1_000_000)
    latency_ms: int = Field(default=4_500, ge=1, le=600_000)
    money: float = Field(default=1.0, ge=0)
    confidence: float = Field(default=0.78, ge=0, le=1)

    def lowered(self, other: "Limits") -> "Limits":
        """The stricter of both for each bound; for `confidence` the higher bar is stricter."""
        return Limits(
            steps=min(self.steps, other.steps),
            prompt_tokens=min(self.prompt_tokens, other.prompt_tokens),
            latency_ms=min(self.latency_ms, other.latency_ms),
            money=min(self.money, other.money),
            confidence=max(self.confidence, other.confidence),
        )


class Usage(Model):
    """What a run has spent so far. Additive, so that parallel branches merge without loss."""

    tool_calls: int = 0
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        """Field by field."""
        return Usage(
            tool_calls=self.tool_calls + other.tool_calls,
            model_calls=self.model_calls + other.model_calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            money=self.money + other.money,
        )


class Degradation(Model):
    """A caught failure: the run went on with less. Nothing is swallowed without one."""

    stage: str
    cause: str
    effect: str
