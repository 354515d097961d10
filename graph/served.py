"""The graph that `langgraph.json` names; importing it opens no store and reads no weights.

A module of its own, so that whoever builds a graph for themselves reads no settings.
"""

from typing import Any

from langgraph.graph.state import CompiledStateGraph

from domain.errors import ConfigurationError
from domain.run import Context
from domain.state import InputState, OutputState, State
from graph.build import build_graph
from graph.services import shared_services


class Served(CompiledStateGraph[State, Context, InputState, OutputState]):
    """A graph that keeps its allow-list of checkpointed classes when it is copied.

    LangGraph Server copies the graph for each run to give it the server's checkpointer, and
    `Pregel.copy` drops the list that strict deserialisation needs: without it no model of
    the State could be read back. (The server does not honour the list in `langgraph.json`
    either: langgraph issue 7695.)
    """

    def copy(self, update: dict[str, Any] | None = None) -> "Served":
        """As of the base class, with the allow-list."""
        copied = super().copy(update)
        copied._serde_allowlist = self._serde_allowlist
        return copied


def serve() -> Served:
    """The graph over the services of this process; refuses to run with lenient checkpoints."""
    built = build_graph(shared_services())
    if built._serde_allowlist is None:
        raise ConfigurationError(
            "checkpoints could be made to load any class: set LANGGRAPH_STRICT_MSGPACK=true "
            "before the server starts (langgraph.json does)"
        )
    served = Served(**{name: value for name, value in vars(built).items() if name[0] != "_"})
    served._serde_allowlist = built._serde_allowlist
    return served


graph = serve()
