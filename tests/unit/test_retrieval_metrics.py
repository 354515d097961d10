"""Measures of a ranking, and the evaluation of a folder."""

import json
from collections.abc import Sequence
from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InputError
from evals.metrics import all_gold, mrr, ndcg, recall
from evals.retrieval import ARMS, MEASURES, evaluate_retrieval

IDS = list("abcdefghijklmno")


def test_figures_worked_out_by_hand():
    ranked, gold = ["x", "a", "y", "b"], {"a": 1.0, "b": 1.0, "c": 1.0}
    best = 1 + 1 / log2(3) + 1 / 2
    assert ndcg(ranked, gold) == pytest.approx((1 / log2(3) + 1 / log2(5)) / best)
    assert recall(ranked, gold) == pytest.approx(2 / 3)
    assert mrr(ranked, gold) == 0.5
    assert all_gold(ranked, gold) == 0.0
    assert all_gold([*ranked, "c"], gold) == 1.0


def test_grades_count_and_the_cut_is_at_k():
    assert ndcg(["a", "b"], {"a": 1.0, "b": 3.0}) < ndcg(["b", "a"], {"a": 1.0, "b": 3.0}) == 1.0
    late = [*IDS[1:11], "a"]
    assert [m(late, {"a": 1.0}) for m in (ndcg, recall, mrr, all_gold)] == [0, 0, 0, 0]
    assert recall(late, {"a": 1.0}, k=11) == 1.0


def test_naming_a_passage_twice_gains_nothing():
    gold = {"a": 1.0, "b": 1.0}
    assert ndcg(["a", "a", "x"], gold) == ndcg(["a", "x"], gold)
    assert recall(["a", "a"], gold) == 0.5


def test_a_question_without_gold_is_refused():
    with pytest.raises(ValueError, match="cannot be measured"):
        ndcg(["a"], {})


@given(
    st.lists(st.sampled_from(IDS)),
    st.dictionaries(st.sampled_from(IDS), st.floats(0.5, 3), min_size=1),
)
def test_all_measures_lie_between_0_and_1(ranked, gold):
    assert all(0 <= m(ranked, gold) <= 1 + 1e-9 for m in (ndcg, recall, mrr, all_gold))
    ideal = sorted(gold, key=lambda id: -gold[id])
    assert ndcg(ideal, gold) == pytest.approx(1.0)
    assert mrr(ideal, gold) == 1.0


CORPUS = [
    {"id": "r", "title": "Refunds", "text": "A refund is returned within three working days."},
    {"id": "r2", "title": "Refunds", "text": "A refund is returned within three working days."},
    {"id": "g", "title": "网关", "text": "网关对每个租户限流，默认每秒两百次。"},
    {"id": "c", "text": "Cats sleep for most of the day."},
]
QUESTIONS = [
    {"id": 1, "text": "How long does a refund take?"},
    {"id": "2", "text": "租户限流是多少？"},
    {"id": "3", "text": "A question that nobody judged"},
]
JUDGED = "query-id\tcorpus-id\tscore\n1\tr\t1\n1\tc\t0\n2\tg\t2\n"


@pytest.fixture
def retrieval_folder(tmp_path: Path) -> Path:
    write(tmp_path / "corpus.jsonl", CORPUS)
    write(tmp_path / "queries.jsonl", QUESTIONS)
    (tmp_path / "qrels.tsv").write_text(JUDGED, encoding="utf-8")
    return tmp_path


def write(file: Path, rows: Sequence[object]) -> None:
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


async def test_a_folder_is_measured_arm_by_arm(retrieval_folder):
    told: list[tuple[int, int]] = []
    result = await evaluate_retrieval(retrieval_folder, progress=lambda *at: told.append(at))
    assert set(result["arms"]) == set(ARMS)
    for figures in result["arms"].values():
        assert set(figures) == set(MEASURES)
        assert figures["recall@10"] == 1.0
    assert result["arms"]["lexical"]["ndcg@10"] == 1.0
    assert (result["queries"], result["queries_without_gold"], result["documents"]) == (2, 1, 4)
    assert set(result["cost"]) == {
        "documents_per_s",
        "query_ms_p50",
        "query_ms_p95",
        "peak_memory_mb",
    }
    assert all(value > 0 for value in result["cost"].values())
    assert told == [(4, 4)]
    json.dumps(result)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
async def test_a_missing_or_empty_file_is_named(retrieval_folder, name):
    (retrieval_folder / name).write_text("")
    with pytest.raises(InputError, match=rf"{name} is empty"):
        await evaluate_retrieval(retrieval_folder)
    (retrieval_folder / name).unlink()
    with pytest.raises(InputError, match=rf"{name} is missing"):
        await evaluate_retrieval(retrieval_folder)


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("corpus.jsonl", "{not json", "line 5: not valid JSON"),
        ("corpus.jsonl", "[1]", "line 5: a JSON object"),
        ("corpus.jsonl", '{"id": "r", "text": "x"}', "line 5: the id 'r' was there"),
        ("corpus.jsonl", '{"id": "n"}', "line 5: 'text'"),
        ("queries.jsonl", '{"id": "2", "text": "x"}', "line 4: the id '2' was there"),
        ("queries.jsonl", '{"id": "", "text": "x"}', "line 4: 'id'"),
        ("qrels.tsv", "1 r 1", "line 5: expected query-id"),
        ("qrels.tsv", "1\tr\tmuch", "line 5: expected query-id"),
        ("qrels.tsv", "9\tr\t1", "line 5: no question '9'"),
        ("qrels.tsv", "1\tnone\t1", "line 5: no passage 'none'"),
    ],
)
async def test_a_fault_is_named_with_its_line(retrieval_folder, name, line, message):
    with (retrieval_folder / name).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(InputError) as raised:
        await evaluate_retrieval(retrieval_folder)
    assert message in str(raised.value)
    assert name in str(raised.value)


async def test_a_folder_that_does_not_exist_or_judges_nothing(retrieval_folder):
    with pytest.raises(InputError, match="is not a folder"):
        await evaluate_retrieval(retrieval_folder / "nowhere")
    (retrieval_folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\tr\t0\n")
    with pytest.raises(InputError, match="nothing relevant"):
        await evaluate_retrieval(retrieval_folder)
