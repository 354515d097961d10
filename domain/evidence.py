"""What the tools found: the only thing that an answer may be made of."""

from typing import Literal

from domain.base import Model
from domain.knowledge import ChunkKind, Metadata
from domain.limits import Degradation

EvidenceKind = Literal["chunk", "rows", "relations", "web", "api"]


class Hit(Model):
    """One result of one search arm; `score` is that arm's own and not comparable."""

    chunk_id: str
    score: float


class Locator(Model):
    """Where the text stands in its source; offsets refer to the document's canonical text."""

    heading_path: tuple[str, ...] = ()
    page: int | None = None
    start: int = 0
    end: int = 0


class Scores(Model):
    """Scores by arm, as that arm gave them; None where the arm did not return it.

    `fused` is the rank fusion; `final` what the order of evidence follows.
    """

    dense: float | None = None
    lexical: float | None = None
    fused: float = 0.0
    final: float = 0.0


class Evidence(Model):
    """A piece of a source that this run may cite.

    `id` is opaque. `ref` lets the store read the text again: SAFE_GUARD never trusts the
    text in the State. `text` is verbatim; `found_start` and `found_end` mark the part of it
    that the search found (the rest is its neighbourhood).
    """

    id: str
    kind: EvidenceKind
    ref: str
    tool: str
    source: str
    title: str
    text: str
    found_start: int = 0
    found_end: int = 0
    chunk_kind: ChunkKind = "prose"
    locator: Locator = Locator()
    scores: Scores = Scores()
    meta: Metadata
    sub_queries: tuple[str, ...] = ()


class ToolResult(Model):
    """What one (sub-query, tool) call brought; an empty result is a result too.

    Searches over chunks return their arms (`dense`, `lexical`) as ids and scores: the text is
    read once, by RERANK, for those that stay. Other tools return finished evidence. A search
    of which a part failed says so in `degradations` and returns the rest.
    """

    step: int = 0
    sub_query: str = ""
    tool: str
    arms: dict[str, tuple[Hit, ...]] = {}
    evidence: tuple[Evidence, ...] = ()
    note: str = ""
    degradations: tuple[Degradation, ...] = ()

    @property
    def count(self) -> int:
        """How many distinct things were found."""
        return len({hit.chunk_id for hits in self.arms.values() for hit in hits}) + len(
            self.evidence
        )
