"""What EVALUATE found wanting and what REFLECT does about it."""

from typing import Literal

from domain.base import Model
from domain.plan import Requirement

Move = Literal["rewrite", "widen", "narrow", "switch_source", "decompose", "ask_user"]


class Gap(Model):
    """A requirement that the evidence does not meet, and why it is thought so."""

    requirement: Requirement
    reason: str


ConflictBasis = Literal["authority", "date", "none"]
"""Why the first side of a conflict is preferred; with "none" neither is."""


class Conflict(Model):
    """Two sources that disagree on one point; the first is the one to prefer, by `basis`."""

    point: str
    preferred: str
    other: str
    preferred_quote: str
    other_quote: str
    reason: str
    basis: ConflictBasis = "none"


class Assessment(Model):
    """The judgement after one round; `coverage`, `agreement` and `confidence` run from 0 to 1.

    `unmeasured` says why nearness in meaning was not measured, where words alone had to decide.
    `clear` is the early stop: the first round is plainly enough. `outdated` lists evidence
    out of force on the day of the question.
    """

    step: int
    coverage: float
    agreement: float
    source_quality: float
    confidence: float
    new_evidence: int
    sources: int
    clear: bool = False
    gaps: tuple[Gap, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    outdated: tuple[str, ...] = ()
    elapsed_ms: float = 0.0
    unmeasured: str = ""


class Reflection(Model):
    """The move chosen for a named gap, with the calls it adds.

    `ask` is what only the user can supply, where the move is to ask.
    """

    step: int
    move: Move
    gap: str
    expected_gain: float
    reason: str
    sub_queries: tuple[str, ...] = ()
    ask: str = ""
