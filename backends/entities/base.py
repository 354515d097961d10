"""What an entity graph must offer."""

from collections.abc import Sequence
from typing import Protocol

from domain.identity import Scope
from domain.knowledge import Entity, Path, Relation


class EntityStore(Protocol):
    """Entities and their relations, tenant by tenant. Nothing blocks the event loop."""

    async def load(
        self, tenant: str, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        """Replace the whole graph of a tenant."""
        ...

    async def link(self, text: str, *, scope: Scope) -> list[Entity]:
        """The entities that `text` names by id, name or alias, longest mention first.

        Matching ignores case and width; a Latin name matches whole words only.
        """
        ...

    async def neighbourhood(
        self, entity_ids: Sequence[str], *, scope: Scope, hops: int = 1, limit: int = 50
    ) -> list[Relation]:
        """Relations within 1 or 2 hops of the entities, nearest first."""
        ...

    async def paths(
        self, start: str, end: str, *, scope: Scope, max_hops: int = 4, limit: int = 5
    ) -> list[Path]:
        """Shortest paths, ignoring direction; empty where there is none within the scope."""
        ...

    async def relations(self, ids: Sequence[str], *, scope: Scope) -> list[Relation]:
        """Read relations again by id; what is outside the scope is left out."""
        ...

    async def count(self, tenant: str) -> tuple[int, int]:
        """Entities and relations of a tenant."""
        ...

    async def close(self) -> None:
        """Let go of the files."""
        ...
