"""RERANK: the fan-in of a round and the reranker's tool node.

Merges what the tools brought, fuses the arms, reads the text of what stays, collapses near
duplicates and joins it to the evidence of earlier rounds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from backends.library import Library
from domain.evidence import Evidence, Hit, ToolResult
from domain.identity import Scope
from domain.limits import Degradation
from domain.run import Context
from domain.state import State
from nodes.base import Update
from nodes.duplicates import near_duplicates
from nodes.fusion import fuse
from nodes.rules.order import arranged, weighed
from runtime.identity import Identity
from tools.evidence import NEIGHBOURS, from_window


@dataclass(frozen=True)
class RerankNode:
    """Orders by calibrated fusion, which is what serves where no reranker is configured."""

    library: Library
    identity: Identity
    evidence_limit: int

    name: ClassVar[str] = "rerank"

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        run = state["run"]
        scope = Scope.of(self.identity.current(runtime), as_of=run.as_of)
        found: list[Evidence] = []
        for query, results in _by_query(state.get("results", ())).items():
            found += await self._read(query, results, state, scope)
            found += _direct(query, results)
        before = state.get("evidence", ())
        merged = near_duplicates(_merged((*before, *found)))
        kept = arranged(merged, state["plan"], self._limit(state))
        return {
            "evidence": kept,
            "new_evidence": len({e.id for e in kept} - {e.id for e in before}),
            "results": Overwrite(()),
        }

    async def _read(
        self, query: str, results: Sequence[ToolResult], state: State, scope: Scope
    ) -> list[Evidence]:
        """Fuse the arms of one sub-query over all its tools and read the text of the best."""
        fused = fuse(_arms(results))[: self._depth(query, state)]
        tools = {hit.chunk_id: r.tool for r in results for hits in r.arms.values() for hit in hits}
        knowledge = await self.library.version(state["run"].knowledge_version)
        windows = await knowledge.catalog.windows(
            [id for id, _ in fused], scope=scope, neighbours=NEIGHBOURS
        )
        found: list[Evidence] = []
        for id, scores in fused:
            window = windows.get(id)
            if window is not None:
                item = from_window(window, tool=tools[id], scores=weighed(scores, window, state))
                found.append(item.model_copy(update={"sub_queries": (query,)}))
        return found

    def _limit(self, state: State) -> int:
        """A comparison needs both documents whole and a chain all its links: they keep more."""
        wide = state["route"].intent in ("version_difference", "relation")
        return self.evidence_limit * (3 if wide else 1)

    def _depth(self, query: str, state: State) -> int:
        planned = state["plan"].sub_query(query)
        compares = planned is not None and planned.slot.startswith("version:")
        return self.evidence_limit * (3 if compares else 1)

    def degraded(self, state: State, cause: str) -> Update:
        """The round brings nothing; the evidence of earlier rounds stays."""
        note = Degradation(stage=self.name, cause=cause, effect="this round's results were lost")
        return {"new_evidence": 0, "results": Overwrite(()), "degradations": (note,)}

    def decision(self, update: Update) -> dict[str, object]:
        """What the trace shows."""
        kept: tuple[Evidence, ...] = update.get("evidence", ())
        return {
            "reranker": "fusion",
            "evidence": len(kept),
            "new": update["new_evidence"],
            "scores": [round(item.scores.final, 3) for item in kept[:10]],
        }


def _by_query(results: Iterable[ToolResult]) -> dict[str, list[ToolResult]]:
    grouped: dict[str, list[ToolResult]] = {}
    for result in results:
        grouped.setdefault(result.sub_query, []).append(result)
    return grouped


def _arms(results: Iterable[ToolResult]) -> dict[str, list[Hit]]:
    """The same arm over several tools is one arm: its scores are of one kind."""
    arms: dict[str, dict[str, Hit]] = {}
    for result in results:
        for arm, hits in result.arms.items():
            best = arms.setdefault(arm, {})
            for hit in hits:
                if hit.chunk_id not in best or best[hit.chunk_id].score < hit.score:
                    best[hit.chunk_id] = hit
    return {arm: sorted(hits.values(), key=lambda h: -h.score) for arm, hits in arms.items()}


def _direct(query: str, results: Iterable[ToolResult]) -> list[Evidence]:
    """Rows, relations and pages come as evidence; they have no arms to fuse."""
    return [
        item.model_copy(update={"sub_queries": (query,)})
        for result in results
        for item in result.evidence
    ]


def _merged(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Each piece once: found again, it answers more sub-queries and keeps its best score."""
    merged: dict[str, Evidence] = {}
    for item in evidence:
        known = merged.get(item.id)
        if known is None:
            merged[item.id] = item
            continue
        queries = tuple(dict.fromkeys((*known.sub_queries, *item.sub_queries)))
        better = max(known, item, key=lambda e: e.scores.final)
        merged[item.id] = better.model_copy(update={"sub_queries": queries})
    return list(merged.values())
