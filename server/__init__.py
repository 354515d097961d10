"""The HTTP application mounted in LangGraph Server."""
