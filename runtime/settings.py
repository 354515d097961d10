"""All settings, read from the environment once."""

import os
from functools import cached_property
from pathlib import Path

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.errors import ConfigurationError
from domain.identity import Principal
from domain.limits import Limits


class Settings(BaseSettings):
    """Every setting with its default; an unknown key in `.env` is an error."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8",
        extra="forbid",
        frozen=True,
        env_ignore_empty=True,
    )

    data_dir: Path = Path("data")

    dev_tenant: str = Field(default="demo", min_length=1, max_length=64)
    dev_user: str = Field(default="developer", min_length=1, max_length=128)
    dev_roles: tuple[str, ...] = ()

    limit_steps: int = Field(default=4, ge=1, le=16)
    limit_prompt_tokens: int = Field(default=12_000, ge=0, le=1_000_000)
    limit_latency_ms: int = Field(default=4_500, ge=1, le=600_000)
    limit_money: float = Field(default=1.0, ge=0)
    limit_confidence: float = Field(default=0.78, ge=0, le=1)

    question_max_chars: int = Field(default=8_000, ge=100, le=100_000)
    retrieve_limit: int = Field(default=40, ge=5, le=500)
    evidence_limit: int = Field(default=16, ge=1, le=100)
    embed_workers: int = Field(default=0, ge=0, le=256)
    max_file_mb: int = Field(default=50, ge=1, le=4_096)

    policy_file: Path | None = None
    searxng_url: str = ""
    openapi_file: Path | None = None
    api_base_url: str = ""

    server_url: str = Field(
        default="", validation_alias=AliasChoices("server_url", "langgraph_api_url")
    )

    langsmith_tracing: bool = False
    langsmith_endpoint: str = ""
    langsmith_api_key: SecretStr = SecretStr("")
    langsmith_project: str = ""

    @property
    def limits(self) -> Limits:
        """The bounds of a run before tenant and caller lower them."""
        return Limits(
            steps=self.limit_steps,
            prompt_tokens=self.limit_prompt_tokens,
            latency_ms=self.limit_latency_ms,
            money=self.limit_money,
            confidence=self.limit_confidence,
        )

    @cached_property
    def developer(self) -> Principal:
        """The explicit identity used where no server authenticated anybody."""
        return Principal(tenant=self.dev_tenant, user=self.dev_user, roles=self.dev_roles)


def load_settings() -> Settings:
    """Settings from the environment and `.env`; raises ConfigurationError naming each bad key."""
    try:
        settings = Settings()
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in item['loc']).upper()}: {item['msg']}"
            for item in error.errors()
        )
        raise ConfigurationError(
            f"settings cannot be used: {problems}. Correct them in the environment or in .env "
            "(.env.example explains each)."
        ) from None
    _hand_to_langsmith(settings)
    return settings


def _hand_to_langsmith(settings: Settings) -> None:
    """LangSmith reads the environment only: what `.env` says of it is put there."""
    values = {
        "LANGSMITH_TRACING": "true" if settings.langsmith_tracing else "",
        "LANGSMITH_ENDPOINT": settings.langsmith_endpoint,
        "LANGSMITH_API_KEY": settings.langsmith_api_key.get_secret_value(),
        "LANGSMITH_PROJECT": settings.langsmith_project,
    }
    for name, value in values.items():
        if value:
            os.environ.setdefault(name, value)
