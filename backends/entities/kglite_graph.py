"""The entity graph on kglite: one file a tenant, so tenants cannot mix."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, TypeVar

import kglite

from backends.entities.mentions import MentionIndex
from backends.entities.paths import shortest_paths
from domain.errors import IngestError, KnowledgeError
from domain.identity import Scope
from domain.knowledge import Entity, Metadata, Path, Relation
from domain.visibility import visible
from runtime.ids import stable_id

T = TypeVar("T")
Row = dict[str, Any]

_ADD_ENTITIES = """UNWIND $rows AS r CREATE (:Entity {id: r.id, name: r.name, kind: r.type,
    aliases: r.aliases})"""
_ADD_RELATIONS = """UNWIND $rows AS r MATCH (a:Entity {id: r.`start`}), (b:Entity {id: r.`end`})
    CREATE (a)-[:RELATED {rid: r.id, kind: r.type, source: r.source, quote: r.quote,
    access: r.access, effective_from: r.effective_from}]->(b)"""
_RELATION = """startNode(e).id AS `start`, startNode(e).name AS start_name,
    startNode(e).kind AS start_type, endNode(e).id AS `end`, endNode(e).name AS end_name,
    endNode(e).kind AS end_type, e.rid AS id, e.kind AS type,
    e.source AS source, e.quote AS quote, e.access AS access,
    e.effective_from AS effective_from"""
_AROUND = f"""UNWIND $ids AS i MATCH (:Entity {{id: i}})-[e:RELATED]-()
    WHERE any(t IN e.access WHERE t IN $access) RETURN {_RELATION}"""
_SEEN = """UNWIND $ids AS i MATCH (:Entity {id: i})-[e:RELATED]-()
    WHERE any(t IN e.access WHERE t IN $access)
    AND (e.effective_from IS NULL OR e.effective_from <= $day) RETURN DISTINCT i AS id"""
_BY_ID = f"""UNWIND $rows AS r MATCH (:Entity {{id: r.`start`}})-[e:RELATED]->()
    WHERE e.rid = r.id RETURN {_RELATION}"""
_ENTITIES = """MATCH (n:Entity)
    RETURN n.id AS id, n.kind AS type, n.name AS name, n.aliases AS aliases"""
_STARTS = "MATCH (a:Entity)-[e:RELATED]->() RETURN e.rid AS id, a.id AS `start`"
_CONNECTED = "MATCH (a:Entity)-[:RELATED]-() RETURN DISTINCT a.id AS id"
_BATCH = 5_000


@dataclass(frozen=True)
class _Graph:
    """A tenant's graph with what is looked up by name or id kept beside it."""

    frozen: Any
    entities: dict[str, Entity]
    mentions: MentionIndex
    starts: dict[str, str]
    connected: frozenset[str]

    @classmethod
    def of(cls, graph: Any) -> "_Graph":
        frozen = graph.freeze()
        entities = {row["id"]: Entity(**row) for row in frozen.cypher(_ENTITIES)}
        return cls(
            frozen=frozen,
            entities=entities,
            mentions=MentionIndex(entities.values()),
            starts={row["id"]: row["start"] for row in frozen.cypher(_STARTS)},
            connected=frozenset(row["id"] for row in frozen.cypher(_CONNECTED)),
        )

    def around(self, ids: Iterable[str], scope: Scope) -> list[Relation]:
        """Visible relations that touch any of the entities, each once, by id."""
        known = [id for id in ids if id in self.entities]
        rows = self.frozen.cypher(_AROUND, params={"ids": known, "access": list(scope.access)})
        return _relations(rows, scope)

    def known(self, ids: Iterable[str], scope: Scope) -> set[str]:
        """The entities the scope may know of: with a visible relation, or without any.

        Filters do not count here: they choose evidence, not whom one may know.
        """
        ids = set(ids)
        day = scope.as_of and scope.as_of.isoformat()
        params = {
            "ids": sorted(ids & self.connected),
            "access": list(scope.access),
            "day": day or "9999-12-31",
        }
        seen = {row["id"] for row in self.frozen.cypher(_SEEN, params=params)}
        return seen | (ids - self.connected)


