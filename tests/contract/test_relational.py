"""What any relational source has to do; here read-only SQLite."""

import asyncio
import math
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.relational.base import Parameter, Template
from backends.relational.sqlite import SqliteRelational
from domain.errors import AccessDenied, BackendError, IngestError, InputError, KnowledgeError
from domain.identity import Scope

ANYONE = Scope(tenant="t1", access=("everyone",))
SCRIPT = """
CREATE TABLE orders (id INTEGER, merchant TEXT, amount REAL, at TEXT, raw BLOB);
INSERT INTO orders VALUES (1, '阿克米', 9.5, '2026-11-30 21:55:00', x'00ff');
INSERT INTO orders VALUES (2, 'Acme', 20, '2026-11-30 22:05:00', NULL);
INSERT INTO orders VALUES (3, 'Acme', 30, '2026-12-01 08:00:00', NULL);
"""


def template(name: str, sql: str, *parameters: Parameter, **more: object) -> Template:
    base = {"description": {"en": name}, "questions": (), "parameters": parameters}
    return Template.model_validate({**base, **more, "name": name, "sql": sql})


def parameter(name: str, type: str, **more: object) -> Parameter:
    return Parameter.model_validate({"name": name, "type": type, **more})


BY_MERCHANT = template(
    "by_merchant",
    "SELECT count(*) AS n, sum(amount) AS total FROM orders WHERE merchant = :merchant;",
    parameter("merchant", "string"),
    summary={"en": "{merchant} has {n} orders", "zh": "{n} 笔"},
)
TYPED = template(
    "typed",
    "SELECT :text AS text, :whole AS whole, :number AS number, :day AS day, :moment AS moment",
    parameter("text", "string", required=False),
    parameter("whole", "integer", required=False),
    parameter("number", "number", required=False),
    parameter("day", "date", required=False),
    parameter("moment", "datetime", default="2026-01-01 00:00"),
)
CHANNEL = template(
    "channel", "SELECT :channel AS channel", parameter("channel", "string", choices=("卡", "card"))
)
ALL = template("all", "SELECT id, raw FROM orders ORDER BY id", max_rows=2)
SECRET = template("secret", "SELECT 1 AS one", access=("finance",))
ENDLESS = template(
    "endless",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
)
TEMPLATES = (BY_MERCHANT, TYPED, CHANNEL, ALL, SECRET, ENDLESS)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteRelational]:
    store = SqliteRelational(tmp_path / "relational data?")
    await store.build("t1", SCRIPT, TEMPLATES)
    yield store
    await store.close()


def files(store_path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (store_path / "relational data?").iterdir()}


async def test_answers_with_columns_and_rows(store):
    found = await store.run("by_merchant", {"merchant": "Acme"}, scope=ANYONE)
    assert found.columns == ("n", "total")
    assert found.rows == ((2, 50.0),)
    assert found.parameters == {"merchant": "Acme"}
    assert not found.truncated


async def test_more_rows_than_allowed_are_cut_and_said(store):
    found = await store.run("all", {}, scope=ANYONE)
    assert found.rows == ((1, "<2 bytes>"), (2, None))
    assert found.truncated


async def test_lists_only_what_the_scope_may_run(store):
    names = [each.name for each in await store.templates(scope=ANYONE)]
    assert names == ["all", "by_merchant", "channel", "endless", "typed"]
    finance = Scope(tenant="t1", access=("finance",))
    assert [each.name for each in await store.templates(scope=finance)] == ["secret"]
    assert (await store.run("secret", {}, scope=finance)).rows == ((1,),)
    with pytest.raises(AccessDenied, match="secret"):
        await store.run("secret", {}, scope=ANYONE)


async def test_tenants_never_mix(store):
    other = Scope(tenant="../t1", access=("everyone", "finance"))
    assert await store.templates(scope=other) == []
    with pytest.raises(InputError, match="no query 'all'"):
        await store.run("all", {}, scope=other)
    await store.build("../t1", "CREATE TABLE orders (id, raw)", [ALL])
    assert (await store.run("all", {}, scope=other)).rows == ()
    assert len((await store.run("all", {}, scope=ANYONE)).rows) == 2


