"""What an answer has to say about its own limits."""

from collections.abc import Sequence

from domain.answer import Statement
from nodes.compose.base import Material
from nodes.rules.slots import label

_TEXT = {
    "gap": {"en": "Not found: {}.", "zh": "未找到：{}。"},
    "outdated": {
        "en": "Some of the sources used are no longer in force: {}.",
        "zh": "部分引用的来源已失效：{}。",
    },
    "conflict": {
        "en": 'The sources disagree: "{}" against "{}"; the first is preferred for its authority and date.',
        "zh": "来源之间存在冲突：“{}”与“{}”；依权威性与日期优先采用前者。",
    },
    "looked": {"en": "Looked at: {}.", "zh": "已查阅：{}。"},
    "steps": {"en": "Stopped after {} rounds.", "zh": "已在 {} 轮后停止。"},
}


def boundary(material: Material, statements: Sequence[Statement]) -> str:
    """Gaps, outdated sources and conflicts in the language of the question; may be empty."""
    language, assessment = material.language, material.assessment
    notes = []
    gaps = [_name(g.requirement.text, language) for g in assessment.gaps]
    if gaps:
        notes.append(_TEXT["gap"][language].format("; ".join(dict.fromkeys(gaps))))
    cited = {quote.evidence for s in statements for quote in s.quotes}
    if material.route.intent != "version_difference":
        old = [
            e.title or e.source
            for e in material.evidence
            if e.id in set(assessment.outdated) & cited
        ]
        if old:
            notes.append(_TEXT["outdated"][language].format("; ".join(dict.fromkeys(old))))
    notes += [
        _TEXT["conflict"][language].format(conflict.preferred_quote, conflict.other_quote)
        for conflict in assessment.conflicts
        if {conflict.preferred, conflict.other} & cited
    ]
    return " ".join(notes)


def _name(text: str, language: str) -> str:
    return label(text, "zh" if language == "zh" else "en")
