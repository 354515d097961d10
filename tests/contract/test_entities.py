"""What any entity graph has to do; here the one on kglite."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.entities.kglite_graph import KgliteStore
from domain.errors import IngestError, KnowledgeError
from domain.identity import Filter, Scope
from domain.knowledge import Entity, Relation

ANYONE = Scope(tenant="t1", access=("everyone",))
OPS = Scope(tenant="t1", access=("everyone", "ops"))


def entity(id: str, name: str = "", *aliases: str) -> Entity:
    return Entity(id=id, type="service", name=name or id, aliases=aliases)


def relation(id: str, start: str, end: str, *access: str, since: date | None = None) -> Relation:
    return Relation(
        id=id,
        start=start,
        start_name=start,
        start_type="service",
        type="depends_on",
        end=end,
        end_name=end,
        end_type="service",
        source="架构.md",
        quote=f"{start} 依赖 {end}",
        access=access or ("everyone",),
        effective_from=since,
    )


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[KgliteStore]:
    store = KgliteStore(tmp_path / "entities")
    yield store
    await store.close()


async def linked(store: KgliteStore, text: str, scope: Scope = ANYONE) -> list[str]:
    return [found.id for found in await store.link(text, scope=scope)]


NAMES = (
    entity("svc-gw", "Payment Gateway", "网关", "支付网关", "gw"),
    entity("svc-risk", "Risk Service", "风控"),
    entity("M-1001", "Acme", "阿克米"),
    entity("v1", "Refund policy v1"),
    entity("A", "A"),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("why does the PAYMENT  gateway fail?", ["svc-gw"]),
        ("ＰＡＹＭＥＮＴ ＧＡＴＥＷＡＹ", ["svc-gw"]),
        ("商户Acme的支付网关超时", ["svc-gw", "M-1001"]),
        ("m-1001失败率", ["M-1001"]),
        ("M-10015 is another merchant", []),
        ("acmeism", []),
        ("a gwx and an xgw", []),
        ("风控服务和网关", ["svc-risk", "svc-gw"]),
        ("see v1.2 of it", []),
        ("what about v1?", ["v1"]),
        ("a refund", []),
        ("A", ["A"]),
        ("", []),
        ("\0\ud83d ' OR 1=1 {id: 1}) //", []),
    ],
)
async def test_links_names_in_both_languages(store, text, found):
    await store.load("t1", NAMES, [])
    assert sorted(await linked(store, text)) == sorted(found)


async def test_longest_mention_comes_first_and_covers_shorter_ones(store):
    await store.load(
        "t1", [entity("g", "Gateway"), entity("pg", "Payment Gateway"), *NAMES[2:3]], []
    )
    assert await linked(store, "Acme uses the payment gateway") == ["pg", "M-1001"]
    assert await linked(store, "the gateway") == ["g"]


async def test_an_ambiguous_mention_gives_all_with_lower_scores(store):
    await store.load("t1", [entity("m1", "Acme"), entity("m2", "ACME"), entity("m3", "Zeta")], [])
    found = {each.id: each.score for each in await store.link("acme and zeta", scope=ANYONE)}
    assert found == {"m1": 0.5, "m2": 0.5, "m3": 1.0}


async def test_an_alias_says_less_than_a_name(store):
    await store.load("t1", NAMES, [])
    by_name, by_alias = await store.link("风控 and acme", scope=ANYONE)
    assert (by_name.id, by_alias.id) == ("M-1001", "svc-risk")
    assert by_alias.score < by_name.score == 1.0


named = st.text(st.characters(categories=["L", "N"]), min_size=2, max_size=6)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(named, min_size=1, max_size=5, unique_by=str.casefold), st.text(max_size=10))
async def test_whatever_is_named_alone_is_found(store, names, around):
    entities = [entity(f"id-{n}-x", name) for n, name in enumerate(names)]
    await store.load("t1", entities, [])
    for each in entities:
        assert each.id in await linked(store, f"({each.name.upper()})") or (
            each.name.upper().casefold() != each.name.casefold()
        )
        assert each.id in await linked(store, f"{each.id} {around}".upper())


CHAIN = (
    relation("r1", "m", "c"),
    relation("r2", "c", "gw"),
    relation("r3", "rule", "gw"),
    relation("r4", "gw", "gw"),
    relation("secret", "gw", "risk", "ops"),
    relation("r6", "risk", "release", "ops"),
)
NODES = tuple(entity(id) for id in ("m", "c", "gw", "rule", "risk", "release", "alone"))


async def ids_around(store: KgliteStore, start: str, hops: int, scope: Scope) -> list[str]:
    return [r.id for r in await store.neighbourhood([start], scope=scope, hops=hops)]


async def test_the_neighbourhood_goes_ring_by_ring(store):
    await store.load("t1", NODES, CHAIN)
    assert await ids_around(store, "m", 1, ANYONE) == ["r1"]
    assert await ids_around(store, "m", 2, ANYONE) == ["r1", "r2"]
    assert await ids_around(store, "c", 2, ANYONE) == ["r1", "r2", "r3", "r4"]
    assert await ids_around(store, "c", 2, OPS) == ["r1", "r2", "r3", "r4", "secret"]
    assert len(await store.neighbourhood(["c"], scope=OPS, hops=2, limit=3)) == 3
    assert await ids_around(store, "nobody", 2, OPS) == []


async def test_a_relation_comes_back_as_it_was_loaded(store):
    dated = relation("r", "m", "c", "ops", "财务", since=date(2026, 1, 2))
    await store.load("t1", NODES, [dated])
    assert await store.relations(["r", "no", "r"], scope=OPS) == [dated]


async def test_paths_carry_their_provenance(store):
    await store.load("t1", NODES, CHAIN)
    (path,) = await store.paths("m", "rule", scope=ANYONE)
    assert [r.id for r in path.relations] == ["r1", "r2", "r3"]
    assert path.relations[0].source == "架构.md"
    assert path.relations[0].quote == "m 依赖 c"
    assert await store.paths("m", "rule", scope=ANYONE, max_hops=2) == []
    assert await store.paths("m", "m", scope=ANYONE) == []


async def test_all_shortest_paths_up_to_the_limit(store):
    doubles = [relation(f"{end}{n}", "m", end) for end in ("c", "gw") for n in range(2)]
    joins = [relation(f"{end}-risk", end, "risk") for end in ("c", "gw")]
    await store.load("t1", NODES, [*doubles, *joins])
    paths = await store.paths("m", "risk", scope=ANYONE)
    assert sorted(tuple(r.id for r in path.relations) for path in paths) == [
        ("c0", "c-risk"),
        ("c1", "c-risk"),
        ("gw0", "gw-risk"),
        ("gw1", "gw-risk"),
    ]
    assert len(await store.paths("m", "risk", scope=ANYONE, limit=3)) == 3


async def test_what_only_hidden_relations_know_does_not_show(store):
    await store.load("t1", NODES, CHAIN)
    assert await linked(store, "risk, release, gw and alone") == ["alone", "gw"]
    assert await linked(store, "risk and release", OPS) == ["release", "risk"]
    assert await store.paths("m", "risk", scope=ANYONE) == []
    assert await store.relations(["secret", "r1"], scope=ANYONE) == [CHAIN[0]]


async def test_a_hidden_namesake_leaves_no_trace(store):
    nodes = [entity("seen", "Acme"), entity("hidden", "Acme"), entity("longer", "Acme Prime")]
    await store.load("t1", nodes, [relation("r", "hidden", "longer", "ops")])
    (found,) = await store.link("acme prime", scope=ANYONE)
    assert (found.id, found.score) == ("seen", 1.0)


async def test_the_future_is_not_known_yet(store):
    await store.load("t1", NODES, [relation("r", "m", "c", since=date(2026, 6, 2))])
    before = ANYONE.model_copy(update={"as_of": date(2026, 6, 1)})
    assert await store.neighbourhood(["m"], scope=before) == []
    assert await linked(store, "m, c, release", before) == ["release"]
    assert await ids_around(store, "m", 1, ANYONE) == ["r"]


async def test_a_filter_on_what_relations_do_not_state_hides_them(store):
    await store.load("t1", NODES, CHAIN)
    product = ANYONE.narrowed((Filter(field="product", value="退款"),))
    source = ANYONE.narrowed((Filter(field="source", value="架构.md"),))
    assert await ids_around(store, "m", 1, product) == []
    assert await ids_around(store, "m", 1, source) == ["r1"]


async def test_tenants_never_mix(store):
    await store.load("t1", NODES, CHAIN)
    await store.load("../t1", [entity("m", "Other")], [])
    other = Scope(tenant="../t1", access=("everyone", "ops"))
    assert await store.neighbourhood(["m"], scope=other) == []
    assert await store.relations(["r1"], scope=other) == []
    assert [e.name for e in await store.link("m other", scope=other)] == ["Other"]
    assert await store.link("m", scope=Scope(tenant="t9", access=("everyone",))) == []
    assert (await store.count("t1"), await store.count("../t1")) == ((7, 6), (1, 0))


graphs = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(["everyone", "ops"])),
    max_size=12,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(graphs)
async def test_a_path_is_as_short_as_there_is(store, edges):
    relations = [relation(f"r{n}", f"e{a}", f"e{b}", tag) for n, (a, b, tag) in enumerate(edges)]
    await store.load("t1", [entity(f"e{n}") for n in range(6)], relations)
    paths = await store.paths("e0", "e5", scope=ANYONE, max_hops=5, limit=99)
    lengths = {len(path.relations) for path in paths}
    assert lengths == ({distance} if (distance := _distance(edges)) else set())
    assert len({tuple(r.id for r in path.relations) for path in paths}) == len(paths)
    assert all(r.access == ("everyone",) for path in paths for r in path.relations)


def _distance(edges: list[tuple[int, int, str]]) -> int:
    seen, queue = {0: 0}, deque([0])
    while queue:
        here = queue.popleft()
        for a, b, tag in edges:
            for x, y in ((a, b), (b, a)):
                if tag == "everyone" and x == here and y not in seen:
                    seen[y] = seen[here] + 1
                    queue.append(y)
    return seen.get(5, 0)


async def test_survives_closing_and_loading_replaces_all(store, tmp_path):
    await store.load("t1", NODES, CHAIN)
    await store.load("t1", NODES, CHAIN[:2])
    await store.close()
    again = KgliteStore(tmp_path / "entities")
    assert await again.count("t1") == (7, 2)
    assert await again.relations(["r2"], scope=ANYONE) == [CHAIN[1]]
    await again.close()


async def test_many_ask_at_once(store):
    await store.load("t1", NODES, CHAIN)
    found = await asyncio.gather(*(ids_around(store, "m", 2, ANYONE) for _ in range(100)))
    assert found == [["r1", "r2"]] * 100


@pytest.mark.parametrize(
    ("entities", "relations", "fault"),
    [
        ([entity("m"), entity("m")], [], "repeats an id"),
        (NODES, [CHAIN[0], CHAIN[0]], "repeats an id"),
        ([entity("m")], [CHAIN[0]], "r1 names the entity c"),
    ],
)
async def test_a_graph_that_does_not_fit_together_is_refused(store, entities, relations, fault):
    await store.load("t1", NODES, CHAIN)
    with pytest.raises(IngestError, match=fault):
        await store.load("t1", entities, relations)
    assert await store.count("t1") == (7, 6)


@pytest.mark.parametrize("keep", [0, 10, 500])
async def test_a_damaged_graph_is_named_with_the_way_out(store, tmp_path, keep):
    await store.load("t1", NODES, CHAIN)
    await store.close()
    (file,) = (tmp_path / "entities").iterdir()
    file.write_bytes(file.read_bytes()[:keep])
    broken = KgliteStore(tmp_path / "entities")
    with pytest.raises(KnowledgeError, match=r"\.kgl is damaged.*ingest PATH"):
        await broken.link("m", scope=ANYONE)
    await broken.close()
