"""What ROUTE and PLAN decide."""

import hashlib
import json
from datetime import date, datetime
from typing import Literal

from pydantic import JsonValue

from domain.base import Model
from domain.identity import Filter

Intent = Literal[
    "greeting",
    "capability",
    "out_of_scope",
    "definition",
    "how_to",
    "version_difference",
    "diagnosis",
    "decision",
    "statistics",
    "relation",
    "fact",
]
Mode = Literal["direct", "single", "agentic", "clarify"]
Language = Literal["zh", "en"]


OF_VERSION = "of_version"
"""The slot of a sub-query that asks another one again among the documents of one version."""


class Period(Model):
    """A stretch of time that the question names; open ends are None."""

    start: datetime | None = None
    end: datetime | None = None
    text: str = ""


class Route(Model):
    """What kind of question this is and how much effort it deserves.

    `entities` are the names of what it names, `mentions` the same as the question calls them.

    `standalone` is the question with what the conversation supplies filled in. `missing`
    says, for the mode `clarify`, what no source can supply. `reason` names the rules that
    decided.
    """

    intent: Intent
    mode: Mode
    language: Language
    standalone: str
    risk: Literal["low", "high"] = "low"
    entities: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    period: Period | None = None
    missing: str = ""
    reason: str = ""


class ToolCall(Model):
    """A tool with the arguments that a caller may choose; the Scope is never among them."""

    tool: str
    arguments: dict[str, JsonValue]


class SubQuery(Model):
    """One thing to find out. It may run once everything in `depends_on` has been asked."""

    id: str
    question: str
    slot: str = ""
    calls: tuple[ToolCall, ...]
    filters: tuple[Filter, ...] = ()
    depends_on: tuple[str, ...] = ()

    def signature(self, call: ToolCall) -> str:
        """Equal for the same call over the same filters: such a call is never made twice."""
        filters = sorted(f.model_dump_json() for f in self.filters)
        body = json.dumps([call.tool, call.arguments, filters], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(body.encode()).hexdigest()[:16]


class Requirement(Model):
    """Something the evidence has to cover before the answer may be called complete.

    `terms` are alternatives of which one must be found (an entity and its aliases, say).
    """

    id: str
    kind: Literal["entity", "sub_question", "slot", "time", "constraint", "version"]
    text: str
    terms: tuple[str, ...] = ()
    sub_query: str = ""
    essential: bool = True


class Plan(Model):
    """The sub-queries in order and what their evidence has to cover."""

    sub_queries: tuple[SubQuery, ...]
    requirements: tuple[Requirement, ...] = ()
    as_of: date | None = None

    def serving(self, needed: Requirement) -> frozenset[str]:
        """The sub-queries that look for a requirement: its own and those that ask it again."""
        own = self.sub_query(needed.sub_query)
        if own is None:
            return frozenset()
        slots = (own.slot, OF_VERSION)
        return frozenset(
            q.id for q in self.sub_queries if q.question == own.question and q.slot in slots
        )

    def sub_query(self, id: str) -> SubQuery | None:
        """The sub-query of that id, or None."""
        return next((q for q in self.sub_queries if q.id == id), None)
