"""A retrieval set on disk: corpus.jsonl, queries.jsonl, qrels.tsv.

Every fault is an InputError that names the file, the line and what was expected, for a
figure from a half-read set is worse than none.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from domain.errors import InputError

_LAYOUT = (
    "A retrieval set is a folder with corpus.jsonl (id, title, text), queries.jsonl (id, text) "
    "and qrels.tsv (a header; query-id, corpus-id, score)."
)

Gold = Mapping[str, float]


@dataclass(frozen=True)
class Passage:
    """One row of the corpus: one chunk."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class RetrievalSet:
    """`gold` maps a question id to its relevant passages with their grades, all above 0."""

    passages: tuple[Passage, ...]
    questions: Mapping[str, str]
    gold: Mapping[str, Gold]


def read_retrieval_set(folder: Path) -> RetrievalSet:
    """Read and check a folder; raises InputError."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder. {_LAYOUT}")
    passages: dict[str, Passage] = {}
    for where, row in _rows(folder / "corpus.jsonl"):
        id = _text(row, "id", where)
        _new(id, passages, where)
        passages[id] = Passage(id, _text(row, "title", where, ""), _text(row, "text", where))
    questions: dict[str, str] = {}
    for where, row in _rows(folder / "queries.jsonl"):
        id = _text(row, "id", where)
        _new(id, questions, where)
        questions[id] = _text(row, "text", where)
    gold = _gold(folder / "qrels.tsv", passages, questions)
    return RetrievalSet(tuple(passages.values()), questions, gold)


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    try:
        content = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{file} is missing. {_LAYOUT}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}. It has to be UTF-8 text.") from error
    if not content.strip():
        raise InputError(f"{file} is empty. {_LAYOUT}")
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            yield f"{file}, line {number}", line.rstrip("\r")


def _rows(file: Path) -> Iterator[tuple[str, dict[str, object]]]:
    for where, line in _lines(file):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where}: not valid JSON ({error})") from error
        if not isinstance(row, dict):
            raise InputError(f"{where}: a JSON object is expected, one a line")
        yield where, row


def _text(row: Mapping[str, object], key: str, where: str, default: str | None = None) -> str:
    value = row.get(key, default)
    if isinstance(value, int) and key == "id":
        return str(value)
    if not isinstance(value, str) or (key == "id" and not value):
        raise InputError(f"{where}: {key!r} has to be text, found {value!r}")
    return value


def _new(id: str, known: Mapping[str, object], where: str) -> None:
    if id in known:
        raise InputError(f"{where}: the id {id!r} was there before; ids have to be unique")


def _gold(
    file: Path, passages: Mapping[str, Passage], questions: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    lines = _lines(file)
    next(lines)
    gold: dict[str, dict[str, float]] = {}
    for where, line in lines:
        question, passage, grade = _judgement(where, line)
        if question not in questions:
            raise InputError(f"{where}: no question {question!r} in queries.jsonl")
        if passage not in passages:
            raise InputError(f"{where}: no passage {passage!r} in corpus.jsonl")
        if grade > 0:
            gold.setdefault(question, {})[passage] = grade
    if not gold:
        raise InputError(f"{file} names nothing relevant, so there is nothing to measure")
    return gold


def _judgement(where: str, line: str) -> tuple[str, str, float]:
    parts = line.split("\t")
    try:
        question, passage, grade = parts
        return question, passage, float(grade)
    except ValueError:
        raise InputError(
            f"{where}: expected query-id, corpus-id and a number, separated by tabs"
        ) from None
