"""Version differences: two documents side by side, section by section, and which is in force."""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from domain.answer import Quote
from domain.evidence import Evidence
from nodes.compose.base import Material, Writer, flat, quotes_of
from nodes.compose.base import quote as quote_text
from nodes.compose.force import IN_FORCE, declaration, force_sentence
from nodes.rules.select import Candidate, context_terms, units_of
from runtime.text.analyzer import content_terms

MOST = 12
_NUMBERING = re.compile(r"^[\s\d.、()（）一二三四五六七八九十]+")
_VERSION_MARK = re.compile(r"[vV]?\d+(?:\.\d+)*(?=\W|$)")


class Side(NamedTuple):
    """One version: the document that holds it, and what was found of it."""

    version: str
    evidence: list[Evidence]

    @property
    def first(self) -> Evidence:
        return self.evidence[0]


class Entry(NamedTuple):
    """A sentence under its heading; the heading is quotable where the text holds it."""

    heading: str
    heading_quote: Quote | None
    candidate: Candidate


def compose_comparison(material: Material, writer: Writer) -> bool:
    """State the differences and which version is in force; False where no pair was found."""
    pair = _pair(material)
    if pair is None:
        return False
    _state_force(material, writer, pair)
    old, new = (_sections(side) for side in pair)
    count = 0
    for heading in dict.fromkeys((*old, *new)):
        if count >= MOST:
            break
        count += _state_difference(writer, pair, old.get(heading, []), new.get(heading, []))
    return bool(count)


def _pair(material: Material) -> tuple[Side, Side] | None:
    versions = material.route.versions[:2]
    sides = [_documents(material, version) for version in versions]
    if len(sides) < 2 or not all(sides):
        return None
    first, second = max(
        ((a, b) for a in sides[0] for b in sides[1] if a.first.source != b.first.source),
        key=lambda pair: _fit(material, *pair),
        default=(None, None),
    )
    return (first, second) if first and second else None


def _documents(material: Material, version: str) -> list[Side]:
    queries = {q.id for q in material.plan.sub_queries if q.slot == f"version:{version}"}
    by_source: dict[str, list[Evidence]] = {}
    for item in material.evidence:
        if queries & set(item.sub_queries) and _is_version(item, version):
            by_source.setdefault(item.source, []).append(item)
    return [
        Side(version, sorted(found, key=lambda e: e.locator.start)) for found in by_source.values()
    ]


def _is_version(item: Evidence, version: str) -> bool:
    stated = item.meta.version.lower().lstrip("v").removesuffix(".0")
    if stated:
        return stated == version.removesuffix(".0")
    return re.search(rf"(?<![\w.])v?{re.escape(version)}(?![\w.]*\d)", item.title, re.I) is not None


def _fit(material: Material, a: Side, b: Side) -> float:
    weights, terms = material.reading.weights, material.reading.terms
    score = 0.0
    for side in (a, b):
        words = set(context_terms(side.first))
        score += 2 * weights.share(terms, words)
        score += weights.share(terms, {t for e in side.evidence for t in content_terms(e.text)})
        score += 0.5 * (side.first.meta.language == material.language)
    names = [set(content_terms(_VERSION_MARK.sub(" ", s.first.title))) for s in (a, b)]
    same = len(names[0] & names[1]) / max(1, len(names[0] | names[1]))
    return score + 2 * same + (a.first.meta.language == b.first.meta.language)


def _sections(side: Side) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    seen: set[int] = set()
    for item in side.evidence:
        heading, quote = (item.locator.heading_path or ("",))[-1], None
        for unit in units_of(item):
            text = item.text[unit.start : unit.end]
            if unit.kind == "heading":
                heading = text
                quote = quote_text(item, unit.start, unit.end).model_copy(
                    update={"role": "context"}
                )
                continue
            position = item.locator.start + unit.start
            if position not in seen and unit.kind != "code":
                seen.add(position)
                entry = Entry(heading, quote, Candidate(item, unit, 1.0))
                found.setdefault(_heading_key(heading), []).append(entry)
    return found


def _heading_key(heading: str) -> str:
    return _VERSION_MARK.sub("", _NUMBERING.sub("", heading)).strip().casefold()


def _masked(text: str, version: str) -> str:
    marked = re.sub(rf"(?<![\w.])[vV]{re.escape(version)}(?![\w.])", "v#", text)
    return re.sub(r"[\W_]+", "", marked.casefold())


def _state_difference(
    writer: Writer, pair: tuple[Side, Side], old: list[Entry], new: list[Entry]
) -> int:
    known_old = {_masked(e.candidate.text, pair[0].version) for e in old}
    known_new = {_masked(e.candidate.text, pair[1].version) for e in new}
    gone = [e for e in old if _masked(e.candidate.text, pair[0].version) not in known_new]
    came = [e for e in new if _masked(e.candidate.text, pair[1].version) not in known_old]
    gone = [e for e in gone if not IN_FORCE.search(e.candidate.text) or e.heading_quote]
    if not gone and not came:
        return 0
    if not old or not new or len(gone) + len(came) > 6:
        gone, came = gone[:2], came[:2]
    parts, quotes = [], []
    for side, entries in ((pair[0], gone), (pair[1], came)):
        if entries:
            said = " ".join(flat(e.candidate.text) for e in entries)
            parts.append(f"v{side.version}: {said}")
            quotes += [q for e in entries for q in quotes_of(e.candidate)]
    heading = next((e for e in (*came, *gone) if e.heading_quote), None)
    lead = ""
    if heading is not None and heading.heading_quote is not None:
        lead = f"{_NUMBERING.sub('', heading.heading).strip()} — "
        quotes.insert(0, heading.heading_quote)
    alone = not any(s.essential for s in writer.statements)
    writer.add(lead + " / ".join(parts), quotes, slot="difference", essential=alone)
    return 1


def _state_force(material: Material, writer: Writer, pair: tuple[Side, Side]) -> None:
    """Which version is in force; where neither is, what the sources say of their ends."""
    current = [side for side in pair if side.first.meta.in_force(material.day)]
    for side in current:
        stated = force_sentence(side.evidence, side.version, side.first.meta.effective_from)
        if stated is not None:
            writer.say(stated, slot="in_force", essential=True)
        elif side.first.meta.effective_from is not None:
            _state_metadata(material, writer, side, side.first.meta.effective_from)
    for side in () if current else pair:
        meta = side.first.meta
        ended = meta.effective_to is not None and meta.effective_to <= material.day
        bound = meta.effective_to if ended else meta.effective_from
        stated = force_sentence(side.evidence, side.version, bound) if bound else None
        if stated is not None:
            writer.say(stated, slot="outdated" if ended else "upcoming", essential=True)


def _state_metadata(material: Material, writer: Writer, side: Side, since: date) -> None:
    """Say the declared date with the words that declare it, or under the document's heading."""
    proof = declaration(side.evidence, side.version, since) or _heading(side.evidence)
    if proof is None:
        return
    text = (
        f"{side.first.title}（v{side.version}）自 {since} 起有效。"
        if material.language == "zh"
        else f"{side.first.title} (v{side.version}) has been in force since {since}."
    )
    writer.add(text, quotes_of(proof), slot="in_force", essential=True)


def _heading(evidence: Sequence[Evidence]) -> Candidate | None:
    """What names the document: a heading or sentence with its title; SAFE_GUARD knows its dates."""
    return next(
        (
            Candidate(item, unit, 1.0)
            for item in evidence
            for unit in units_of(item)
            if item.title and item.title in item.text[unit.start : unit.end]
        ),
        None,
    )
