"""The searches over loaded documents: one implementation, declared as specs."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from langchain_core.tools import BaseTool
from pydantic import Field

from backends.knowledge import Knowledge
from backends.library import Library
from domain.errors import AgenticRagError, BackendError
from domain.evidence import Hit, ToolResult
from domain.identity import Filter, Scope
from domain.knowledge import DocType
from domain.limits import Degradation
from tools.base import ToolArgs, make_tool

ARM_SHARE = 0.8
"""Of the call's time for each arm, so that a late one leaves the other's result."""


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
    """Asks the dense and the lexical arm at once, within the scope and the spec's kinds.

    An arm that fails or is late becomes a Degradation beside what the other one found.
    """

    library: Library
    spec: SearchSpec
    limit: int

    async def __call__(self, args: SearchArgs, scope: Scope) -> ToolResult:
        due = None
        if args.timeout_s is not None:
            due = asyncio.get_running_loop().time() + ARM_SHARE * args.timeout_s
        knowledge = await self.library.version(args.version)
        kinds = Filter(field="doc_type", op="in", value=self.spec.doc_types)
        narrowed = scope.narrowed((kinds,))
        limit = args.limit or self.limit
        dense, lexical = await asyncio.gather(
            _arm(partial(self._dense, knowledge, args.query, narrowed, limit), due),
            _arm(partial(knowledge.lexical.search, args.query, scope=narrowed, limit=limit), due),
        )
        return self._result({"dense": dense, "lexical": lexical})

    async def _dense(
        self, knowledge: Knowledge, query: str, scope: Scope, limit: int
    ) -> Sequence[Hit]:
        vector = await (await self.library.embedder()).embed_query(query)
        return await knowledge.dense.search(vector, scope=scope, limit=limit)

    def _result(self, arms: dict[str, tuple[Hit, ...] | str]) -> ToolResult:
        name = self.spec.name
        failed = {arm: found for arm, found in arms.items() if isinstance(found, str)}
        found = {arm: hits for arm, hits in arms.items() if not isinstance(hits, str)}
        if not found:
            causes = "; ".join(f"{arm}: {cause}" for arm, cause in failed.items())
            raise BackendError(f"{name} has no arm that answered: {causes}")
        notes = tuple(
            Degradation(
                stage=name, cause=f"{arm} arm: {cause}", effect=f"{', '.join(found)} arm alone"
            )
            for arm, cause in failed.items()
        )
        return ToolResult(tool=name, arms=found, degradations=notes)


async def _arm(
    search: Callable[[], Awaitable[Sequence[Hit]]], due: float | None
) -> tuple[Hit, ...] | str:
    """The hits of one arm, or why there are none. `due` is a moment of the loop's clock."""
    try:
        async with asyncio.timeout_at(due):
            return tuple(await search())
    except TimeoutError:
        return "it did not answer in time"
    except AgenticRagError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - told by its class; its text may be confidential
        return type(error).__name__


def knowledge_tools(library: Library, limit: int) -> list[BaseTool]:
    """All declared searches as LangChain tools; `limit` is the results of each arm by default."""
    return [
        make_tool(spec.name, spec.description, SearchArgs, KnowledgeSearch(library, spec, limit))
        for spec in SEARCHES
    ]
