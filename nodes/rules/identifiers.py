"""Exact tokens of a question: versions, codes, paths, keys, quoted phrases."""

import re
from collections.abc import Sequence

_VERSION = re.compile(
    r"(?<![\w.])[vV]\s?(\d+(?:\.\d+){0,3})(?![\w.]*\w)|"
    r"\b(?:version|release)\s+(\d+(?:\.\d+){0,3})\b|"
    r"(?<![\w.])(\d+\.\d+(?:\.\d+){1,2})(?![\w.]*\w)|"
    r"第?\s?(\d+(?:\.\d+){0,3}|[一二三四五])\s?版(?!本号)|版本\s?(\d+(?:\.\d+){0,3})",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?<![\w/.-])(?:[A-Z][A-Z0-9]*[-_]?\d[\w-]*|/[\w{}.-]+(?:/[\w{}.-]+)+|"
    r"[a-z]\w*(?:[._][a-z]\w*){1,}|[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)(?![\w-])"
)
_QUOTED = re.compile(r"[\"“”「『`]([^\"“”」』`]{2,80})[\"“”」』`]")
_CHINESE_ORDINALS = {"一": "1", "二": "2", "三": "3", "四": "4", "五": "5"}


def versions(question: str) -> tuple[str, ...]:
    """The versions named, as plain numbers in order: "v1 and version 2.0" gives 1, 2.0."""
    found = []
    for match in _VERSION.finditer(question):
        value = next(group for group in match.groups() if group)
        found.append(_CHINESE_ORDINALS.get(value, value))
    return tuple(dict.fromkeys(found))


def version_values(version: str) -> tuple[str, ...]:
    """The spellings of a version in metadata: "1" is stored as "1", "v1", "V1" or "1.0"."""
    spellings = [version, f"v{version}", f"V{version}"]
    if "." not in version:
        spellings += [f"{version}.0", f"v{version}.0"]
    elif version.endswith(".0") and version.count(".") == 1:
        spellings += [version[:-2], f"v{version[:-2]}"]
    return tuple(spellings)


def spellings_of(versions: Sequence[str]) -> frozenset[str]:
    """All spellings of several versions."""
    return frozenset(value for version in versions for value in version_values(version))


def identifiers(question: str) -> tuple[str, ...]:
    """Codes, paths, configuration keys and quoted phrases, in order; versions are none."""
    found = [match.group() for match in _CODE.finditer(question)]
    found += [match.group(1).strip() for match in _QUOTED.finditer(question)]
    return tuple(dict.fromkeys(f for f in found if not _VERSION.fullmatch(f)))
