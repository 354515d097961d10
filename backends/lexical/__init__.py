"""Word search."""

from backends.lexical.base import LexicalStore

__all__ = ["LexicalStore"]
