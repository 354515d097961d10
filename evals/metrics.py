"""Measures of a ranking against the documents known to be relevant, each from 0 to 1.

`ranked` is best first, `gold` maps each relevant id to its grade (above 0). A ranking that
names an id twice is judged by the first place. An empty `gold` is a ValueError: such a
question measures nothing and has to be left out before.
"""

from collections.abc import Mapping, Sequence
from math import log2


def ndcg(ranked: Sequence[str], gold: Mapping[str, float], k: int = 10) -> float:
    """Discounted cumulative gain of the first `k`, as a share of the best possible."""
    top = _top(ranked, gold, k)
    gain = sum(gold.get(id, 0.0) / log2(place + 2) for place, id in enumerate(top))
    ideal = sorted(gold.values(), reverse=True)[:k]
    return gain / sum(grade / log2(place + 2) for place, grade in enumerate(ideal))


def recall(ranked: Sequence[str], gold: Mapping[str, float], k: int = 10) -> float:
    """The share of the relevant that stands among the first `k`."""
    return len(set(_top(ranked, gold, k)) & set(gold)) / len(gold)


def mrr(ranked: Sequence[str], gold: Mapping[str, float], k: int = 10) -> float:
    """One over the place of the first relevant one; 0 where none is among the first `k`."""
    top = _top(ranked, gold, k)
    return next((1 / (place + 1) for place, id in enumerate(top) if id in gold), 0.0)


def all_gold(ranked: Sequence[str], gold: Mapping[str, float], k: int = 10) -> float:
    """1 where everything relevant is among the first `k`: what a multi-hop answer needs."""
    return float(set(gold) <= set(_top(ranked, gold, k)))


def _top(ranked: Sequence[str], gold: Mapping[str, float], k: int) -> list[str]:
    if not gold:
        raise ValueError("a question without relevant documents cannot be measured")
    return list(dict.fromkeys(ranked))[:k]
