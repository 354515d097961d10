"""Words in Tantivy, cut by our own analyzer.

Tantivy knows no Chinese words, so it gets terms, separated by spaces, and never sees a
question's own text: a query is built term by term, and nothing in it can be an operator.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import tantivy as tv

from backends.scoping import INTEGERS, KEYWORDS, Condensed, Condition, condense, fields
from domain.errors import BackendError, KnowledgeError, StoreBusy
from domain.evidence import Hit
from domain.identity import Scope
from domain.knowledge import Chunk
from runtime.text.analyzer import analyze

T = TypeVar("T")
Clause = tuple[tv.Occur, tv.Query]

WEIGHTS = {"title": 0.5, "heading": 0.5, "body": 1.0}
"""Share of each field in the score."""

_TERMS = "terms"
_WRITER_BYTES = 64_000_000
_SEARCH_THREADS = 4
_MAX_QUERY_TERMS = 256


class TantivyStore:
    """A LexicalStore in a directory of which one process is the writer at a time.

    The constructor reads the disk: on an event loop use `open`. Writes are gathered and
    committed by `flush`, for a commit costs some 70 ms. Raises StoreBusy where another
    process has the directory, KnowledgeError where it is damaged.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._schema = _schema()
        self._index, self._writer = _open(directory, self._schema)
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="lexical-write")
        self._readers = ThreadPoolExecutor(_SEARCH_THREADS, thread_name_prefix="lexical-read")
        self._closed = False

    @classmethod
    async def open(cls, directory: Path) -> "TantivyStore":
        """The constructor, off the event loop."""
        return await asyncio.to_thread(cls, directory)

    async def upsert(self, chunks: Sequence[Chunk]) -> None:
        """Write or replace; visible to searches after `flush`."""
        await self._run(self._writing, lambda: self._write(chunks))

    async def delete(self, chunk_ids: Sequence[str]) -> None:
        """Remove; ids that are not there are no error; visible after `flush`."""
        await self._run(self._writing, lambda: self._drop(chunk_ids))

    async def search(self, query: str, *, scope: Scope, limit: int) -> list[Hit]:
        """The best `limit` chunks of the scope that share a word with `query`, best first."""
        condensed = condense(scope)
        if condensed is None or limit < 1:
            return []
        return await self._run(self._readers, lambda: self._find(query, condensed, limit))

    async def document_frequency(self, terms: Sequence[str], *, scope: Scope) -> dict[str, int]:
        """For each analysed term the number of chunks of the scope that hold it."""
        condensed = condense(scope)
        if condensed is None:
            return dict.fromkeys(terms, 0)
        return await self._run(self._readers, lambda: self._frequencies(terms, condensed))

    async def count(self) -> int:
        """How many chunks are committed, over all tenants."""
        return await self._run(self._readers, lambda: int(self._index.searcher().num_docs))

    async def flush(self) -> None:
        """Commit: durable and visible."""
        await self._run(self._writing, self._commit)

    async def close(self) -> None:
        """Flush and let go of the files; a second call does nothing."""
        if self._closed:
            return
        await self.flush()
        self._closed = True
        await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._writing.shutdown()
        self._readers.shutdown()
        self._writer.wait_merging_threads()

    def _write(self, chunks: Sequence[Chunk]) -> None:
        for chunk in chunks:
            self._writer.delete_documents_by_term("id", chunk.id)
            self._writer.add_document(_document(chunk))

    def _drop(self, chunk_ids: Sequence[str]) -> None:
        for chunk_id in chunk_ids:
            self._writer.delete_documents_by_term("id", chunk_id)

    def _commit(self) -> None:
        self._writer.commit()
        self._index.reload()

    def _find(self, query: str, wanted: Condensed, limit: int) -> list[Hit]:
        terms = list(dict.fromkeys(analyze(query)))[:_MAX_QUERY_TERMS]
        if not terms:
            return []
        searcher = self._index.searcher()
        full = self._within(wanted, [(tv.Occur.Must, self._words(terms))])
        found = searcher.search(full, limit, count=False).hits
        hits = [
            Hit(chunk_id=str(searcher.doc(address).get_first("id")), score=score)
            for score, address in found
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    def _frequencies(self, terms: Sequence[str], wanted: Condensed) -> dict[str, int]:
        searcher = self._index.searcher()

        def frequency(term: str) -> int:
            query = self._within(wanted, [(tv.Occur.Must, self._words([term]))])
            # The stub of this package leaves `count` out.
            return int(searcher.search(query, 1, count=True).count)  # type: ignore[attr-defined]

        return {term: frequency(term) for term in terms}

    def _words(self, terms: Sequence[str]) -> tv.Query:
        per_field = [
            tv.Query.boost_query(
                tv.Query.boolean_query(
                    [
                        (tv.Occur.Should, tv.Query.term_query(self._schema, field, term, "freq"))
                        for term in terms
                    ]
                ),
                weight,
            )
            for field, weight in WEIGHTS.items()
        ]
        return tv.Query.boolean_query([(tv.Occur.Should, query) for query in per_field])

    def _within(self, wanted: Condensed, clauses: list[Clause]) -> tv.Query:
        """The clauses, limited to the scope, whose conditions add nothing to the score."""
        must = [
            self._matches("tenant", (wanted.tenant,)),
            self._matches("approval", ("approved",)),
            self._matches("access", wanted.access),
        ]
        must_not = []
        if wanted.begun_by is not None:
            must_not.append(self._between("effective_from", lower=wanted.begun_by + 1))
        for condition in wanted.conditions:
            if condition.op == "ne":
                must_not.append(self._matches(condition.field, condition.values))
            else:
                must.append(self._positive(condition))
        return tv.Query.boolean_query(
            [
                *((tv.Occur.Must, tv.Query.const_score_query(query, 0.0)) for query in must),
                *((tv.Occur.MustNot, query) for query in must_not),
                *clauses,
            ]
        )

    def _positive(self, condition: Condition) -> tv.Query:
        if condition.op in ("eq", "in"):
            return self._matches(condition.field, condition.values)
        bound = int(condition.values[0])
        if condition.op == "gte":
            return self._between(condition.field, lower=bound)
        return self._between(condition.field, upper=bound)

    def _matches(self, field: str, values: Sequence[str | int]) -> tv.Query:
        return tv.Query.term_set_query(self._schema, field, list(values))

    def _between(self, field: str, lower: int | None = None, upper: int | None = None) -> tv.Query:
        return tv.Query.range_query(self._schema, field, tv.FieldType.Integer, lower, upper)

    async def _run(self, pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        if self._closed:
            raise BackendError(f"the word index in {self._directory} is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, call)
        except (ValueError, OSError) as error:
            raise BackendError(f"the word index in {self._directory} failed: {error}") from error


def _schema() -> tv.Schema:
    builder = tv.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    for name in WEIGHTS:
        builder.add_text_field(name, tokenizer_name=_TERMS, index_option="freq")
    for name in KEYWORDS:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in INTEGERS:
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder.build()


def _open(directory: Path, schema: tv.Schema) -> tuple[tv.Index, tv.IndexWriter]:
    directory.mkdir(parents=True, exist_ok=True)
    try:
        index = tv.Index(schema, path=str(directory))
        tokenizer = tv.TextAnalyzerBuilder(tv.Tokenizer.whitespace()).build()
        index.register_tokenizer(_TERMS, tokenizer)
        return index, index.writer(_WRITER_BYTES, 1)
    except (ValueError, OSError) as error:
        if "LockBusy" in str(error):
            raise StoreBusy(
                f"the word index in {directory} is in use by another process. Stop that "
                "process, or put your question to it instead of opening its data."
            ) from error
        raise KnowledgeError(
            f"the word index in {directory} cannot be opened: {error}. It is damaged or was made "
            "by another version; move it away and load the documents again."
        ) from error


def _document(chunk: Chunk) -> tv.Document:
    """`context` repeats title and headings; what it holds besides goes to the body."""
    title = analyze(chunk.title)
    heading = [term for part in chunk.heading_path for term in analyze(part)]
    named = {*title, *heading}
    rest = [term for term in analyze(chunk.context) if term not in named]
    document = tv.Document()
    document.add_text("id", chunk.id)
    document.add_text("title", " ".join(title))
    document.add_text("heading", " ".join(heading))
    document.add_text("body", " ".join([*title, *heading, *rest, *analyze(chunk.text)]))
    for name, value in fields(chunk).items():
        if isinstance(value, int):
            document.add_integer(name, value)
        else:
            for item in value if isinstance(value, list) else [value]:
                document.add_text(name, item)
    return document
