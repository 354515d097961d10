"""Any LangChain chat model behind the protocol."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from backends.chat.base import Reply
from domain.errors import BackendError
from domain.limits import Usage


@dataclass(frozen=True)
class LangChainChat:
    """Calls the model once within the time and counts what its `usage_metadata` says."""

    name: str
    model: BaseChatModel

    async def complete(self, messages: Sequence[BaseMessage], *, timeout_s: float) -> Reply:
        try:
            async with asyncio.timeout(timeout_s):
                message = await self.model.ainvoke(list(messages), {"tags": ["nostream"]})
        except TimeoutError:
            raise BackendError(f"{self.name} did not answer within {timeout_s:.1f} s") from None
        except Exception as error:
            raise BackendError(f"{self.name} failed: {type(error).__name__}") from error
        return Reply(text=message.text, usage=_usage(message))


def _usage(message: BaseMessage) -> Usage:
    spent = message.usage_metadata if isinstance(message, AIMessage) else None
    return Usage(
        model_calls=1,
        prompt_tokens=spent["input_tokens"] if spent else 0,
        completion_tokens=spent["output_tokens"] if spent else 0,
    )
