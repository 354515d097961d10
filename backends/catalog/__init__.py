"""The catalog: documents, chunks, and where each came from."""

from backends.catalog.base import Catalog

__all__ = ["Catalog"]
