"""Near-duplicates: the same words under another name tell a reader nothing new.

What differs in a number, a version or its validity is never a duplicate: two editions of one
policy differ in little else, and that little is what people ask about.
"""

import re
from collections.abc import Sequence

from domain.evidence import Evidence
from runtime.text.analyzer import normalize

SIMILAR = 0.9
"""Share of common shingles from which two texts count as one."""

_SHINGLE = 4
_LENGTH_RATIO = 0.8
_WORD = re.compile(r"[a-z0-9]+|[^\W\da-z_]")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")

Shingles = frozenset[tuple[str, ...]]


def near_duplicates(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence without what repeats a better-scored piece, in the order given.

    The piece that stays takes over the sub-queries of those that went.
    """
    texts = [item.text for item in evidence]
    labels = [
        (item.kind, item.meta.version, item.meta.effective_from, item.meta.effective_to)
        for item in evidence
    ]
    best_first = sorted(range(len(evidence)), key=lambda n: -evidence[n].scores.final)
    stands_for = collapse([texts[n] for n in best_first], [labels[n] for n in best_first])
    kept: dict[int, list[str]] = {}
    for place, index in zip(stands_for, best_first, strict=True):
        kept.setdefault(best_first[place], []).extend(evidence[index].sub_queries)
    return [
        item.model_copy(update={"sub_queries": tuple(dict.fromkeys(kept[n]))})
        for n, item in enumerate(evidence)
        if n in kept
    ]


def collapse(texts: Sequence[str], labels: Sequence[object] | None = None) -> list[int]:
    """For each text the place of the first one it repeats; its own where it is new.

    Texts with unequal labels are never the same.
    """
    folded = [normalize(text).lower() for text in texts]
    marks = [
        (label, tuple(_NUMBER.findall(text)))
        for text, label in zip(folded, labels or [None] * len(texts), strict=True)
    ]
    shingles: dict[int, Shingles] = {}
    result: list[int] = []
    for n, text in enumerate(folded):
        firsts = [
            m
            for m in range(n)
            if result[m] == m and marks[m] == marks[n] and _as_long(folded[m], text)
        ]
        for m in (*firsts, *([n] if firsts else [])):
            shingles.setdefault(m, _shingles(folded[m]))
        result.append(next((m for m in firsts if _same(shingles[m], shingles[n])), n))
    return result


def _as_long(one: str, other: str) -> bool:
    """Whether the lengths allow the texts to be the same: most pairs need no closer look."""
    return min(len(one), len(other)) >= _LENGTH_RATIO * max(len(one), len(other))


def _shingles(text: str) -> Shingles:
    words = _WORD.findall(text)
    size = min(_SHINGLE, max(len(words), 1))
    return frozenset(tuple(words[n : n + size]) for n in range(len(words) - size + 1))


def _same(one: Shingles, other: Shingles) -> bool:
    """Jaccard similarity of at least SIMILAR; a text without words is like no other."""
    if not one or not other:
        return False
    return len(one & other) >= SIMILAR * len(one | other)
