"""REFLECT without a model: one controlled move for one named gap, or none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backends.library import Library
from domain.assessment import Gap, Move, Reflection
from domain.identity import Scope
from domain.knowledge import Entity
from domain.plan import SubQuery, ToolCall
from domain.state import State
from nodes.rules.intent import clauses
from runtime.text.analyzer import content_terms

_GAIN: dict[Move, float] = {
    "widen": 0.6,
    "rewrite": 0.5,
    "switch_source": 0.4,
    "decompose": 0.4,
    "narrow": 0.3,
    "ask_user": 0.2,
}
"""How often a move closes a gap, as a prior; multiplied by the weight of the gap."""

_SOURCES = (
    "knowledge_search",
    "ticket_search",
    "change_log_search",
    "runbook_search",
    "graph_search",
    "web_search",
)


@dataclass(frozen=True)
class RuleReflector:
    """Takes the gap that weighs most and the move that promises most for it.

    A move already made for the gap, and a move whose calls were all made before, promise
    nothing; where no gap has a move left, the answer is None and the loop ends.
    """

    library: Library

    async def reflect(
        self, state: State, *, tools: Sequence[str], scope: Scope
    ) -> tuple[Reflection, tuple[SubQuery, ...]] | None:
        knowledge = await self.library.version(state["run"].knowledge_version)
        entities = await knowledge.entities.link(state["route"].standalone, scope=scope)
        made = {(r.gap, r.move) for r in state.get("reflections", ())}
        options = [
            (gain, position, gap, move, query)
            for position, gap in enumerate(state["assessments"][-1].gaps)
            for move, query in _moves(gap, state, tools, entities)
            if (gap.requirement.id, move) not in made and _is_new(query, state)
            for gain in [_GAIN[move] * (1.0 if gap.requirement.essential else 0.5)]
        ]
        if not options:
            return None
        gain, _, gap, move, query = min(options, key=lambda option: (-option[0], option[1]))
        reflection = Reflection(
            step=state["step"],
            move=move,
            gap=gap.requirement.id,
            expected_gain=round(gain, 3),
            reason=gap.reason,
            sub_queries=(query.id,),
        )
        return reflection, (query,)


def _moves(
    gap: Gap, state: State, tools: Sequence[str], entities: Sequence[Entity]
) -> Iterator[tuple[Move, SubQuery]]:
    planned = state["plan"].sub_queries
    query = state["plan"].sub_query(gap.requirement.sub_query) or next(iter(planned), None)
    if query is None:
        return
    fresh = f"r{len(state.get('reflections', ())) + 1}"
    base = query.model_copy(update={"id": fresh, "depends_on": ()})
    if query.filters:
        yield "widen", base.model_copy(update={"filters": (), "calls": _with_gap(query, gap)})
    keywords = _keywords(query.question, gap, entities)
    yield "rewrite", base.model_copy(update={"calls": _asking(query, keywords)})
    others = [t for t in _SOURCES if t in tools and t not in {c.tool for c in query.calls}]
    if others:
        calls = tuple(
            ToolCall(tool=t, arguments={"query": f"{query.question} {gap.requirement.text}"[:400]})
            for t in others
            if t != "graph_search" or entities
        )
        yield "switch_source", base.model_copy(update={"filters": (), "calls": calls})
    parts = clauses(query.question)
    if len(parts) > 1:
        calls = tuple(c for part in parts for c in _asking(query, part))
        yield "decompose", base.model_copy(update={"calls": calls})


def _with_gap(query: SubQuery, gap: Gap) -> tuple[ToolCall, ...]:
    text = query.question
    if gap.requirement.text.casefold() not in text.casefold():
        text = f"{text} {gap.requirement.text}"
    return _asking(query, text)


def _keywords(question: str, gap: Gap, entities: Sequence[Entity]) -> str:
    names = [name for e in entities for name in (e.name, *e.aliases)]
    words = [
        *content_terms(question),
        gap.requirement.text if gap.requirement.kind != "slot" else "",
    ]
    return " ".join(dict.fromkeys(word for word in (*names, *words) if word))[:2_000]


def _asking(query: SubQuery, text: str) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(tool=call.tool, arguments={"query": text})
        for call in query.calls
        if "query" in call.arguments
    )


def _is_new(query: SubQuery, state: State) -> bool:
    asked = set(state.get("asked", ()))
    return any(query.signature(call) not in asked for call in query.calls)
