"""Joining search arms, and dropping what repeats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.evidence import Evidence, Hit, Scores
from domain.knowledge import Metadata
from nodes.duplicates import collapse, near_duplicates
from nodes.fusion import fuse, reciprocal_rank_fusion


def hits(**scores: float) -> list[Hit]:
    return [Hit(chunk_id=id, score=score) for id, score in scores.items()]


def order(ranked) -> list[str]:
    return [id for id, _ in ranked]


FLAT = {f"f{n}": 0.5 + n / 10_000 for n in range(10)}
PEAKED = {"top": 9.0, **{f"p{n}": 1.0 + n / 10_000 for n in range(9)}}


def test_what_both_arms_like_comes_first():
    ranked = fuse({"dense": hits(a=0.9, b=0.85, c=0.1), "lexical": hits(d=9.0, b=8.5, c=1.0)})
    assert order(ranked)[0] == "b"


def test_an_arm_with_a_flat_list_does_not_outvote_a_clear_one():
    assert order(fuse({"dense": hits(**FLAT), "lexical": hits(**PEAKED)}))[0] == "top"
    clear = fuse({"dense": hits(**PEAKED), "lexical": hits(**FLAT)})
    assert order(clear)[0] == "top"


def test_one_exact_identifier_match_beats_vague_nearness():
    dense = {f"d{n}": 0.45 - n * 0.01 for n in range(20)}
    ranked = fuse({"dense": hits(**dense), "lexical": hits(exact=7.5)})
    assert "exact" in order(ranked)[:2]


def test_scores_of_the_arms_are_kept_beside_the_fused_one():
    found = dict(fuse({"dense": hits(a=0.9, b=0.2), "lexical": hits(b=4.0)}))
    assert (found["a"].dense, found["a"].lexical) == (0.9, None)
    assert (found["b"].dense, found["b"].lexical) == (0.2, 4.0)


@pytest.mark.parametrize("rule", [fuse, reciprocal_rank_fusion])
def test_one_arm_alone_keeps_its_order_and_none_gives_none(rule):
    assert order(rule({"dense": hits(a=0.9, b=0.5, c=0.1), "lexical": []})) == ["a", "b", "c"]
    assert order(rule({"lexical": hits(a=3.0)})) == ["a"]
    assert rule({}) == rule({"dense": [], "lexical": []}) == []


def test_ranks_count_alike_whatever_the_scores():
    ranked = reciprocal_rank_fusion({"x": hits(a=900.0, b=1.0), "y": hits(c=0.2, b=0.1)})
    assert order(ranked)[0] == "b"
    assert ranked[0][1].fused == pytest.approx(2 / 62)


arm = st.dictionaries(
    st.sampled_from("abcdefghij"), st.floats(-50, 50, allow_nan=False), max_size=10
)


@given(st.dictionaries(st.sampled_from(["dense", "lexical", "other"]), arm))
def test_every_hit_comes_out_once_between_0_and_1_in_a_stable_order(arms):
    ranked = fuse({name: hits(**scores) for name, scores in arms.items()})
    again = fuse({name: hits(**dict(reversed(s.items()))) for name, s in reversed(arms.items())})
    assert sorted(order(ranked)) == sorted({id for scores in arms.values() for id in scores})
    assert order(ranked) == order(again) or len({s.final for _, s in ranked}) < len(ranked)
    finals = [scores.final for _, scores in ranked]
    assert finals == sorted(finals, reverse=True)
    assert all(-1e-9 <= final <= 1 + 1e-9 for final in finals)


TEXT = (
    "A refund is returned to the original payment method within five working days. Merchants "
    "see it in the console under settlements, and the buyer is told by message at once."
)
ZH = (
    "退款将在五个工作日内原路返回，商户可在控制台的结算页面看到，"
    "买家会立即收到短信通知。请注意核对。"
)


@pytest.mark.parametrize("text", [TEXT, ZH])
def test_a_text_repeated_with_other_spacing_or_case_is_one(text):
    assert collapse([text, f"  {text.upper()}\n", "something else altogether"]) == [0, 0, 2]


def test_another_number_version_or_label_is_not_the_same():
    assert collapse([TEXT + " Fee 5 CNY.", TEXT + " Fee 6 CNY."]) == [0, 1]
    assert collapse([TEXT, TEXT], labels=["v1", "v2"]) == [0, 1]
    assert collapse(["", ""]) == [0, 1]
    assert collapse([]) == []


def piece(id: str, text: str, final: float, query: str = "q1", **meta: str) -> Evidence:
    return Evidence(
        id=id,
        kind="chunk",
        ref=id,
        tool="knowledge_search",
        source=id,
        title="",
        text=text,
        scores=Scores(final=final),
        meta=Metadata(tenant="t", **meta),
        sub_queries=(query,),
    )


def test_the_better_scored_piece_stays_and_answers_for_both():
    kept = near_duplicates(
        [piece("weak", TEXT, 0.2, "q1"), piece("x", ZH, 0.1), piece("strong", TEXT, 0.9, "q2")]
    )
    assert [item.id for item in kept] == ["x", "strong"]
    assert set(kept[1].sub_queries) == {"q1", "q2"}


def test_two_editions_of_one_policy_both_stay():
    editions = [piece("a", TEXT, 0.5, version="v1"), piece("b", TEXT, 0.4, version="v2")]
    assert near_duplicates(editions) == editions
