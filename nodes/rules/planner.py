"""PLAN without a model: one shape a kind of question, filled with what the question names."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from backends.library import Library
from domain.identity import Filter, Scope
from domain.knowledge import Entity
from domain.plan import OF_VERSION, Intent, Plan, Route, SubQuery, ToolCall
from domain.run import Run
from nodes.rules.identifiers import version_values
from nodes.rules.intent import clauses
from nodes.rules.requirements import requirements
from nodes.rules.templates import match_template

MOST_CLAUSES = 6
"""How many questions in one are looked into; a longer list is asked one by one."""

_COUNTED: frozenset[Intent] = frozenset({"statistics", "diagnosis", "fact", "definition"})

_SLOT_WORDS = {
    "change": "release deployment configuration change 发布 变更 上线",
    "cause": "root cause limit exceeded because 根因 原因 限制 超过",
    "excluded": "ruled out not the cause unchanged normal healthy 已排除 无关 未变化 正常",
    "action": "mitigation steps raise limit roll back 处理步骤 缓解 回滚 调整",
}


@dataclass(frozen=True)
class RulePlanner:
    """Sources by kind of question as in the design's table; only tools the caller may use."""

    library: Library

    async def plan(self, route: Route, *, tools: Sequence[str], run: Run, scope: Scope) -> Plan:
        knowledge = await self.library.version(run.knowledge_version)
        entities = await knowledge.entities.link(route.standalone, scope=scope)
        builder = _Builder(route, frozenset(tools), tuple(entities))
        figures = None
        if "sql_lookup" in tools and route.intent in _COUNTED:
            figures = match_template(
                route.standalone,
                await knowledge.relational.templates(scope=scope),
                entities,
                route.period,
                route.language,
                strict=route.intent != "diagnosis",
            )
        sub_queries = builder.sub_queries(figures)
        return Plan(
            sub_queries=tuple(sub_queries),
            requirements=tuple(requirements(route, entities, sub_queries)),
            as_of=run.as_of,
        )


@dataclass(frozen=True)
class _Builder:
    route: Route
    tools: frozenset[str]
    entities: tuple[Entity, ...]

    def sub_queries(self, figures: ToolCall | None) -> list[SubQuery]:
        match self.route.intent:
            case "version_difference" if len(self.route.versions) >= 2:
                planned = self._versions()
            case "diagnosis":
                planned = self._diagnosis(figures)
            case "decision":
                planned = self._decision()
            case "statistics":
                planned = self._statistics(figures)
            case "relation":
                planned = self._relations()
            case "how_to":
                plain = self._query("q1", "", ("knowledge_search", "runbook_search"))
                planned = [plain, *self._of_version(plain)]
            case _:
                planned = self._facts(figures)
        return _askable(planned)

    def _facts(self, figures: ToolCall | None) -> list[SubQuery]:
        parts = list(dict.fromkeys(clauses(self.route.standalone)))[:MOST_CLAUSES]
        if len(parts) == 1:
            plain = self._query("q1", "", self._fact_tools())
            if figures is not None:
                plain = plain.model_copy(update={"calls": (figures, *plain.calls)})
            return [plain, *self._of_version(plain)]
        return [
            self._query(f"q{i}", "", self._fact_tools(), text=self._with_subject(part, parts[0]))
            for i, part in enumerate(parts, 1)
        ]

    def _of_version(self, plain: SubQuery) -> list[SubQuery]:
        """Where the question names a version, the same among the documents of that version."""
        if len(self.route.versions) != 1:
            return []
        spellings = version_values(self.route.versions[0])
        only = (Filter(field="version", op="in", value=spellings),)
        return [plain.model_copy(update={"id": "q2", "slot": OF_VERSION, "filters": only})]

    def _fact_tools(self) -> tuple[str, ...]:
        names = " ".join(self.route.identifiers).upper()
        extra = tuple(
            tool
            for mark, tool in (("TCK", "ticket_search"), ("CHG", "change_log_search"))
            if mark in names
        )
        return ("knowledge_search", *extra)

    def _with_subject(self, part: str, first: str) -> str:
        return part if part == first else f"{part} ({first})"

    def _versions(self) -> list[SubQuery]:
        return [
            self._query(
                f"q{i}",
                f"version:{version}",
                ("knowledge_search",),
                filters=(Filter(field="version", op="in", value=version_values(version)),),
            )
            for i, version in enumerate(self.route.versions, 1)
        ]

    def _diagnosis(self, figures: ToolCall | None) -> list[SubQuery]:
        symptom = self._query("q1", "symptom", ("ticket_search",))
        if figures is not None:
            symptom = symptom.model_copy(update={"calls": (*symptom.calls, figures)})
        change = self._query("q2", "change", ("change_log_search",), filters=self._around())
        excluded = self._query("q3", "excluded", ("ticket_search", "change_log_search"))
        cause = self._query(
            "q4", "cause", ("knowledge_search", "graph_search", "ticket_search"), after=("q1", "q2")
        )
        action = self._query("q5", "action", ("runbook_search",), after=("q1", "q2"))
        return [symptom, change, excluded, cause, action]

    def _around(self) -> tuple[Filter, ...]:
        period = self.route.period
        if period is None or period.start is None:
            return ()
        day: date = period.start.date()
        return (
            Filter(field="effective_from", op="gte", value=day - timedelta(days=1)),
            Filter(field="effective_from", op="lte", value=day),
        )

    def _decision(self) -> list[SubQuery]:
        policy = (Filter(field="doc_type", op="in", value=("policy",)),)
        return [
            self._query("q1", "rule", ("knowledge_search",), filters=policy),
            self._query("q2", "options", ("knowledge_search", "runbook_search")),
        ]

    def _relations(self) -> list[SubQuery]:
        """Two hops around what is named, then two more around what that brought."""
        near = self._query("q1", "relations", ("graph_search", "knowledge_search"))
        if not self.entities:
            return [near]
        far = self._query("q2", "relations", ("graph_search",), after=("q1",))
        return [near, far]

    def _statistics(self, figures: ToolCall | None) -> list[SubQuery]:
        documents = self._query("q1", "", ("knowledge_search",))
        if figures is None:
            return [documents]
        calls = (figures, *documents.calls)
        return [documents.model_copy(update={"slot": "figures", "calls": calls})]

    def _query(
        self,
        id: str,
        slot: str,
        tools: tuple[str, ...],
        *,
        text: str = "",
        filters: tuple[Filter, ...] = (),
        after: tuple[str, ...] = (),
    ) -> SubQuery:
        question = text or self.route.standalone
        words = _SLOT_WORDS.get(slot, "")
        searched = f"{question} {words}".strip()
        return SubQuery(
            id=id,
            question=question,
            slot=slot,
            calls=tuple(
                ToolCall(tool=t, arguments={"query": question if t == "graph_search" else searched})
                for t in tools
                if t in self.tools
            ),
            filters=filters,
            depends_on=after,
        )


def _askable(planned: Sequence[SubQuery]) -> list[SubQuery]:
    """The sub-queries for which there is a tool; none of them waits for one that there is not."""
    kept = {query.id for query in planned if query.calls}
    return [
        query.model_copy(update={"depends_on": tuple(d for d in query.depends_on if d in kept)})
        for query in planned
        if query.id in kept
    ]
