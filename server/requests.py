"""What a caller may send to `POST /ask`."""

import json
from datetime import date
from typing import Any

from langchain_core.messages import AnyMessage, convert_to_messages
from pydantic import Field, ValidationError, model_validator
from starlette.requests import Request

from domain.base import Model
from domain.errors import InputError, InvalidRequest
from domain.plan import Mode
from domain.run import Context
from domain.state import InputState

MAX_BODY_BYTES = 1_000_000
"""Far above any question that QUESTION_MAX_CHARS allows."""


class Message(Model):
    """A message as chat clients send it."""

    role: str
    content: str


class AskRequest(Model):
    """One question, or messages of which the last human one is the question."""

    question: str | None = None
    messages: tuple[Message, ...] | None = None
    as_of: date | None = None
    mode: Mode | None = None
    limit_steps: int | None = Field(default=None, ge=1)
    limit_ms: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _one_of_both(self) -> "AskRequest":
        if (self.question is None) == (self.messages is None):
            raise ValueError("give either `question` or `messages`")
        return self

    @property
    def input(self) -> InputState:
        """The input of the graph; raises InputError for a role nobody knows."""
        if self.messages is None:
            return {"question": self.question or ""}
        return {"messages": _messages(self.messages)}

    @property
    def context(self) -> Context:
        """The choices of the caller."""
        return Context(
            mode=self.mode,
            as_of=self.as_of,
            limit_steps=self.limit_steps,
            limit_ms=self.limit_ms,
        )


async def read_ask(request: Request) -> AskRequest:
    """Parse a body; raises InputError where it is no JSON object, InvalidRequest for its fields."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise InputError(f"the body is larger than {MAX_BODY_BYTES:,} bytes; shorten it")
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise InputError('the body is not JSON in UTF-8; send {"question": "..."}') from None
    if not isinstance(fields, dict):
        raise InputError('the body is not a JSON object; send {"question": "..."}')
    try:
        return AskRequest.model_validate(fields)
    except ValidationError as error:
        raise InvalidRequest("; ".join(_problem(item) for item in error.errors())) from None


def _problem(item: Any) -> str:
    place = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        known = ", ".join(AskRequest.model_fields)
        return f"{place}: there is no such field; the fields are {known}"
    message = item["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _messages(messages: tuple[Message, ...]) -> list[AnyMessage]:
    try:
        return list(convert_to_messages([message.model_dump() for message in messages]))  # type: ignore[arg-type]
    except ValueError:
        raise InputError(
            "a message has a role that is not known; use user, assistant or system"
        ) from None
