"""SAFE_GUARD's check without a model: a statement may commit to nothing its quotes do not hold."""

from collections.abc import Mapping
from dataclasses import dataclass

from domain.answer import Statement
from domain.evidence import Evidence
from runtime.text.facts import disagreements


@dataclass(frozen=True)
class RuleVerifier:
    """Numbers, dates, names, codes and negation of a statement against its sources.

    Besides the quotes, a statement may lean on what the source declares of itself: title,
    version and dates of force.
    """

    async def objections(self, statement: Statement, sources: Mapping[str, Evidence]) -> list[str]:
        quotes = " \n".join(quote.text for quote in statement.quotes)
        declared = " \n".join(
            _declared(sources[id]) for id in {q.evidence: None for q in statement.quotes}
        )
        against_quotes = disagreements(statement.text, quotes)
        against_both = set(disagreements(statement.text, f"{quotes}\n{declared}"))
        return [o for o in against_quotes if o in against_both or o == "negation"]


def _declared(source: Evidence) -> str:
    meta = source.meta
    version = meta.version and f"{meta.version} v{meta.version.lstrip('vV')}"
    return f"{source.title} {version} {meta.effective_from or ''} {meta.effective_to or ''}"
