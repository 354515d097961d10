"""The one base of every domain model."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Frozen and closed: a field nobody declared is an error, not a surprise."""

    model_config = ConfigDict(frozen=True, extra="forbid")