async def test_dates_are_bound_in_the_form_sqlite_writes(store):
    given = {"day": "20261130", "moment": "2026-11-30T22:05:00+08:00"}
    found = await store.run("typed", given, scope=ANYONE)
    assert found.rows[0][3:] == ("2026-11-30", "2026-11-30 14:05:00")
    found = await store.run("typed", {}, scope=ANYONE)
    assert found.rows == ((None, None, None, None, "2026-01-01 00:00:00"),)


@pytest.mark.parametrize(
    ("name", "given", "fault"),
    [
        ("nope; DROP TABLE orders", {}, "no query 'nope; DROP TABLE orders'; there is all, by_mer"),
        ("by_merchant", {}, "merchant of by_merchant is missing"),
        ("by_merchant", {"merchant": None}, "merchant of by_merchant is missing"),
        ("by_merchant", {"merchant": "a", "商户": "b"}, "no parameter '商户'; it takes merchant"),
        ("by_merchant", {"merchant": 5}, "merchant .* must be a string: 5 is no text"),
        ("by_merchant", {"merchant": "a" * 1001}, "1001 characters"),
        ("by_merchant", {"merchant": "a\0b"}, "no text"),
        ("by_merchant", {"merchant": "\ud800"}, "no text"),
        ("typed", {"whole": "5"}, "whole .* must be a integer"),
        ("typed", {"whole": True}, "whole of typed must be"),
        ("typed", {"whole": 2**63}, "64 bits"),
        ("typed", {"number": float("1e309")}, "inf is not finite"),
        ("typed", {"number": math.nan}, "not finite"),
        ("typed", {"day": "2026-02-30"}, "day of typed must be a date"),
        ("typed", {"day": 20261130}, "day of typed must be a date"),
        ("typed", {"moment": "昨晚十点"}, "moment of typed must be a datetime"),
        ("typed", {"moment": "0001-01-01T00:00:00+23:00"}, "moment of typed must be"),
        ("channel", {"channel": "bank"}, "channel of channel must be one of 卡, card, not 'bank'"),
    ],
)
async def test_what_does_not_fit_is_named(store, name, given, fault):
    with pytest.raises(InputError, match=fault):
        await store.run(name, given, scope=ANYONE)


hostile = st.sampled_from(
    ["'; DROP TABLE orders; --", '" OR 1=1 --', "\\", ":merchant", "{n}", "%s", "🏴‍☠️", "\u202e"]
) | st.text(max_size=50)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.dictionaries(
        st.sampled_from(["text", "whole", "number", "day", "moment", "'; --"]),
        hostile | st.integers() | st.floats() | st.booleans() | st.none(),
    )
)
async def test_a_value_comes_back_unchanged_or_is_refused(store, tmp_path, given):
    before = files(tmp_path)
    try:
        found = await store.run("typed", given, scope=ANYONE)
    except InputError:
        pass
    else:
        row = dict(zip(found.columns, found.rows[0], strict=True))
        assert row == found.parameters
        assert all(row[name] == given.get(name) for name in ("text", "whole", "number"))
    assert files(tmp_path) == before


async def test_a_query_that_takes_too_long_is_stopped(tmp_path):
    class Hasty:
        def __init__(self) -> None:
            self._ticks = count()

        def now(self) -> datetime:
            return datetime(2026, 1, 1, tzinfo=UTC)

        def monotonic(self) -> float:
            return float(next(self._ticks))

    store = SqliteRelational(tmp_path, clock=Hasty(), timeout_s=20)
    await store.build("t1", SCRIPT, TEMPLATES)
    with pytest.raises(BackendError, match="endless took longer than 20 s"):
        await store.run("endless", {}, scope=ANYONE)
    await store.close()


