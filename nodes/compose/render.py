"""From checked statements to the text a person reads, with numbered citations."""

from collections.abc import Mapping, Sequence

from domain.answer import Citation, Quote, Statement
from domain.evidence import Evidence
from domain.plan import Language
from nodes.compose.base import flat
from nodes.rules.slots import label
from tools.reader import Source

_ORDER = (
    "recommendation", "cause", "symptom", "change", "excluded", "action", "in_force", "difference",
    "rule", "conditions", "options", "figures", "relations",
)  # fmt: skip

_ABSTAINED = {
    "en": "The knowledge available to you does not suffice to answer this.",
    "zh": "您可访问的知识不足以回答这个问题。",
}
_MISSING = {"en": "What is missing: {}.", "zh": "缺少：{}。"}
_HELP = {
    "en": "What would help: a source that covers it, or a question that names the product, version or time.",
    "zh": "可以补充：涵盖该内容的资料，或在问题中说明产品、版本或时间。",
}
_CLARIFY = {
    "en": "Please complete the question. It lacks {}.",
    "zh": "请补充问题，其中缺少{}。",
}


def in_order(statements: Sequence[Statement]) -> list[Statement]:
    """Conclusion first; slots without a place keep theirs."""
    place = {slot: position for position, slot in enumerate(_ORDER)}
    return sorted(statements, key=lambda s: place.get(s.slot, len(_ORDER)))


def citations_of(
    statements: Sequence[Statement], evidence: Mapping[str, Evidence], sources: Mapping[str, Source]
) -> list[Citation]:
    """One citation a distinct proof, numbered in the order in which the text refers to them."""
    numbered: dict[tuple[str, int, int], Citation] = {}
    for statement in statements:
        for quote in _proofs(statement):
            key = (quote.evidence, quote.start, quote.end)
            if key not in numbered:
                item = evidence[quote.evidence]
                numbered[key] = _citation(
                    len(numbered) + 1, statement, quote, item, sources[quote.evidence]
                )
    return list(numbered.values())


def _proofs(statement: Statement) -> list[Quote]:
    return [quote for quote in statement.quotes if quote.role == "proof"]


def _citation(
    number: int, statement: Statement, quote: Quote, item: Evidence, source: Source
) -> Citation:
    base = item.locator.start if item.kind == "chunk" else 0
    return Citation(
        number=number,
        id=item.id,
        statement=statement.id,
        source=item.source,
        title=source.title,
        locator=item.locator,
        quote=quote.text,
        start=base + quote.start,
        end=base + quote.end,
        version=source.meta.version,
        effective_from=source.meta.effective_from,
        effective_to=source.meta.effective_to,
    )


def answer_text(
    statements: Sequence[Statement], citations: Sequence[Citation], language: Language
) -> str:
    """Statements under the labels of their slots, each with the numbers of its citations."""
    numbers = {(c.id, c.quote): c.number for c in citations}
    blocks: list[str] = []
    slot: str | None = None
    for statement in statements:
        marks = "".join(
            f"[{n}]" for n in dict.fromkeys(numbers[q.evidence, q.text] for q in _proofs(statement))
        )
        line = f"{flat(statement.text)} {marks}".strip()
        if not statement.slot or statement.slot == "direct":
            blocks.append(line)
            continue
        if statement.slot != slot:
            blocks.append(f"{label(statement.slot, language)}:")
            slot = statement.slot
        blocks.append(f"- {line}")
    return "\n".join(blocks)


def abstention(missing: Sequence[str], language: Language) -> str:
    """What is missing and what would help."""
    parts = [_ABSTAINED[language]]
    if missing:
        names = "; ".join(dict.fromkeys(label(m, language) for m in missing))
        parts.append(_MISSING[language].format(names.rstrip("?？。.")))
    return " ".join((*parts, _HELP[language]))


def clarification(missing: str, language: Language) -> str:
    """A question back."""
    return _CLARIFY[language].format(missing)


def follow_ups(
    evidence: Sequence[Evidence], cited: Sequence[Citation], language: Language
) -> tuple[str, ...]:
    """Questions the knowledge can answer: sections found beside the cited ones."""
    used = {(c.source, c.locator.heading_path[-1:]) for c in cited}
    titles = {c.source for c in cited}
    pattern = "What does {} say about {}?" if language == "en" else "《{}》中关于“{}”是怎么说的？"
    found = [
        pattern.format(item.title, item.locator.heading_path[-1])
        for item in evidence
        if item.source in titles
        and len(item.locator.heading_path) > 1
        and (item.source, item.locator.heading_path[-1:]) not in used
        and item.meta.language in ("", language)
    ]
    return tuple(dict.fromkeys(found))[:3]