class KgliteStore:
    """Entity graphs in a directory; a graph is read on first use and replaced whole."""

    def __init__(self, directory: FilePath) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._graphs: dict[str, _Graph | None] = {}
        self._loading = threading.Lock()
        self._executor = ThreadPoolExecutor(4, thread_name_prefix="entities")

    async def load(
        self, tenant: str, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        """Raises IngestError where ids repeat or a relation names no entity."""
        _must_fit(entities, relations)

        def write() -> None:
            graph = kglite.KnowledgeGraph()
            _insert(graph, _ADD_ENTITIES, entities)
            _insert(graph, _ADD_RELATIONS, relations)
            fresh = self._file(tenant).with_suffix(".new")
            graph.save(str(fresh))
            with self._loading:
                os.replace(fresh, self._file(tenant))
                self._graphs[tenant] = _Graph.of(graph)

        await asyncio.get_running_loop().run_in_executor(self._executor, write)

    async def link(self, text: str, *, scope: Scope) -> list[Entity]:
        def read(graph: _Graph) -> list[Entity]:
            known = graph.known(graph.mentions.candidates(text), scope)
            found = graph.mentions.link(text, known.__contains__)
            return [
                graph.entities[id].model_copy(update={"score": score})
                for id, score in found.items()
            ]

        return await self._ask(scope, read, [])

    async def neighbourhood(
        self, entity_ids: Sequence[str], *, scope: Scope, hops: int = 1, limit: int = 50
    ) -> list[Relation]:
        def read(graph: _Graph) -> list[Relation]:
            found: dict[str, Relation] = {}
            frontier, reached = list(entity_ids), set(entity_ids)
            for _ in range(min(hops, 2)):
                ring = graph.around(frontier, scope)
                found.update(
                    {relation.id: relation for relation in ring if relation.id not in found}
                )
                ends = {id for relation in ring for id in (relation.start, relation.end)}
                frontier = sorted(ends - reached)
                reached |= ends
                if len(found) >= limit:
                    break
            return list(found.values())[:limit]

        return await self._ask(scope, read, [])

    async def paths(
        self, start: str, end: str, *, scope: Scope, max_hops: int = 4, limit: int = 5
    ) -> list[Path]:
        def read(graph: _Graph) -> list[Path]:
            def around(ids: Iterable[str]) -> list[Relation]:
                return graph.around(ids, scope)

            return shortest_paths(start, end, around, max_hops=max_hops, limit=limit)

        return await self._ask(scope, read, [])

    async def relations(self, ids: Sequence[str], *, scope: Scope) -> list[Relation]:
        def read(graph: _Graph) -> list[Relation]:
            rows = [{"id": id, "start": graph.starts[id]} for id in ids if id in graph.starts]
            found = {
                r.id: r
                for r in _relations(graph.frozen.cypher(_BY_ID, params={"rows": rows}), scope)
            }
            return [found[id] for id in dict.fromkeys(ids) if id in found]

        return await self._ask(scope, read, [])

    async def count(self, tenant: str) -> tuple[int, int]:
        def read(graph: _Graph) -> tuple[int, int]:
            return len(graph.entities), len(graph.starts)

        return await self._ask(Scope(tenant=tenant, access=()), read, (0, 0))

    async def close(self) -> None:
        await asyncio.to_thread(self._executor.shutdown)
        self._graphs.clear()

    async def _ask(self, scope: Scope, read: Callable[[_Graph], T], nothing: T) -> T:
        def job() -> T:
            graph = self._graph(scope.tenant)
            return nothing if graph is None else read(graph)

        return await asyncio.get_running_loop().run_in_executor(self._executor, job)

    def _graph(self, tenant: str) -> _Graph | None:
        with self._loading:
            if tenant not in self._graphs:
                self._graphs[tenant] = self._read_file(tenant)
            return self._graphs[tenant]

    def _read_file(self, tenant: str) -> _Graph | None:
        path = self._file(tenant)
        if not path.exists():
            return None
        try:
            return _Graph.of(kglite.load(str(path)))
        except (kglite.KgError, OSError) as error:
            raise KnowledgeError(
                f"the entity graph {path} is damaged ({error}). Load it again with "
                "`agentic-rag ingest PATH --rebuild`."
            ) from error

    def _file(self, tenant: str) -> FilePath:
        return self._directory / f"{stable_id('t', tenant)}.kgl"


def _insert(graph: Any, statement: str, items: Sequence[Entity] | Sequence[Relation]) -> None:
    for start in range(0, len(items), _BATCH):
        rows = [item.model_dump(mode="json") for item in items[start : start + _BATCH]]
        graph.cypher(statement, params={"rows": rows})


def _relations(rows: Iterable[Row], scope: Scope) -> list[Relation]:
    found = {row["id"]: Relation.model_validate(row) for row in rows}
    return [found[id] for id in sorted(found) if _visible(found[id], scope)]


def _visible(relation: Relation, scope: Scope) -> bool:
    """A relation states no metadata but these, so any other filter fails closed."""
    meta = Metadata(
        tenant=scope.tenant, access=relation.access, effective_from=relation.effective_from
    )
    return visible(meta, scope, relation.source)


def _must_fit(entities: Sequence[Entity], relations: Sequence[Relation]) -> None:
    ids = {entity.id for entity in entities}
    if len(ids) < len(entities) or len({r.id for r in relations}) < len(relations):
        raise IngestError("the entity graph repeats an id; give each entity and relation its own")
    for relation in relations:
        if missing := {relation.start, relation.end} - ids:
            raise IngestError(
                f"relation {relation.id} names the entity {min(missing)}, which is not declared; "
                "add it to the entities"
            )
