"""Prompt text as versioned Markdown, one folder a stage.

Empty until a stage is driven by a chat model: the stages of this version are rules.
"""
