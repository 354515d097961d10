"""What leaves the program."""

from datetime import date
from typing import Literal

from pydantic import JsonValue

from domain.assessment import Assessment, Reflection
from domain.base import Model
from domain.evidence import Locator
from domain.limits import Degradation, Usage
from domain.plan import Language, Plan, Route

Verdict = Literal["answered", "answered_with_caveat", "conflict", "clarify", "abstained", "refused"]


class Quote(Model):
    """Verbatim words of one piece of evidence: `evidence.text[start:end] == text`.

    `role` "context" is what a proof needs to be read (a table's header, a heading): it is
    checked like the proof and gets no citation of its own.
    """

    evidence: str
    text: str
    start: int
    end: int
    role: Literal["proof", "context"] = "proof"


class Statement(Model):
    """One claim of the answer with the quotes that prove it.

    `slot` is its place in the answer's shape. `essential` marks a conclusion without which
    there is no answer. A statement without quotes says nothing about the knowledge (a
    `direct` reply) and is the only kind that needs no proof.
    """

    id: str
    text: str
    slot: str = ""
    quotes: tuple[Quote, ...] = ()
    essential: bool = False


class Citation(Model):
    """A checked pointer into a source; `number` is how the text refers to it.

    `start` and `end` are offsets of the quote in the document's canonical text; for rows,
    relations and pages, which are no documents, in the evidence's own text.
    """

    number: int
    id: str
    statement: str
    source: str
    title: str
    locator: Locator
    quote: str
    start: int
    end: int
    version: str = ""
    effective_from: date | None = None
    effective_to: date | None = None


class StageRecord(Model):
    """One stage's turn: when it began (ms since the run began), how long, what it decided."""

    stage: str
    start: float
    duration_ms: float
    decision: dict[str, JsonValue] = {}


class Draft(Model):
    """What ANSWER composed, before SAFE_GUARD has looked at it."""

    statements: tuple[Statement, ...] = ()
    missing: tuple[str, ...] = ()


class Answer(Model):
    """The whole result of a run; `boundary` says what was not looked at or not found."""

    run_id: str
    question: str
    verdict: Verdict
    language: Language
    text: str
    statements: tuple[Statement, ...] = ()
    citations: tuple[Citation, ...] = ()
    confidence: float = 0.0
    boundary: str = ""
    follow_ups: tuple[str, ...] = ()
    route: Route | None = None
    plan: Plan | None = None
    assessments: tuple[Assessment, ...] = ()
    reflections: tuple[Reflection, ...] = ()
    degradations: tuple[Degradation, ...] = ()
    usage: Usage = Usage()
    trace: tuple[StageRecord, ...] = ()
    knowledge_version: str = ""
    tenant: str = ""
    as_of: date | None = None
