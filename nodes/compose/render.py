"""From checked statements to the text a person reads, with numbered citations."""

from collections.abc import Mapping, Sequence

from domain.answer import Citation, Quote, Statement
from domain.evidence import Evidence
from domain.plan import Language
from nodes.compose.base import flat
from nodes.compose.harmless import harmless
from nodes.rules.slots import label

_ORDER = (
    "recommendation", "cause", "symptom", "change", "excluded", "action", "in_force", "outdated",
    "upcoming", "difference", "rule", "conditions", "options", "figures", "relations",
)  # fmt: skip

_ABSTAINED = {
    "en": "The knowledge available to you does not suffice to answer this.",
    "zh": "您可访问的知识不足以回答这个问题。",
}
_FAILED = {
    "en": "This could not be answered in time: a part of the search failed or was late, so nothing "
    "is said about what the knowledge holds. Ask again, or allow more time.",
    "zh": "未能在限定时间内回答：部分检索失败或超时，因此无法判断知识库中是否有答案。请重试，或放宽时间限制。",
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
    statements: Sequence[Statement], sources: Mapping[str, Evidence]
) -> list[Citation]:
    """One citation a distinct proof, numbered in the order in which the text refers to them.

    `sources` are the pieces of evidence as their stores hold them now.
    """
    return [
        _citation(number, statement, quote, sources[quote.evidence])
        for number, (statement, quote) in enumerate(_distinct(statements).values(), 1)
    ]


_Place = tuple[str, int, int]


def _distinct(statements: Sequence[Statement]) -> dict[_Place, tuple[Statement, Quote]]:
    """Each proof by where it stands, as first given: the same words may stand in two places."""
    found: dict[_Place, tuple[Statement, Quote]] = {}
    for statement in statements:
        for quote in _proofs(statement):
            found.setdefault(_place(quote), (statement, quote))
    return found


def _place(quote: Quote) -> _Place:
    return quote.evidence, quote.start, quote.end


def _proofs(statement: Statement) -> list[Quote]:
    return [quote for quote in statement.quotes if quote.role == "proof"]


def _citation(number: int, statement: Statement, quote: Quote, item: Evidence) -> Citation:
    base = item.locator.start if item.kind == "chunk" else 0
    return Citation(
        number=number,
        id=item.id,
        statement=statement.id,
        source=item.source,
        title=item.title,
        locator=item.locator,
        quote=quote.text,
        start=base + quote.start,
        end=base + quote.end,
        version=item.meta.version,
        effective_from=item.meta.effective_from,
        effective_to=item.meta.effective_to,
    )


def answer_text(
    statements: Sequence[Statement], citations: Sequence[Citation], language: Language
) -> str:
    """Statements under the labels of their slots, each with the numbers of its citations.

    `citations` are those of exactly these statements, as `citations_of` gives them.
    """
    numbers = dict(zip(_distinct(statements), (c.number for c in citations), strict=True))
    blocks: list[str] = []
    slot: str | None = None
    for statement in statements:
        marks = "".join(
            f"[{n}]" for n in dict.fromkeys(numbers[_place(q)] for q in _proofs(statement))
        )
        line = f"{harmless(flat(statement.text))} {marks}".strip()
        if not statement.slot or statement.slot == "direct":
            blocks.append(line)
            continue
        if statement.slot != slot:
            blocks.append(f"{label(statement.slot, language)}:")
            slot = statement.slot
        blocks.append(f"- {line}")
    return "\n".join(blocks)


def abstention(missing: Sequence[str], language: Language, *, failed: bool = False) -> str:
    """What is missing and what would help; `failed` says that not everything could be looked at."""
    if failed:
        return _FAILED[language]
    parts = [_ABSTAINED[language]]
    if missing:
        names = "; ".join(dict.fromkeys(label(m, language) for m in missing))
        parts.append(_MISSING[language].format(harmless(names).rstrip("?？。.")))
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
        harmless(pattern.format(item.title, item.locator.heading_path[-1]))
        for item in evidence
        if item.source in titles
        and len(item.locator.heading_path) > 1
        and (item.source, item.locator.heading_path[-1:]) not in used
        and item.meta.language in ("", language)
    ]
    return tuple(dict.fromkeys(found))[:3]
