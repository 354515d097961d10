"""The metadata of a document: the declaration decides, the rest fills in or narrows."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import get_args

from domain.errors import IngestError
from domain.identity import EVERYONE
from domain.knowledge import Approval, DocType, Metadata
from ingest.declaration import SourceDeclaration, SourceOptions

_WORDS = ("domain", "department", "region", "product", "env", "version", "author")
_DAYS = ("effective_from", "effective_to")
_LONGEST = 200
_GLOB = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_AS_REGEX = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def declared(source: SourceDeclaration | SourceOptions, tenant: str, relative: str) -> Metadata:
    """What the declaration and its folder rules say about the file at `relative`.

    Raises IngestError where a rule would widen access or raise authority.
    """
    stated = source.model_dump(exclude_none=True, include=set(Metadata.model_fields) - {"tenant"})
    meta = Metadata.model_validate({**stated, "tenant": tenant})
    rules = source.folders if isinstance(source, SourceDeclaration) else ()
    for rule in rules:
        if matches(rule.match, relative):
            claims = rule.set.model_dump(exclude_none=True)
            meta = narrowed(meta, claims, f"{relative}: the folder rule {rule.match!r}")
    return meta


def narrowed(meta: Metadata, claims: Mapping[str, object], who: str) -> Metadata:
    """`meta` with what a document says about itself; keys that are no metadata are ignored.

    Raises IngestError, which begins with `who`, for a claim to another tenant, wider access,
    higher authority or approval, and for values that cannot be read.
    """
    found = {str(k).strip().lower().replace("-", "_"): v for k, v in claims.items()}
    update: dict[str, object] = {}
    for key, value in found.items():
        if key not in Metadata.model_fields or value is None or value == "":
            continue
        update[key] = _value(meta, key, value, who)
    update.pop("tenant", None)
    result = meta.model_copy(update=update)
    start, end = result.effective_from, result.effective_to
    if start is not None and end is not None and end < start:
        raise IngestError(f"{who} ends ({end}) before it takes effect ({start}).")
    return result


def matches(glob: str, relative: str) -> bool:
    """Whether a path below the source matches; `**` spans folders, `*` does not."""
    pattern = "".join(_AS_REGEX.get(part) or re.escape(part) for part in _GLOB.findall(glob))
    return re.fullmatch(pattern, relative) is not None


def _value(meta: Metadata, key: str, value: object, who: str) -> object:
    if key in _WORDS:
        return _word(key, value, who)
    if key in _DAYS:
        return _day(key, value, who)
    if key == "language":
        return re.split(r"[-_]", _word(key, value, who).lower())[0]
    if key == "doc_type":
        return _choice(key, value, get_args(DocType), who)
    if key == "approval":
        return _approval(meta, value, who)
    if key == "access":
        return _access(meta.access, value, who)
    return _authority(meta, value, who) if key == "authority" else _tenant(meta, value, who)


def _word(key: str, value: object, who: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float | date):
        raise IngestError(f"{who} gives {key} as {type(value).__name__}; write one word or number.")
    word = " ".join(str(value).split())
    if len(word) > _LONGEST:
        raise IngestError(f"{who} gives {key} with {len(word)} characters, at most {_LONGEST}.")
    return word


def _day(key: str, value: object, who: str) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value).strip())
    except ValueError:
        raise IngestError(f"{who} gives {key} as {value!r}; write a date as 2026-12-31.") from None


def _choice(key: str, value: object, known: tuple[str, ...], who: str) -> str:
    choice = str(value).strip().lower()
    if choice not in known:
        raise IngestError(f"{who} gives {key} as {value!r}; known are {', '.join(known)}.")
    return choice


def _approval(meta: Metadata, value: object, who: str) -> str:
    choice = _choice("approval", value, get_args(Approval), who)
    if choice == "approved" and meta.approval != "approved":
        raise IngestError(f"{who} claims to be approved; its source is declared {meta.approval}.")
    return choice


def _access(allowed: tuple[str, ...], value: object, who: str) -> tuple[str, ...]:
    """A subset of the allowed tags; where everyone may read, any tags narrow."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or not all(isinstance(tag, str | int) for tag in given):
        raise IngestError(f"{who} gives access as {value!r}; write a list of tags.")
    tags = tuple(sorted({str(tag).strip() for tag in given} - {""}))
    wider = [tag for tag in tags if tag not in allowed] if EVERYONE not in allowed else []
    if not tags or wider:
        reason = f"would widen access to {', '.join(wider)}" if wider else "names no access tag"
        raise IngestError(f"{who} {reason}; its source is declared for {', '.join(allowed)}.")
    return tags


def _authority(meta: Metadata, value: object, who: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 100:
        raise IngestError(f"{who} gives authority as {value!r}; write a number from 0 to 100.")
    if value > meta.authority:
        raise IngestError(
            f"{who} claims authority {value}; its source is declared with {meta.authority}."
        )
    return value


def _tenant(meta: Metadata, value: object, who: str) -> str:
    if str(value).strip() != meta.tenant:
        raise IngestError(f"{who} claims the tenant {value!r}; its source belongs to another one.")
    return meta.tenant
