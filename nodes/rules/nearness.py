"""How near the best sentences come to a question, and whether it is for all of the question.

A passage can be near to a question for the words it shares and miss the one that matters: the
refund fee is no answer to what a refund in bitcoin costs. So the question is compared a second
time without the words that stand nowhere in the caller's knowledge (input erasure, Li, Monroe
and Jurafsky 2016): where a sentence is clearly nearer to what is left, it never spoke of them.

The bounds were set on 55 questions written over examples/payments (30 it answers in other
words, 25 it does not): they keep 28 of the 30 and refuse all 25.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import rjieba

from backends.embed import Vector, Vectors
from backends.library import Library
from nodes.rules.select import Candidate, Weights, in_context, ranked
from runtime.text.analyzer import content_terms
from runtime.text.language import detect, question_language

NEAR = 0.675
"""Cosine from which a sentence is about a question asked in other words."""

NEAR_WITH_WORDS = 0.6
"""The same where the passage also holds most of the question's words."""

NEAR_ABROAD = 0.58
"""The same where everything found is in the other language: cosines across languages are lower
(on a small English corpus, Chinese questions it answers reached .61 to .73, others .45 to .51)."""

SLACK = 0.02
"""How much nearer a sentence may be to the question without its unknown words."""

COMPARED = 16
BATCH = 4
LONGEST = 240
"""How many sentences are compared, how many at a time, and how many characters of each."""

_PIECES = re.compile(r"[一-鿿]+|[^一-鿿\s]+|\s+")


Key = tuple[str, int]
"""A sentence: the id of its evidence and where it begins there."""


def key_of(candidate: Candidate) -> Key:
    """The key of a sentence."""
    return candidate.evidence.id, candidate.unit.start


@dataclass(frozen=True)
class Nearness:
    """One question against the sentences found for it.

    `whole` and `without` give each compared sentence's cosine to the question and to the
    question without its unknown words; `unknown` is the weighted share of those words, 0 to 1.
    `measured` is False where there was no time: then words alone decide, and only where all of
    them are known and most stand in one passage. `abroad` says that nothing compared is in the
    question's language.
    """

    whole: Mapping[Key, float] = field(default_factory=dict)
    without: Mapping[Key, float] = field(default_factory=dict)
    unknown: float = 0.0
    measured: bool = True
    abroad: bool = False

    @property
    def best(self) -> float:
        """The highest cosine to the whole question; 0 where nothing was compared."""
        return max(self.whole.values(), default=0.0)

    def of(self, candidate: Candidate) -> float:
        """The cosine of a sentence; 0 where it was not compared."""
        return self.whole.get(key_of(candidate), 0.0)

    def among(self, candidates: Iterable[Candidate]) -> "Nearness":
        """The same comparison, of these sentences only."""
        kept = {key_of(candidate) for candidate in candidates}
        return replace(
            self,
            whole={key: cosine for key, cosine in self.whole.items() if key in kept},
            without={key: cosine for key, cosine in self.without.items() if key in kept},
        )

    def nearest_evidence(self, most: int = 3) -> set[str]:
        """The evidence that holds the nearest sentences."""
        order = sorted(self.whole, key=lambda key: -self.whole[key])
        return {evidence for evidence, _ in order[:most]}

    @property
    def covers_unknown_words(self) -> bool:
        """Whether the words that are nowhere written are meant by what was found all the same."""
        if self.unknown in (0.0, 1.0):
            return True
        return self.best - max(self.without.values(), default=0.0) >= -SLACK

    def supports(self, lexical: float) -> bool:
        """Whether the question is answered by what was found, given the share of shared words."""
        has_words = not self.unknown and lexical >= 0.6
        if not self.measured:
            return has_words
        bound = NEAR_WITH_WORDS if has_words else NEAR_ABROAD if self.abroad else NEAR
        return self.best >= bound and self.covers_unknown_words


@dataclass(frozen=True)
class SentenceVectors:
    """Vectors of sentences, remembered: the same pages are read for many questions."""

    library: Library
    size: int = 50_000
    _known: OrderedDict[str, np.ndarray[tuple[int], np.dtype[np.float32]]] = field(
        default_factory=OrderedDict
    )

    async def nearness(
        self,
        question: str,
        found: Iterable[Candidate],
        weights: Weights,
        *,
        timeout_s: float,
    ) -> Nearness:
        """Compare a question with the most promising sentences, as far as time allows.

        The question is embedded first: once sentences are under way, nothing else has to wait.
        """
        terms = content_terms(question)
        chosen = [c for _, c in ranked(found, terms, weights)[:COMPARED]]
        unknown = {term for term in terms if not weights.frequencies.get(term)}
        share = sum(map(weights.of, unknown)) / (sum(map(weights.of, terms)) or 1.0)
        if not chosen:
            return Nearness(unknown=share)
        texts = [in_context(c, terms)[:LONGEST] for c in chosen]
        rest = without_terms(question, unknown)
        embedder = await self.library.embedder()
        asked = await embedder.embed_query(question)
        left = await embedder.embed_query(rest) if unknown and rest else asked
        try:
            async with asyncio.timeout(timeout_s):
                await self._learn(texts)
        except TimeoutError:
            known = [i for i, text in enumerate(texts) if text in self._known]
            chosen, texts = [chosen[i] for i in known], [texts[i] for i in known]
        if not chosen:
            return Nearness(unknown=share, measured=False)
        vectors = np.stack([self._known[text] for text in texts])
        return Nearness(
            whole=_cosines(chosen, vectors, asked),
            without=_cosines(chosen, vectors, left),
            unknown=share if rest else 1.0,
            abroad=all(detect(c.text) != question_language(question) for c in chosen),
        )

    async def _learn(self, texts: Sequence[str]) -> None:
        """Embed what is not known yet, the most promising first; what is done stays known."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        embedder = await self.library.embedder()
        while len(self._known) + len(missing) > self.size and self._known:
            self._known.popitem(last=False)
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            self._known.update(zip(batch, await embedder.embed_passages(batch), strict=True))


def _cosines(chosen: Sequence[Candidate], vectors: Vectors, asked: Vector) -> dict[Key, float]:
    return dict(zip(map(key_of, chosen), map(float, vectors @ asked), strict=True))


def without_terms(question: str, terms: set[str]) -> str:
    """The question without the words that give these terms; empty where none is left."""
    words: list[str] = []
    for match in _PIECES.finditer(question):
        piece = match.group()
        words.extend(rjieba.cut(piece) if "一" <= piece[0] <= "鿿" else [piece])
    kept = [w for w in words if not terms & set(content_terms(w))]
    return "".join(kept).strip() if content_terms("".join(kept)) else ""
