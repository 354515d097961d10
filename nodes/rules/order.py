"""In which order evidence is read, and which of it stays when there is too much."""

from collections.abc import Sequence

from domain.evidence import Evidence, Scores
from domain.knowledge import Window
from domain.plan import Plan
from domain.state import State
from nodes.rules.days import day_asked
from nodes.rules.walks import canonical, edges

OUT_OF_FORCE = 0.25
AUTHORITY = 0.05
LANGUAGE = 0.03
"""Bounded so that they break ties and never bury a clearly better match; what is out of force
gives way unless the question is about versions."""


def weighed(scores: Scores, window: Window, state: State) -> Scores:
    """The fused score, adjusted for validity, authority and language."""
    meta, route = window.chunk.meta, state["route"]
    final = scores.fused + AUTHORITY * (meta.authority - 50) / 50
    if meta.language == route.language:
        final += LANGUAGE
    if not meta.in_force(day_asked(route, state["run"].day)) and not route.versions:
        final -= OUT_OF_FORCE
    return scores.model_copy(update={"final": final})


def arranged(evidence: Sequence[Evidence], plan: Plan, limit: int) -> tuple[Evidence, ...]:
    """The best of each sub-query in turn, up to `limit`, then by score.

    Taking turns keeps a talkative sub-query from crowding out the others. Relations follow how
    much of the question's words their edge spells out.
    """
    scored = _with_relation_scores(evidence, plan)
    by_query: dict[str, list[Evidence]] = {}
    for item in sorted(scored, key=lambda e: (-e.scores.final, e.id)):
        for query in item.sub_queries or ("",):
            by_query.setdefault(query, []).append(item)
    kept: dict[str, Evidence] = {}
    rounds = max((len(found) for found in by_query.values()), default=0)
    for position in range(rounds):
        for found in by_query.values():
            if position < len(found) and len(kept) < limit:
                kept.setdefault(found[position].id, found[position])
    return tuple(sorted(kept.values(), key=lambda e: (-e.scores.final, e.id)))


def _with_relation_scores(evidence: Sequence[Evidence], plan: Plan) -> list[Evidence]:
    question = plan.sub_queries[0].question if plan.sub_queries else ""
    wanted = canonical(question)
    spelled = {e.evidence.id: len(e.words & wanted) for e in edges(evidence)}
    most = max(spelled.values(), default=0) or 1
    return [
        item.model_copy(
            update={
                "scores": item.scores.model_copy(
                    update={"final": 0.2 + 0.6 * spelled[item.id] / most}
                )
            }
        )
        if item.id in spelled
        else item
        for item in evidence
    ]
