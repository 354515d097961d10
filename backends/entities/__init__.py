"""The entity graph."""

from backends.entities.base import EntityStore

__all__ = ["EntityStore"]
