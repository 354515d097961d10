"""Embedders: text in, normalised vectors out."""

from backends.embed.base import Embedder, Vector, Vectors

__all__ = ["Embedder", "Vector", "Vectors"]
