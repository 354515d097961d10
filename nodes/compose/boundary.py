"""What an answer has to say about its own limits."""

from collections.abc import Mapping, Sequence

from domain.answer import Statement
from domain.assessment import Assessment, Conflict
from domain.evidence import Evidence
from domain.plan import Route
from nodes.compose.harmless import harmless
from nodes.rules.slots import label

_TEXT = {
    "gap": {"en": "Not found: {}.", "zh": "未找到：{}。"},
    "outdated": {
        "en": "Some of the sources used are not in force on the day asked for: {}.",
        "zh": "部分引用的来源在所问日期并非有效：{}。",
    },
    "authority": {
        "en": 'The sources disagree: "{}" against "{}"; the first has the higher authority.',
        "zh": "来源之间存在冲突：“{}”与“{}”；前者权威性更高。",
    },
    "date": {
        "en": 'The sources disagree: "{}" against "{}"; the first is the newer one.',
        "zh": "来源之间存在冲突：“{}”与“{}”；前者日期更新。",
    },
    "none": {
        "en": 'The sources disagree: "{}" against "{}"; nothing speaks for either.',
        "zh": "来源之间存在冲突：“{}”与“{}”；无法判断以哪个为准。",
    },
}


def boundary(
    route: Route,
    assessment: Assessment,
    statements: Sequence[Statement],
    sources: Mapping[str, Evidence],
) -> str:
    """Gaps, outdated sources and conflicts in the language of the question; may be empty.

    `sources` are pieces of evidence as their stores hold them now: nothing else is named.
    """
    language = route.language
    notes = []
    gaps = [_name(g.requirement.text, language) for g in assessment.gaps]
    if gaps:
        notes.append(_TEXT["gap"][language].format("; ".join(dict.fromkeys(gaps))))
    cited = {quote.evidence for s in statements for quote in s.quotes}
    if route.intent != "version_difference":
        old = [sources[id].title or sources[id].source for id in assessment.outdated if id in cited]
        if old:
            notes.append(_TEXT["outdated"][language].format("; ".join(dict.fromkeys(old))))
    notes += [
        _TEXT[conflict.basis][language].format(conflict.preferred_quote, conflict.other_quote)
        for conflict in assessment.conflicts
        if {conflict.preferred, conflict.other} & cited and _stands(conflict, sources)
    ]
    return harmless(" ".join(notes))


def _stands(conflict: Conflict, sources: Mapping[str, Evidence]) -> bool:
    """Whether both sides still say what they are said to say."""
    sides = (
        (conflict.preferred, conflict.preferred_quote),
        (conflict.other, conflict.other_quote),
    )
    return all(id in sources and quote in sources[id].text for id, quote in sides)


def _name(text: str, language: str) -> str:
    return label(text, "zh" if language == "zh" else "en")
