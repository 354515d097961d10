"""Comparing sentences with a question: what is unknown, what time allows, what is remembered."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from backends.embed import Vector, Vectors
from nodes.rules.nearness import Nearness, SentenceVectors, without_terms
from nodes.rules.select import Weights, candidates
from runtime.text.analyzer import analyze
from tests.unit.states import evidence

SENTENCES = "The refund fee is 2 EUR. The window is 30 days. Payouts leave on Tuesday. Ask us."


class Words:
    """Vectors of word counts; after `most` passages it never answers."""

    def __init__(self, most: int = 1_000) -> None:
        self.embedded: list[str] = []
        self._most = most

    def _vector(self, text: str) -> Vector:
        vector = np.zeros(64, np.float32)
        for term in analyze(text):
            vector[sum(map(ord, term)) % 64] += 1
        return vector / (np.linalg.norm(vector) or 1)

    async def embed_query(self, text: str) -> Vector:
        return self._vector(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if len(self.embedded) + len(texts) > self._most:
            await asyncio.Event().wait()
        self.embedded += texts
        return np.stack([self._vector(text) for text in texts])


def sentences(words: Words) -> SentenceVectors:
    class Shelf:
        async def embedder(self) -> Words:
            return words

    return SentenceVectors(Shelf())  # type: ignore[arg-type]


FOUND = candidates([evidence(f"{SENTENCES} {SENTENCES.replace('is', 'was')}")])
KNOWN = Weights(dict.fromkeys(analyze(SENTENCES), 1), 10)


async def near(vectors: SentenceVectors, question: str, timeout_s: float = 30) -> Nearness:
    return await vectors.nearness(question, FOUND, KNOWN, timeout_s=timeout_s)


async def test_a_sentence_is_embedded_once_however_often_it_is_compared() -> None:
    words = Words()
    vectors = sentences(words)
    first = await near(vectors, "What is the refund fee?")
    again = await near(vectors, "What is the refund fee?")
    assert first == again
    assert len(words.embedded) == len(set(words.embedded))


async def test_when_time_is_up_what_was_embedded_is_compared_and_kept() -> None:
    words = Words(most=4)
    vectors = sentences(words)
    hurried = await near(vectors, "What is the refund fee?", timeout_s=0.05)
    assert hurried.measured
    assert len(hurried.whole) == 4
    assert len(words.embedded) == 4


async def test_without_any_vector_words_alone_decide_and_strictly() -> None:
    hurried = await near(sentences(Words(most=0)), "What is the refund fee?", timeout_s=0.01)
    assert not hurried.measured
    assert hurried.supports(lexical=0.9)
    assert not hurried.supports(lexical=0.5)
    strange = await near(sentences(Words(most=0)), "What is the bitcoin fee?", timeout_s=0.01)
    assert not strange.supports(lexical=0.9)


async def test_a_sentence_nearer_to_the_question_without_its_strange_word_is_no_answer() -> None:
    plain = await near(sentences(Words()), "What is the refund fee?")
    strange = await near(sentences(Words()), "What is the bitcoin refund fee?")
    assert plain.covers_unknown_words
    assert strange.unknown > 0
    assert not strange.covers_unknown_words


@pytest.mark.parametrize(
    ("question", "terms", "rest"),
    [
        ("What is the bitcoin fee?", {"bitcoin"}, "What is the  fee?"),
        ("比特币退款手续费是多少？", {"比特", "币"}, "退款手续费是多少？"),
        ("bitcoin", {"bitcoin"}, ""),
    ],
)
def test_unknown_words_are_left_out_whole(question: str, terms: set[str], rest: str) -> None:
    assert without_terms(question, terms).split() == rest.split()


def test_comparing_fewer_sentences_keeps_their_cosines() -> None:
    whole: Any = {("e1", 0): 0.9, ("e1", 25): 0.4}
    near = Nearness(whole=whole, without={("e1", 0): 0.2, ("e1", 25): 0.5})
    fewer = near.among([c for c in FOUND if c.unit.start == 25])
    assert fewer.best == 0.4
    assert not Nearness(whole=fewer.whole, without=fewer.without, unknown=0.5).covers_unknown_words
