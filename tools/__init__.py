"""Tools: LangChain tools over the backends, each call behind one guard."""
