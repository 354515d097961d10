"""The YAML block at the head of a Markdown file."""

import re
from collections.abc import Mapping

import yaml

from domain.errors import IngestError

_BLOCK = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"^[A-Za-z_][\w -]*:(?:\s|$)", re.MULTILINE)
_LONGEST = 65_536


def front_matter(text: str, source: str) -> tuple[Mapping[str, object], int]:
    """The fields and where the body begins; ({}, 0) where there is no front matter.

    A block that looks like fields but cannot be read may have meant to narrow access:
    IngestError. Anything else between two rules is content.
    """
    match = _BLOCK.match(text)
    if match is None or match.end(1) > _LONGEST or not _KEY.search(match.group(1)):
        return {}, 0
    try:
        fields = yaml.safe_load(match.group(1))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = str(getattr(error, "problem", "") or error).splitlines()[0]
        raise IngestError(
            f"{source}: the front matter is not valid YAML ({reason}). Correct it or remove it."
        ) from None
    if not isinstance(fields, dict):
        return {}, 0
    return {str(key): value for key, value in fields.items()}, match.end()
