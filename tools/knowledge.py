"""The searches over loaded documents: one implementation, declared as specs."""

import asyncio
from dataclasses import dataclass

from langchain_core.tools import BaseTool
from pydantic import Field

from backends.library import Library
from domain.evidence import ToolResult
from domain.identity import Filter, Scope
from domain.knowledge import DocType
from tools.base import ToolArgs, make_tool


class SearchArgs(ToolArgs):
    """A question in plain words, in Chinese or English."""

    query: str = Field(min_length=1, max_length=8_000, description="What to look for")
    limit: int | None = Field(
        default=None, ge=1, le=200, description="How many results of each arm"
    )


@dataclass(frozen=True)
class SearchSpec:
    """One declared search: its name, what a planner is told, and the kinds it looks through."""

    name: str
    description: str
    doc_types: tuple[DocType, ...]


SEARCHES = (
    SearchSpec(
        "knowledge_search",
        "Product documentation, FAQs, policies, API pages and runbooks",
        ("document", "faq", "policy", "api", "runbook"),
    ),
    SearchSpec("api_search", "API manuals: operations, parameters, error codes", ("api",)),
    SearchSpec("runbook_search", "Runbooks: what to do, step by step", ("runbook",)),
    SearchSpec("ticket_search", "Support and incident tickets", ("ticket",)),
    SearchSpec("change_log_search", "Releases and configuration changes", ("change",)),
)


@dataclass(frozen=True)
class KnowledgeSearch:
    """Asks the dense and the lexical arm at once, within the scope and the spec's kinds."""

    library: Library
    spec: SearchSpec
    limit: int

    async def __call__(self, args: SearchArgs, scope: Scope) -> ToolResult:
        knowledge = await self.library.current()
        kinds = Filter(field="doc_type", op="in", value=self.spec.doc_types)
        narrowed = scope.narrowed((kinds,))
        limit = args.limit or self.limit
        embedder = await self.library.embedder()
        vector = asyncio.ensure_future(embedder.embed_query(args.query))
        try:
            lexical = await knowledge.lexical.search(args.query, scope=narrowed, limit=limit)
            dense = await knowledge.dense.search(await vector, scope=narrowed, limit=limit)
        finally:
            vector.cancel()
        return ToolResult(
            tool=self.spec.name, arms={"dense": tuple(dense), "lexical": tuple(lexical)}
        )


def knowledge_tools(library: Library, limit: int) -> list[BaseTool]:
    """All declared searches as LangChain tools; `limit` is the results of each arm by default."""
    return [
        make_tool(spec.name, spec.description, SearchArgs, KnowledgeSearch(library, spec, limit))
        for spec in SEARCHES
    ]
