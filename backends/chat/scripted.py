"""A chat model that says what it was told to: for tests of the stages that will use one."""

from collections.abc import Iterable

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from backends.chat.langchain import LangChainChat


def scripted(replies: Iterable[str | AIMessage]) -> LangChainChat:
    """A model named `scripted` that gives the replies in order and then fails."""
    return LangChainChat("scripted", GenericFakeChatModel(messages=iter(replies)))
