"""Shortest paths over relations that are fetched ring by ring."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from domain.knowledge import Path, Relation

Around = Callable[[Iterable[str]], list[Relation]]
"""The relations that touch any of the given entities."""


def shortest_paths(
    start: str, end: str, around: Around, *, max_hops: int, limit: int
) -> list[Path]:
    """Up to `limit` paths of the least length from `start` to `end`, ignoring direction.

    Ring by ring instead of by enumerating walks: a busy entity multiplies walks, not rings.
    """
    steps = _steps_back(start, end, around, max_hops)
    found: list[Path] = []
    open_: list[tuple[str, tuple[Relation, ...]]] = [(end, ())] if end in steps else []
    while open_ and len(found) < limit:
        here, tail = open_.pop()
        if here == start:
            found.append(Path(relations=tail))
            continue
        back = sorted(steps[here], key=lambda step: step[1].id, reverse=True)
        open_ += [(before, (relation, *tail)) for before, relation in back]
    return found


def _steps_back(
    start: str, end: str, around: Around, max_hops: int
) -> dict[str, list[tuple[str, Relation]]]:
    """For each entity reached, the steps from the ring before it that lead there."""
    steps: dict[str, list[tuple[str, Relation]]] = {}
    ring, reached = {start}, {start}
    for _ in range(max_hops):
        if end in reached or not ring:
            break
        fresh: defaultdict[str, list[tuple[str, Relation]]] = defaultdict(list)
        for relation in around(sorted(ring)):
            for here, there in ((relation.start, relation.end), (relation.end, relation.start)):
                if here in ring and there not in reached:
                    fresh[there].append((here, relation))
        steps |= fresh
        ring = set(fresh)
        reached |= ring
    return steps
