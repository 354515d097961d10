"""What a chat model must offer to a stage."""

from collections.abc import Sequence
from typing import Protocol

from langchain_core.messages import BaseMessage

from domain.base import Model
from domain.limits import Usage


class Reply(Model):
    """What the model said, and what it cost."""

    text: str
    usage: Usage


class ChatModel(Protocol):
    """One completion at a time; what is made of it is the stage's to check."""

    @property
    def name(self) -> str: ...

    async def complete(self, messages: Sequence[BaseMessage], *, timeout_s: float) -> Reply:
        """The model's reply; raises BackendError where it fails or is late."""
        ...
