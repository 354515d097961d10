"""Rows and objects: each is a document of its own (a ticket, an entry of a change log)."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date

from ingest.parsers.base import Parsed, stem

Record = Mapping[str, str]
"""Field name to readable value, in the order of the source."""

_ID = ("id", "key", "number", "编号", "工单号", "单号", "变更单号", "变更编号")
_TITLE = ("title", "summary", "subject", "name", "标题", "主题", "名称", "摘要")
_DATE = (
    *("date", "created", "created_at", "opened", "opened_at", "reported_at", "released_at"),
    *("deployed_at", "time", "timestamp", "日期", "创建时间", "发布时间", "报告时间", "时间"),
)
_ALIASES = {
    "domain": ("domain", "领域"),
    "department": ("department", "team", "部门", "团队"),
    "region": ("region", "地区", "区域"),
    "product": ("product", "产品"),
    "env": ("env", "environment", "环境"),
    "version": ("version", "release", "版本"),
    "author": ("author", "reporter", "作者", "报告人"),
    "language": ("language", "lang", "语言"),
    "doc_type": ("doc_type",),
    "access": ("access", "acl"),
    "approval": ("approval", "status", "状态"),
    "effective_from": ("effective_from", "生效日期", *_DATE),
    "effective_to": ("effective_to", "失效日期"),
}
_APPROVALS = {
    "approved": "approved",
    "draft": "draft",
    "retired": "retired",
    "已批准": "approved",
    "草稿": "draft",
    "已废止": "retired",
}
_DOC_TYPES = {"document", "faq", "policy", "api", "runbook", "ticket", "change"}
_DAY = re.compile(r"\s*(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})(?!\d)")


def records_to_documents(records: Iterable[tuple[int, Record]], source: str) -> tuple[Parsed, ...]:
    """(line number, record) pairs as documents named `file#id`, or `file#line` without an id."""
    numbered = [(line, record) for line, record in records if any(record.values())]
    column = _id_column([record for _, record in numbered])
    seen: Counter[str] = Counter(record.get(column, "") for _, record in numbered)
    return tuple(
        _document(source, record, _name(record.get(column, ""), line, seen), column)
        for line, record in numbered
    )


def _name(identifier: str, line: int, seen: Counter[str]) -> str:
    """The id where it is one: an id that occurs twice would make one record hide another."""
    return identifier if identifier and seen[identifier] == 1 else f"line {line}"


def _id_column(records: list[Record]) -> str:
    columns = dict.fromkeys(key for record in records for key in record)
    by_name = {_normal(column): column for column in reversed(columns)}
    for name in _ID:
        if name in by_name:
            return by_name[name]
    return next((c for c in columns if re.search(r"(^|[ _-])(id|key|no)$", _normal(c))), "")


def _document(source: str, record: Record, name: str, id_column: str) -> Parsed:
    lines = [f"{field}: {value}" for field, value in record.items() if value]
    heading = next((record[c] for c in record if _normal(c) in _TITLE and record[c]), "")
    identifier = record.get(id_column, "")
    title = " ".join(f"{identifier} {heading}".split()) or f"{stem(source)} {name}"
    return Parsed(
        source=f"{source}#{name}",
        title=title[:200],
        text="\n".join(lines) + "\n",
        fields=_claims(record),
        markup=False,
        record=True,
    )


def _claims(record: Record) -> dict[str, object]:
    """The columns that are plainly metadata.

    A column that only resembles a field (a status that is no approval, a date nobody can
    read) stays text. `tenant` and `authority` are content here: a table about merchants may
    have either, and the declaration alone decides them.
    """
    by_name = {_normal(column): value for column, value in record.items() if value}
    claims: dict[str, object] = {}
    for field, names in _ALIASES.items():
        for name in names:
            value = _typed(field, by_name.get(name, ""), strict=name == field)
            if value and field not in claims:
                claims[field] = value
    return claims


def _typed(field: str, value: str, *, strict: bool) -> object:
    if field in ("effective_from", "effective_to"):
        return day_of(value) or (value if strict else "")
    if field == "approval":
        return _APPROVALS.get(value.strip().lower(), value if strict else "")
    if field == "access":
        return [tag for tag in re.split(r"[,;，；、\s]+", value) if tag]
    if field == "doc_type":
        return value.lower() if value.lower() in _DOC_TYPES else ""
    return value if len(value) <= 100 and "\n" not in value else ""


def day_of(value: str) -> date | None:
    """The day at the start of a date or time in the usual notations; None where there is none."""
    match = _DAY.match(value)
    if match is None:
        return None
    try:
        return date(*(int(part) for part in match.groups()))
    except ValueError:
        return None


def _normal(column: str) -> str:
    return re.sub(r"[\s-]+", "_", column.strip().lower())