async def test_a_cancelled_query_is_stopped(tmp_path):
    store = SqliteRelational(tmp_path, timeout_s=timedelta(days=1).total_seconds())
    await store.build("t1", SCRIPT, TEMPLATES)
    await store.templates(scope=ANYONE)
    query = asyncio.ensure_future(store.run("endless", {}, scope=ANYONE))
    await asyncio.sleep(0)
    query.cancel()
    with pytest.raises(asyncio.CancelledError):
        await query
    await store.close()  # waits for its threads, so an endless query would hang here


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM orders",
        "SELECT 1; DROP TABLE orders",
        "SELECT 1) ; DROP TABLE orders; --",
        "INSERT INTO orders (id) VALUES (9) RETURNING id",
        "PRAGMA user_version = 5",
        "SELECT * FROM pragma_table_info('orders')",
        "ATTACH 'other.sqlite' AS other",
        "SELECT load_extension('x')",
        "VACUUM",
        "BEGIN",
        "EXPLAIN SELECT 1",
        "SELECT nothing FROM orders",
        "SELECT id FROM nowhere",
        "SELECT ?",
        "",
    ],
)
async def test_a_template_that_is_no_select_is_refused(store, tmp_path, sql):
    before = files(tmp_path)
    with pytest.raises(IngestError, match="SQL template bad cannot be used"):
        await store.build("t1", SCRIPT, [template("bad", sql)])
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (template("q", "SELECT :a, :b", parameter("a", "string")), "undeclared parameter b"),
        (template("q", "SELECT 1", parameter("a", "string")), "does not use the parameter a"),
        (template("q", "SELECT 1 AS n", summary={"zh": "{m} 笔"}), "names m, which is no column"),
    ],
)
async def test_a_template_must_say_what_it_takes_and_gives(store, bad, fault):
    with pytest.raises(IngestError, match=f"SQL template q cannot be used: .*{fault}"):
        await store.build("t1", SCRIPT, [bad])


@pytest.mark.parametrize(
    "script", ["CREATE TABEL x", "ATTACH 'elsewhere.sqlite' AS e", "SELECT '", "CREATE TABLE a\0b"]
)
async def test_a_broken_script_leaves_what_was_there(store, tmp_path, script, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = files(tmp_path)
    with pytest.raises(IngestError, match="SQL script cannot be used"):
        await store.build("t1", script, [])
    assert files(tmp_path) == before
    assert not (tmp_path / "elsewhere.sqlite").exists()


async def test_names_of_templates_do_not_repeat(store):
    with pytest.raises(IngestError, match="several SQL templates named all"):
        await store.build("t1", SCRIPT, [ALL, ALL])


async def test_the_last_template_of_a_tenant_can_go(store):
    await store.build("t1", "", [])
    assert await store.templates(scope=ANYONE) == []


async def test_a_loaded_database_is_there_again(store, tmp_path):
    again = SqliteRelational(tmp_path / "relational data?")
    assert len(await again.templates(scope=ANYONE)) == 5
    assert (await again.run("by_merchant", {"merchant": "阿克米"}, scope=ANYONE)).rows == (
        (1, 9.5),
    )
    await again.close()


async def test_damage_is_named(store, tmp_path):
    await store.templates(scope=ANYONE)
    for file in (tmp_path / "relational data?").iterdir():
        file.write_bytes(b"garbage" * 100)
    with pytest.raises(BackendError, match="all failed: file is not a database"):
        await store.run("all", {}, scope=ANYONE)
    again = SqliteRelational(tmp_path / "relational data?")
    with pytest.raises(KnowledgeError, match=r"\.json are damaged.*ingest PATH"):
        await again.templates(scope=ANYONE)
    await again.close()


async def test_the_database_refuses_writes_by_itself(store, tmp_path):
    """Even a template that slipped past every check could not write."""
    (path,) = (tmp_path / "relational data?").glob("*.json")
    path.write_text(path.read_text().replace(ALL.sql, "DELETE FROM orders"))
    again = SqliteRelational(tmp_path / "relational data?")
    before = files(tmp_path)
    with pytest.raises(BackendError, match="all failed: not authorized"):
        await again.run("all", {}, scope=ANYONE)
    assert files(tmp_path) == before
    await again.close()


def test_no_way_of_writing_is_left(tmp_path):
    from backends.relational.sandbox import reading

    path = tmp_path / "x.sqlite"
    sqlite3.connect(path).execute("CREATE TABLE t (a)").connection.close()
    connection = reading(path)
    connection.set_authorizer(None)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("INSERT INTO t VALUES (1)")
    connection.close()
