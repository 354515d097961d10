"""Chat models. No stage needs one; the gateway to them is a later issue."""

from backends.chat.base import ChatModel, Reply

__all__ = ["ChatModel", "Reply"]
