"""Makes a follow-up question stand alone, from the turns before it."""

import re
from collections.abc import Sequence

from domain.run import Turn
from nodes.rules.identifiers import versions

_OPENING = re.compile(
    r"^\s*(?:and|so|but|then|ok|okay|also)?[,，\s]*(?:what|how) about\b|^\s*(?:and|but|also)\b|"
    r"^\s*(?:那么?|还有|另外)|^[^？?]{1,20}呢[？?]?\s*$",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|that one|this one|those|these|he|she|the same|the former|the latter)\b|"
    r"\b(?:that|this)\b(?!\s+\w+\s+(?:is|was))|它们?|他们|她们|这个|那个|这些|那些|前者|后者|其中|该(?:商户|版本|政策|服务|问题|规则)",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^\s*(?:and|so|but|then|ok|okay|also)?[,，\s]*(?:(?:what|how) about)?\s*|^\s*(?:那么?|还有|另外)|呢?[？?]?\s*$",
    re.IGNORECASE,
)


def leans_on_context(question: str) -> bool:
    """Whether the question cannot be understood alone."""
    return bool(_OPENING.search(question)) or (
        bool(_PRONOUN.search(question)) and len(question) < 80
    )


def standalone(question: str, turns: Sequence[Turn]) -> str:
    """The question with what the conversation supplies; unchanged where nothing is needed.

    "and what about v1?" after a question about v2 asks that question of v1. Otherwise the
    earlier question is put in front, so that its words and entities take part.
    """
    if not turns or not leans_on_context(question):
        return question.strip()
    before = turns[-1]
    rest = _FILLER.sub("", question).strip(" ?？。.")
    asked, had = versions(question), versions(before.standalone)
    if asked and had and len(rest) <= 24:
        return _with_version(before.standalone, had, asked)
    if len(rest) <= 24 and _OPENING.search(question):
        return _with_topic(before, rest)
    return f"{before.standalone.rstrip('?？。. ')}: {question.strip()}"


def _with_version(earlier: str, had: Sequence[str], asked: Sequence[str]) -> str:
    pattern = re.compile(
        r"(?P<lead>[vV]\s?|version\s+|第?\s?)" + re.escape(had[0]) + r"(?![\d.]*\d)", re.IGNORECASE
    )
    wanted = " and ".join(asked) if len(asked) > 1 else asked[0]
    return pattern.sub(lambda m: m.group("lead") + wanted, earlier)


def _with_topic(before: Turn, topic: str) -> str:
    for entity in before.entities:
        pattern = re.compile(re.escape(entity), re.IGNORECASE)
        if pattern.search(before.standalone):
            return pattern.sub(topic, before.standalone)
    joint = "，" if before.language == "zh" else " — "
    return f"{before.standalone.rstrip('?？。. ')}{joint}{topic}"
