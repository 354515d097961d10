"""Ids: deterministic for knowledge, injected randomness for runs."""

import hashlib
import uuid
from collections.abc import Callable

NewId = Callable[[], str]
"""Makes a fresh run id."""


def random_id() -> str:
    """A run id that nobody can guess."""
    return uuid.uuid4().hex


def stable_id(prefix: str, *parts: object) -> str:
    """The same parts give the same id on every machine, e.g. `stable_id("c", doc, 3)`."""
    body = "\x1f".join(str(part) for part in parts)
    return f"{prefix}_{hashlib.sha256(body.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"
