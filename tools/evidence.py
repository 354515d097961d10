"""Turns what the stores return into Evidence: verbatim text with an opaque id and a way back."""

import json

from backends.relational.base import Rows, Template
from domain.evidence import Evidence, Locator, Scores
from domain.knowledge import Metadata, Relation, Window
from runtime.ids import stable_id

NEIGHBOURS = 3
"""Chunks each side, within the section, that are read with a found one."""


def from_window(window: Window, *, tool: str, scores: Scores) -> Evidence:
    """A found chunk with its neighbourhood."""
    chunk = window.chunk
    ref = f"chunk:{chunk.id}"
    return Evidence(
        id=stable_id("e", ref, window.text),
        kind="chunk",
        ref=ref,
        tool=tool,
        source=chunk.source,
        title=chunk.title,
        text=window.text,
        found_start=chunk.start - window.start,
        found_end=chunk.end - window.start,
        chunk_kind=chunk.kind,
        locator=Locator(
            heading_path=chunk.heading_path, page=chunk.page, start=window.start, end=window.end
        ),
        scores=scores,
        meta=chunk.meta,
    )


def from_rows(rows: Rows, template: Template, *, tenant: str, language: str) -> Evidence | None:
    """A query's result as sentences, one a row; None where no row came back."""
    if not rows.rows:
        return None
    text = render_rows(rows, template, language)
    ref = "rows:" + json.dumps(
        {"template": rows.template, "parameters": rows.parameters, "language": language},
        sort_keys=True,
        ensure_ascii=False,
    )
    return Evidence(
        id=stable_id("e", ref, text),
        kind="rows",
        ref=ref,
        tool="sql_lookup",
        source=f"sql:{rows.template}",
        title=template.description.get(language) or rows.template,
        text=text,
        found_end=len(text),
        chunk_kind="record",
        locator=Locator(end=len(text)),
        scores=Scores(fused=1.0, final=1.0),
        meta=Metadata(tenant=tenant, access=template.access, authority=90, language=language),
    )


def render_rows(rows: Rows, template: Template, language: str) -> str:
    """One line a row, by the template's sentence for that language or as `column: value`."""
    pattern = template.summary.get(language) or next(iter(template.summary.values()), "")
    lines = []
    for row in rows.rows:
        values = {name: "-" if v is None else v for name, v in zip(rows.columns, row, strict=True)}
        if pattern:
            lines.append(pattern.format_map({**rows.parameters, **values}))
        else:
            lines.append("; ".join(f"{name}: {value}" for name, value in values.items()))
    if rows.truncated:
        lines.append("……（更多行未列出）" if language == "zh" else "... (more rows not shown)")
    return "\n".join(lines)


def from_relation(relation: Relation, *, tenant: str) -> Evidence:
    """One edge with its provenance; the text is the edge followed by its source's words."""
    text = render_relation(relation)
    ref = f"relations:{relation.id}"
    return Evidence(
        id=stable_id("e", ref, text),
        kind="relations",
        ref=ref,
        tool="graph_search",
        source=relation.source,
        title=f"{relation.start_name} → {relation.end_name}",
        text=text,
        found_end=len(text),
        chunk_kind="record",
        locator=Locator(end=len(text)),
        scores=Scores(fused=0.5, final=0.5),
        meta=Metadata(
            tenant=tenant,
            access=relation.access,
            authority=80,
            effective_from=relation.effective_from,
        ),
    )


def render_relation(relation: Relation) -> str:
    """`start (type) —type→ end (type)`, then the sentence of the source that states it."""
    start = f"{relation.start_name} ({_plain(relation.start_type)})"
    end = f"{relation.end_name} ({_plain(relation.end_type)})"
    edge = f"{start} —{_plain(relation.type)}→ {end}"
    return f"{edge}\n{relation.quote}" if relation.quote else edge


def _plain(name: str) -> str:
    return name.replace("_", " ").lower()
