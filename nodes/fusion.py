"""One order out of several search arms.

Scores of different arms are not comparable, and equal trust in ranks alone (RRF) drags a good
arm down to a bad one. So each arm is scaled to 0..1 by its own spread and weighted by how far
its best hit stands out from the rest of its list: an arm that found nothing in particular has
a flat list and should not decide.

Measured, nDCG@10 with 20 candidates an arm on hotpotqa_train100 / musique_train100, the only
sets used to choose it: dense .877/.704, lexical .833/.607, RRF .878/.673, fixed weights
.874/.711, this rule .879/.717. `nodes/duplicates.py` is the step after it.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, pstdev

from domain.evidence import Hit, Scores

PRIORS: Mapping[str, float] = {"dense": 0.65, "lexical": 0.35}
"""Trust in an arm before looking at its scores; an arm that is not named gets 0.5."""

_SHARPNESS = 2.0
_FLAT = 0.5

Arms = Mapping[str, Sequence[Hit]]
Ranked = tuple[str, Scores]


def fuse(arms: Arms) -> list[Ranked]:
    """Chunk ids with their scores, best first; `fused` and `final` run from 0 to 1.

    They order the hits of one question and say nothing about how good the best one is: for
    that look at the arms' own scores. Ties go to the smaller id, so the order is stable.
    """
    filled = {arm: _best(hits) for arm, hits in arms.items() if hits}
    depth = max(map(len, filled.values()), default=0)
    trust = {arm: _trust(arm, scores, depth) for arm, scores in filled.items()}
    total = sum(trust.values())
    scaled = {arm: _scaled(arm, scores, depth) for arm, scores in filled.items()}
    points = {
        id: sum(trust[arm] / total * own.get(id, 0.0) for arm, own in scaled.items())
        for id in _ids(filled.values())
    }
    return _ordered(points, filled)


def reciprocal_rank_fusion(arms: Arms, k: int = 60) -> list[Ranked]:
    """Order by the sum of 1 / (k + rank): for arms whose scores mean nothing."""
    filled = {arm: _best(hits) for arm, hits in arms.items() if hits}
    points: dict[str, float] = {}
    for scores in filled.values():
        for rank, id in enumerate(sorted(scores, key=lambda id: (-scores[id], id)), start=1):
            points[id] = points.get(id, 0.0) + 1 / (k + rank)
    return _ordered(points, filled)


def _best(hits: Iterable[Hit]) -> dict[str, float]:
    best: dict[str, float] = {}
    for hit in hits:
        best[hit.chunk_id] = max(hit.score, best.get(hit.chunk_id, hit.score))
    return best


def _padded(arm: str, scores: Mapping[str, float], depth: int) -> list[float]:
    """The list as long as the longest arm's.

    A short word list is not a poor one: everything that is not on it shares no word with the
    question, which is a score of 0. One exact identifier is then as clear as it should be.
    """
    values = list(scores.values())
    filler = 0.0 if arm == "lexical" else min(values)
    return values + [filler] * (depth - len(values))


def _trust(arm: str, scores: Mapping[str, float], depth: int) -> float:
    values = _padded(arm, scores, depth)
    spread = pstdev(values)
    stands_out = (max(values) - fmean(values)) / spread if spread > 0 else 0.0
    return PRIORS.get(arm, 0.5) * float(max(stands_out, _FLAT) ** _SHARPNESS)


def _scaled(arm: str, scores: Mapping[str, float], depth: int) -> dict[str, float]:
    values = _padded(arm, scores, depth)
    low, high = min(values), max(values)
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {id: (score - low) / (high - low) for id, score in scores.items()}


def _ids(lists: Iterable[Mapping[str, float]]) -> list[str]:
    return list(dict.fromkeys(id for scores in lists for id in scores))


def _ordered(points: Mapping[str, float], arms: Mapping[str, Mapping[str, float]]) -> list[Ranked]:
    dense, lexical = arms.get("dense", {}), arms.get("lexical", {})
    return [
        (
            id,
            Scores(
                dense=dense.get(id), lexical=lexical.get(id), fused=points[id], final=points[id]
            ),
        )
        for id in sorted(points, key=lambda id: (-points[id], id))
    ]
