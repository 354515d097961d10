"""The graph that `langgraph.json` names; importing it opens no store and reads no weights.

A module of its own, so that whoever builds a graph for themselves reads no settings.
"""

from graph.build import build_graph
from graph.services import shared_services

graph = build_graph(shared_services())
