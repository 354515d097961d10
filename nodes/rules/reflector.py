"""REFLECT without a model: one controlled move for one named gap, or none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from backends.library import Library
from backends.relational.base import Template
from domain.assessment import Gap, Move, Reflection
from domain.identity import Filter, Scope
from domain.knowledge import Entity
from domain.plan import SubQuery, ToolCall
from domain.state import State
from nodes.rules.intent import clauses
from nodes.rules.templates import lacking
from runtime.text.analyzer import content_terms

_GAIN: dict[Move, float] = {
    "widen": 0.6,
    "rewrite": 0.5,
    "switch_source": 0.4,
    "decompose": 0.4,
    "narrow": 0.55,
    "ask_user": 0.7,
}
"""How often a move closes a gap, as a prior; multiplied by the weight of the gap."""

_ELSEWHERE = 0.65

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
        asking = self._ask_user(
            state, await knowledge.relational.templates(scope=scope), tools, entities
        )
        if asking is not None:
            return asking, ()
        made = {(r.gap, r.move) for r in state.get("reflections", ())}
        options = [
            (gain, position, gap, move, query)
            for position, gap in enumerate(state["assessments"][-1].gaps)
            for move, query in _moves(gap, state, tools, entities)
            if (gap.requirement.id, move) not in made and _is_new(query, state)
            for gain in [_gain(move, gap)]
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

    def _ask_user(
        self,
        state: State,
        templates: Sequence[Template],
        tools: Sequence[str],
        entities: Sequence[Entity],
    ) -> Reflection | None:
        """A figure that is there to be had, if the user says of what: no source can say that."""
        route, gaps = state["route"], state["assessments"][-1].gaps
        if route.intent != "statistics" or "sql_lookup" not in tools or not gaps:
            return None
        ask = lacking(route.standalone, templates, entities, route.period)
        if not ask or state["run"].clarified:
            return None
        return Reflection(
            step=state["step"],
            move="ask_user",
            gap=gaps[0].requirement.id,
            expected_gain=_GAIN["ask_user"],
            reason="only the user can say of what",
            ask=ask,
        )


def _gain(move: Move, gap: Gap) -> float:
    """The prior of a move, by the weight of the gap.

    A name that nothing found holds is not found by other words or fewer filters, but elsewhere.
    """
    names = gap.requirement.kind in ("entity", "constraint", "version")
    prior = _ELSEWHERE if names and move == "switch_source" else _GAIN[move]
    return prior * (1.0 if gap.requirement.essential else 0.5)


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
    day = state["route"].period.start if state["route"].period else None
    if gap.requirement.kind == "time" and day is not None and not query.filters:
        around = (
            Filter(field="effective_from", op="gte", value=day.date()),
            Filter(field="effective_from", op="lte", value=day.date() + timedelta(days=1)),
        )
        yield "narrow", base.model_copy(update={"filters": around})
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
