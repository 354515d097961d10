"""Vector search."""

from backends.dense.base import DenseStore

__all__ = ["DenseStore"]
