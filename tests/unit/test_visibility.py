"""Who sees what, checked against the words of Scope and Filter."""

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.identity import Filter, Scope
from domain.knowledge import Metadata
from domain.visibility import visible
from tests.contract.store_cases import ANYONE, filters, metadata, of_tenant, scopes, words


def sees(meta: Metadata, source: str = "s", **condition: Any) -> bool:
    return visible(meta, ANYONE.narrowed((Filter(**condition),)), source)


@settings(deadline=None)
@given(metadata, scopes, words)
def test_what_is_visible_meets_every_demand(meta, scope, source):
    if visible(meta, scope, source):
        assert meta.tenant == scope.tenant
        assert set(meta.access) & set(scope.access)
        assert meta.approval == "approved"
        begun = meta.effective_from is None or scope.as_of is None
        assert begun or meta.effective_from <= scope.as_of


@settings(deadline=None)
@given(metadata, scopes, filters, words)
def test_a_filter_only_takes_away(meta, scope, condition, source):
    assert visible(meta, scope, source) or not visible(meta, scope.narrowed((condition,)), source)


@settings(deadline=None)
@given(metadata, st.sampled_from(["other", "", "T1"]), scopes)
def test_another_tenant_sees_nothing(meta, tenant, scope):
    assert not visible(meta, scope.model_copy(update={"tenant": meta.tenant + tenant + "x"}))


@settings(deadline=None)
@given(metadata, scopes, words, words)
def test_equal_and_not_equal_share_what_they_split(meta, scope, source, value):
    same = visible(meta, scope.narrowed((Filter(field="product", value=value),)), source)
    other = scope.narrowed((Filter(field="product", op="ne", value=value),))
    if visible(meta, scope, source) and value:
        assert same != visible(meta, other, source)


@settings(deadline=None)
@given(metadata, scopes, words)
def test_a_filter_survives_json(meta, scope, source):
    again = Scope.model_validate_json(scope.model_dump_json())
    assert visible(meta, again, source) == visible(meta, scope, source)


def test_not_stated_never_equals_and_always_differs():
    meta = of_tenant("t1")
    assert not sees(meta, field="product", value="")
    assert not sees(meta, field="product", op="in", value=("", "支付"))
    assert not sees(meta, source="", field="source", value="")
    assert sees(meta, field="product", op="ne", value="支付")


def test_an_empty_choice_matches_nothing():
    assert not sees(of_tenant("t1", product="支付"), field="product", op="in", value=())


def test_the_source_filter_looks_at_the_source():
    assert sees(of_tenant("t1"), source="手册.md", field="source", value="手册.md")
    assert not sees(of_tenant("t1"), source="手册.md", field="source", value="manual.md")


@pytest.mark.parametrize("op", ["gte", "lte"])
def test_a_missing_date_meets_no_bound(op):
    assert not sees(of_tenant("t1"), field="effective_to", op=op, value=date(2026, 1, 1))


def test_bounds_include_their_day():
    day = date(2026, 1, 1)
    meta = of_tenant("t1", effective_from=day)
    assert sees(meta, field="effective_from", op="gte", value=day)
    assert sees(meta, field="effective_from", op="lte", value="2026-01-01")
    assert not sees(meta, field="effective_from", op="gte", value=day + timedelta(days=1))


def test_versions_have_no_order_here():
    assert not sees(of_tenant("t1", version="10.0"), field="version", op="gte", value="9.0")


@pytest.mark.parametrize("op", ["eq", "ne", "gte", "lte"])
@pytest.mark.parametrize(
    ("field", "value"), [("authority", "high"), ("effective_from", "soon"), ("product", 5)]
)
def test_an_operand_of_the_wrong_type_matches_nothing(field, op, value):
    meta = of_tenant("t1", authority=50, effective_from=date(2026, 1, 1), product="支付")
    assert not sees(meta, field=field, op=op, value=value)


def test_what_ended_is_visible_and_what_has_not_begun_is_not():
    asked = ANYONE.model_copy(update={"as_of": date(2026, 6, 1)})
    assert visible(of_tenant("t1", effective_to=date(2026, 1, 1)), asked)
    assert visible(of_tenant("t1", effective_from=date(2026, 6, 1)), asked)
    assert not visible(of_tenant("t1", effective_from=date(2026, 6, 2)), asked)
