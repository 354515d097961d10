"""Local search in the entity graph: link, walk one or two hops, find paths."""

from dataclasses import dataclass

from langchain_core.tools import BaseTool
from pydantic import Field

from backends.library import Library
from domain.evidence import ToolResult
from domain.identity import Scope
from domain.knowledge import Entity, Relation
from tools.base import ToolArgs, make_tool
from tools.evidence import from_relation


class GraphArgs(ToolArgs):
    """A question that names entities; two of them ask for the path between them."""

    query: str = Field(min_length=1, max_length=8_000, description="Names the entities")
    hops: int = Field(default=2, ge=1, le=2, description="How far to walk from each entity")
    limit: int = Field(default=24, ge=1, le=100, description="How many relations at most")


@dataclass(frozen=True)
class GraphSearch:
    """Relations around and between the entities that a text names, each with provenance."""

    library: Library

    async def __call__(self, args: GraphArgs, scope: Scope) -> ToolResult:
        store = (await self.library.version(args.version)).entities
        linked = await store.link(args.query, scope=scope)
        if not linked:
            return ToolResult(tool="graph_search", note="no entity of the graph is named")
        found: dict[str, Relation] = {}
        for start, end in _pairs(linked):
            for path in await store.paths(start.id, end.id, scope=scope):
                found |= {relation.id: relation for relation in path.relations}
        near = await store.neighbourhood(
            [entity.id for entity in linked], scope=scope, hops=args.hops, limit=args.limit
        )
        for relation in near:
            found.setdefault(relation.id, relation)
        evidence = [from_relation(r, tenant=scope.tenant) for r in found.values()]
        return ToolResult(tool="graph_search", evidence=tuple(evidence[: args.limit]))


def _pairs(entities: list[Entity]) -> list[tuple[Entity, Entity]]:
    first = entities[:3]
    return [(a, b) for i, a in enumerate(first) for b in first[i + 1 :]]


def graph_tool(library: Library) -> BaseTool:
    """The entity graph as a LangChain tool."""
    return make_tool(
        "graph_search",
        "Relations between merchants, services, rules, releases, teams and other entities",
        GraphArgs,
        GraphSearch(library),
    )
