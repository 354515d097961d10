"""Questions to a relational database, through named templates only."""

from backends.relational.base import Parameter, Relational, Rows, Template

__all__ = ["Parameter", "Relational", "Rows", "Template"]
