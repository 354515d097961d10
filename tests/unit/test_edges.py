"""The stop rules: each one ends the loop, and nothing else does."""

from hypothesis import given
from hypothesis import strategies as st

from domain.limits import Limits, Usage
from domain.plan import Plan
from graph.edges import after_evaluate, after_guard, after_reflect, after_route, dispatch
from graph.limits import SLICES_MS, WHOLE_MS, budget_s
from tests.unit.states import GAP, assessment, query, route, run, state

UNSURE = assessment(confidence=0.4, gaps=(GAP,))


def test_direct_questions_skip_retrieval_and_lacking_ones_are_asked_back_only_if_they_can_be() -> (
    None
):
    assert after_route(state(route=route(mode="direct"))) == "answer"
    assert after_route(state(route=route(mode="single"))) == "plan"
    assert after_route(state(route=route(mode="clarify"))) == "answer"
    assert after_route(state(route=route(mode="clarify"), run=run(resumable=True))) == "clarify"


def test_clearly_enough_stops_at_once() -> None:
    assert after_evaluate(state(assessments=(assessment(clear=True, confidence=0.5),))) == "answer"


def test_confident_stops_unless_something_essential_is_missing() -> None:
    assert after_evaluate(state(assessments=(assessment(confidence=0.79),))) == "answer"
    assert after_evaluate(state(assessments=(assessment(confidence=0.77),))) == "reflect"
    open_gap = assessment(confidence=0.9, gaps=(GAP,))
    assert after_evaluate(state(assessments=(open_gap,))) == "reflect"


def test_unsure_reflects_until_the_steps_are_used_up() -> None:
    assert after_evaluate(state(assessments=(UNSURE,))) == "reflect"
    assert after_evaluate(state(assessments=(UNSURE,), step=4)) == "answer"
    few = run(limits=Limits(steps=1))
    assert after_evaluate(state(assessments=(UNSURE,), run=few)) == "answer"


def test_out_of_time_answers_with_what_there_is() -> None:
    late = UNSURE.model_copy(update={"elapsed_ms": 4_400.0})
    assert after_evaluate(state(assessments=(late,))) == "answer"


def test_out_of_tokens_or_money_answers_with_what_there_is() -> None:
    for spent in (Usage(prompt_tokens=12_000), Usage(money=1.0)):
        assert after_evaluate(state(assessments=(UNSURE,), usage=spent)) == "answer"
    assert after_evaluate(state(assessments=(UNSURE,), usage=Usage(prompt_tokens=9))) == "reflect"


def test_a_round_without_new_evidence_is_the_last() -> None:
    stale = UNSURE.model_copy(update={"step": 2, "new_evidence": 0})
    assert after_evaluate(state(assessments=(UNSURE, stale), step=2)) == "answer"
    first = UNSURE.model_copy(update={"new_evidence": 0})
    assert after_evaluate(state(assessments=(first,), step=1)) == "reflect"


def test_waiting_sub_queries_run_before_anything_is_judged_lacking() -> None:
    plan = Plan(sub_queries=(query("q1"), query("q2", after=("q1",))))
    assert after_evaluate(state(plan=plan, assessments=(UNSURE,))) == "retrieve"


def test_a_forced_single_round_stays_one() -> None:
    assert after_evaluate(state(assessments=(UNSURE,), run=run(forced_mode="single"))) == "answer"


def test_reflection_without_a_new_query_ends_the_loop() -> None:
    assert after_reflect(state()) == "answer"
    plan = Plan(sub_queries=(query("q1"), query("r1")))
    assert after_reflect(state(plan=plan)) == "retrieve"
    assert after_reflect(state(plan=plan, step=4)) == "answer"


def test_the_guard_sends_back_once() -> None:
    assert after_guard(state()) == "done"
    assert after_guard(state(guard_returns=1)) == "reflect"
    assert after_guard(state(guard_returns=2)) == "done"
    assert after_guard(state(guard_returns=1, step=4)) == "done"


def test_a_call_already_made_is_not_sent_again() -> None:
    asked = query("q1")
    fresh = state(plan=Plan(sub_queries=(asked,)))
    assert [send.node for send in dispatch(fresh)] == ["knowledge_search"]  # type: ignore[union-attr]
    again = state(plan=Plan(sub_queries=(asked,)), asked=(asked.signature(asked.calls[0]),))
    assert dispatch(again) == "rerank"


@given(
    step=st.integers(1, 20),
    confidence=st.floats(0, 1),
    new=st.integers(0, 5),
    elapsed=st.floats(0, 10_000),
    gaps=st.booleans(),
)
def test_the_loop_always_ends_within_the_steps(
    step: int, confidence: float, new: int, elapsed: float, gaps: bool
) -> None:
    judged = assessment(
        step=step,
        confidence=confidence,
        new_evidence=new,
        elapsed_ms=elapsed,
        gaps=(GAP,) if gaps else (),
    )
    plan = Plan(sub_queries=(query("q1"), query("r1")))
    at = state(step=step, assessments=(judged,), plan=plan)
    if step >= 4:
        assert after_evaluate(at) == "answer"
        assert after_reflect(at) == "answer"


@given(
    stage=st.sampled_from(sorted(SLICES_MS["rules"])),
    latency=st.integers(1, 600_000),
    now=st.floats(0, 1_000),
)
def test_no_stage_waits_longer_than_its_slice_or_what_is_left(
    stage: str, latency: int, now: float
) -> None:
    bound = run(limits=Limits(latency_ms=latency))
    slice_s = SLICES_MS["rules"][stage] * latency / WHOLE_MS["rules"] / 1000
    budget = budget_s(stage, bound, now)
    assert 0 < budget <= max(slice_s, 0.05) + 1e-9
    if stage not in ("answer", "safe_guard"):
        assert budget <= max(0.001, bound.remaining_ms(now) / 1000)
