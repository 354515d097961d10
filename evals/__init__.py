"""Measures on question sets."""
