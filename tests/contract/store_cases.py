"""Chunks, scopes and filters for the contract of the two search stores."""

import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any, get_args

from hypothesis import strategies as st

from domain.identity import Filter, FilterField, Scope
from domain.knowledge import Chunk, Metadata

WORDS = ("", "a", "b", "支付", "é", 'x" AND (', "\u202eright", "nul\0nul")
DAYS = tuple(date(2025, 12, 30) + timedelta(days=n) for n in range(5))
TAGS = ("everyone", "ops", "财务", "")
TENANTS = ("t1", "t2", "租户")
TEXT = "refund gateway 退款 网关"

words = st.sampled_from(WORDS)
days = st.sampled_from(DAYS)
tags = st.lists(st.sampled_from(TAGS), max_size=3, unique=True).map(tuple)
tenants = st.sampled_from(TENANTS)

metadata = st.builds(
    Metadata,
    tenant=tenants,
    domain=words,
    region=words,
    product=words,
    doc_type=st.sampled_from(["document", "faq", "policy"]),
    env=words,
    version=words,
    effective_from=st.none() | days,
    effective_to=st.none() | days,
    approval=st.sampled_from(["approved", "approved", "draft", "retired"]),
    authority=st.integers(0, 4),
    author=words,
    language=st.sampled_from(["", "zh", "en"]),
    access=tags,
)
ids = st.text(st.characters(codec="utf-8"), max_size=8)
operand: Any = (
    words
    | days
    | days.map(date.isoformat)
    | st.integers(-1, 5)
    | st.sampled_from(["document", "zh", "3", 10**30, -(10**30)])
)
filters = st.builds(
    Filter,
    field=st.sampled_from(get_args(FilterField)),
    op=st.sampled_from(["eq", "ne", "in", "gte", "lte"]),
    value=operand | st.lists(words | days.map(date.isoformat), max_size=3).map(tuple),
)
scopes = st.builds(
    Scope,
    tenant=tenants,
    access=tags,
    filters=st.lists(filters, max_size=3).map(tuple),
    as_of=st.none() | days,
)


def chunk(id: str, meta: Metadata | None = None, *, text: str = TEXT, **more: Any) -> Chunk:
    """A chunk that stands alone."""
    base = {"document_id": "d", "source": "s", "title": "", "ordinal": 0, "section": "d"}
    return Chunk(
        **{**base, **more}, id=id, text=text, start=0, end=len(text), meta=meta or of_tenant("t1")
    )


def of_tenant(tenant: str, **more: Any) -> Metadata:
    """Metadata that everyone of the tenant may see."""
    return Metadata(tenant=tenant, **more)


ANYONE = Scope(tenant="t1", access=("everyone",))

chunks = st.lists(
    st.builds(chunk, ids, metadata, source=words), max_size=12, unique_by=lambda each: each.id
)


def varied() -> list[Chunk]:
    """Visible chunks that differ in every field, stated and not."""
    return [
        chunk(
            f"v{n}",
            of_tenant(
                "t1",
                **dict.fromkeys(
                    ("domain", "department", "region", "product", "env", "version", "author"), word
                ),
                language=("", "zh", "en")[n % 3],
                doc_type=("document", "faq", "policy")[n % 3],
                authority=n,
                effective_from=(None, *DAYS)[n % 6],
                effective_to=(*DAYS, None)[n % 6],
            ),
            source=word,
        )
        for n, word in enumerate(WORDS)
    ]


def narrow_scopes() -> list[Scope]:
    """Each field with each operator and every kind of value, and each day as the present."""
    values = ("", "a", "zh", "faq", *WORDS[4:], 3, "3", 10**30, -(10**30), *DAYS, "2026-01-01")
    sets = ((), ("",), ("", "a"), ("支付", "é"), ("zh", "en"), ("2026-01-01", "x"), ("3", "4"))
    days = tuple(day.isoformat() for day in DAYS[:2])
    return [
        *(ANYONE.model_copy(update={"as_of": day}) for day in DAYS),
        *(
            ANYONE.narrowed((Filter(field=field, op=op, value=value),))
            for field in get_args(FilterField)
            for op in ("eq", "ne", "in", "gte", "lte")
            for value in (*values, *sets, days)
        ),
    ]


def another_process(script: str) -> subprocess.CompletedProcess[str]:
    """Run Python code beside this process, with the project in reach."""
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
