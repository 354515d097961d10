"""The chat protocol: replies, cost, failure and lateness, in our own terms."""

import asyncio
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

from backends.chat.langchain import LangChainChat
from backends.chat.scripted import scripted
from domain.errors import BackendError

ASK = [HumanMessage("What is the limit?")]


async def test_replies_come_in_order_and_their_tokens_are_counted() -> None:
    usage: Any = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    model = scripted(["first", AIMessage("第二", usage_metadata=usage)])
    first = await model.complete(ASK, timeout_s=5)
    second = await model.complete(ASK, timeout_s=5)
    assert (first.text, first.usage.prompt_tokens) == ("first", 0)
    assert (second.text, second.usage.prompt_tokens, second.usage.completion_tokens) == (
        "第二",
        7,
        3,
    )


async def test_a_failing_model_is_a_backend_error_that_names_it() -> None:
    with pytest.raises(BackendError, match="scripted failed"):
        await scripted([]).complete(ASK, timeout_s=5)


class Silent(GenericFakeChatModel):
    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.Event().wait()


async def test_a_silent_model_is_cut_off() -> None:
    silent = LangChainChat("silent", Silent(messages=iter([])))
    with pytest.raises(BackendError, match="silent did not answer"):
        await silent.complete(ASK, timeout_s=0.01)
