"""ROUTE without a model: rules over the words, the linked entities and the conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC

from backends.library import Library
from domain.identity import Scope
from domain.plan import Intent, Mode, Route
from domain.run import Run, Turn
from nodes.rules.followup import leans_on_context, standalone
from nodes.rules.identifiers import identifiers, versions
from nodes.rules.intent import chatter, clauses, intent_of, risky
from nodes.rules.periods import period
from runtime.clock import Clock
from runtime.text.analyzer import content_terms
from runtime.text.language import question_language

_AGENTIC: frozenset[Intent] = frozenset({"diagnosis", "version_difference", "decision", "relation"})

_MISSING = {
    "en": "a subject: it names nothing, and nothing was said before",
    "zh": "所指的对象：问题中没有说明，之前的对话里也没有",
}


@dataclass(frozen=True)
class RuleRouter:
    """Cheap questions stay cheap: only what needs several rounds becomes agentic."""

    library: Library
    clock: Clock

    async def route(self, question: str, turns: Sequence[Turn], *, run: Run, scope: Scope) -> Route:
        language = question_language(question)
        small_talk = chatter(question)
        if small_talk and run.forced_mode in (None, "direct"):
            return Route(
                intent=small_talk,
                mode="direct",
                language=language,
                standalone=question.strip(),
                reason=f"the whole question reads as {small_talk}",
            )
        full = standalone(question, turns)
        intent = intent_of(full)
        mode, reason = self._mode(full, intent, bool(turns), run)
        knowledge = await self.library.version(run.knowledge_version)
        entities = await knowledge.entities.link(full, scope=scope)
        return Route(
            intent=intent,
            mode=mode,
            language=language,
            standalone=full,
            risk="high" if intent == "decision" or risky(full) else "low",
            entities=tuple(entity.name for entity in entities),
            mentions=tuple(entity.called_in(full) for entity in entities),
            identifiers=identifiers(full),
            versions=versions(full),
            period=period(full, self.clock.now().astimezone(UTC)),
            missing=_MISSING[language] if mode == "clarify" else "",
            reason=reason,
        )

    def _mode(self, question: str, intent: Intent, has_turns: bool, run: Run) -> tuple[Mode, str]:
        if run.forced_mode is not None:
            return run.forced_mode, "the caller forced this mode"
        if not has_turns and not run.clarified and _names_nothing(question):
            return "clarify", "the question points at something that was never named"
        if intent in _AGENTIC:
            return "agentic", f"a {intent} question needs several sources"
        if len(clauses(question)) > 1:
            return "agentic", "the question asks several things"
        return "single", f"one round suffices for a {intent} question"


def _names_nothing(question: str) -> bool:
    return leans_on_context(question) and len(content_terms(question)) <= 2
