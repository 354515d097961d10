"""Finding the names of entities in a text, in any script."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from domain.knowledge import Entity

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"  # Chinese and its heirs
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[^\W{_UNSPACED}]")
"""A character of a script that puts spaces between words, or a digit or underscore."""

_ALIAS_SCORE = 0.9


def fold(text: str) -> str:
    """Case, width and runs of white space made equal."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


class MentionIndex:
    """The surfaces (id, name, aliases) of one tenant's entities.

    Looking up tries every known length at every place of the text, so its cost grows with
    the text and not with the number of entities.
    """

    def __init__(self, entities: Iterable[Entity]) -> None:
        surfaces: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for entity in entities:
            named = [(alias, _ALIAS_SCORE) for alias in entity.aliases]
            for surface, score in [*named, (entity.name, 1.0), (entity.id, 1.0)]:
                if key := fold(surface):
                    surfaces[key][entity.id] = score
        self._surfaces: Mapping[str, dict[str, float]] = surfaces
        self._lengths = sorted({len(key) for key in surfaces}, reverse=True)

    def candidates(self, text: str) -> set[str]:
        """The ids of all entities that the text might name."""
        return {id for _, _, ids in self._mentions(fold(text)) for id in ids}

    def link(self, text: str, known: Callable[[str], bool]) -> dict[str, float]:
        """Entity id -> how surely the text names it, longest mention first.

        Only entities that are `known` count: a hidden one neither covers a shorter name nor
        makes another one look ambiguous. A mention shared by n entities gives each 1/n.
        """
        found: dict[str, float] = {}
        taken: list[tuple[int, int]] = []
        for start, end, ids in self._mentions(fold(text)):
            seen = {id: score for id, score in ids.items() if known(id)}
            if seen and not any(start < e and s < end for s, e in taken):
                taken.append((start, end))
                for id, score in sorted(seen.items()):
                    found[id] = max(found.get(id, 0.0), score / len(seen))
        return found

    def _mentions(self, text: str) -> Iterable[tuple[int, int, dict[str, float]]]:
        for length in self._lengths:
            for start in range(len(text) - length + 1):
                end = start + length
                ids = self._surfaces.get(text[start:end])
                if ids and _stands_alone(text, start, end):
                    yield start, end, ids


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a mention is whole words; a single character must be the whole text."""
    if end - start == 1:
        return len(text) == 1
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    cut_before = _WORD.match(before) and _WORD.match(text[start])
    cut_after = _WORD.match(after) and _WORD.match(text[end - 1])
    return not cut_before and not cut_after and not _decimal(text, end)


def _decimal(text: str, end: int) -> bool:
    """Whether the mention ends in the middle of a number or version, as "v1" in "v1.2"."""
    return bool(text[end - 1].isdigit() and re.match(r"\.[0-9]", text[end : end + 2]))
