"""Decisions that can be rules: pure functions over a question, beside their tests."""
