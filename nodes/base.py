"""What every stage shares: the Update it returns and the protocols of what may decide in it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from domain.answer import Draft, Statement
from domain.assessment import Assessment, Reflection
from domain.evidence import Evidence
from domain.identity import Scope
from domain.plan import Plan, Route, SubQuery
from domain.run import Run, Turn
from domain.state import State

Update = dict[str, Any]
"""A partial State; the reducers of `domain.state` merge it."""


class Router(Protocol):
    """Decides what kind of question this is."""

    async def route(
        self, question: str, turns: Sequence[Turn], *, run: Run, scope: Scope
    ) -> Route: ...


class Planner(Protocol):
    """Decides what has to be found out, and with which of the allowed tools."""

    async def plan(self, route: Route, *, tools: Sequence[str], run: Run, scope: Scope) -> Plan: ...


class Evaluator(Protocol):
    """Judges what the evidence covers and what it lacks."""

    async def assess(self, state: State, *, scope: Scope) -> Assessment: ...


class Reflector(Protocol):
    """Chooses the move that closes a named gap, with its sub-queries; None where none would."""

    async def reflect(
        self, state: State, *, tools: Sequence[str], scope: Scope
    ) -> tuple[Reflection, tuple[SubQuery, ...]] | None: ...


class Composer(Protocol):
    """Composes statements from evidence, each with the quotes that prove it."""

    async def compose(self, state: State, *, scope: Scope) -> Draft: ...


class Verifier(Protocol):
    """Says why a statement is not borne out by its quotes; empty means that it is."""

    async def objections(
        self, statement: Statement, sources: Mapping[str, Evidence]
    ) -> list[str]: ...
