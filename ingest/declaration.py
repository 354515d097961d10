"""`sources.yaml`: what is loaded, for whom, and with what weight."""

from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml
from pydantic import Field, ValidationError

from domain.base import Model
from domain.errors import ConfigurationError
from domain.identity import EVERYONE
from domain.knowledge import Approval, DocType

FILE_NAME = "sources.yaml"
_LONGEST = 4 * 1024 * 1024

M = TypeVar("M", bound=Model)
Tags = tuple[str, ...]


class Stated(Model):
    """What a declaration or a folder rule may say about its documents; None says nothing."""

    domain: str | None = None
    department: str | None = None
    region: str | None = None
    product: str | None = None
    env: str | None = None
    version: str | None = None
    author: str | None = None
    language: str | None = None
    approval: Approval | None = None
    effective_from: date | None = None
    effective_to: date | None = None


class RuleFields(Stated):
    """What a folder rule sets; `access` and `authority` may only narrow the source's."""

    doc_type: DocType | None = None
    access: Tags | None = None
    authority: int | None = Field(default=None, ge=0, le=100)


class FolderRule(Model):
    """Metadata for the files below the source's path that match a glob (`zh/**`)."""

    match: str = Field(min_length=1)
    set: RuleFields


class SourceOptions(Stated):
    """What the command's options declare about a path without a `sources.yaml`."""

    tenant: str = Field(default="", max_length=64)
    doc_type: DocType = "document"
    access: Tags = Field(default=(EVERYONE,), min_length=1)
    authority: int = Field(default=50, ge=0, le=100)


class SourceDeclaration(Stated):
    """One source. `name` identifies it within its tenant over all loads; `path` is relative
    to the declaration's file."""

    name: str = Field(min_length=1, max_length=100)
    path: str = Field(min_length=1)
    kind: Literal["documents", "entities", "relational"] = "documents"
    doc_type: DocType = "document"
    access: Tags = Field(default=(EVERYONE,), min_length=1)
    authority: int = Field(default=50, ge=0, le=100)
    folders: tuple[FolderRule, ...] = ()
    templates: str = ""


class Declaration(Model):
    """A whole `sources.yaml`."""

    tenant: str = Field(min_length=1, max_length=64)
    sources: tuple[SourceDeclaration, ...] = Field(min_length=1)


def read_declaration(path: Path) -> Declaration:
    """Raises ConfigurationError naming the file and each key that is wrong."""
    declaration = validated(Declaration, read_yaml(path), path)
    names = [source.name for source in declaration.sources]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigurationError(f"{path}: the name {twice[0]!r} stands for two sources.")
    if sum(source.kind == "relational" for source in declaration.sources) > 1:
        raise ConfigurationError(f"{path}: a tenant has one relational source; join the scripts.")
    return declaration


def read_yaml(path: Path) -> Any:
    """Raises ConfigurationError where the file cannot be read or is not YAML."""
    try:
        raw = path.read_bytes()
        if len(raw) > _LONGEST:
            raise ConfigurationError(f"{path}: more than {_LONGEST // 2**20} MB of YAML.")
        return yaml.safe_load(raw.decode("utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path} is not UTF-8. Save it as UTF-8.") from None
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or type(error).__name__
        raise ConfigurationError(f"{path} is not valid YAML{where}: {problem}.") from None


def validated(model: type[M], data: object, path: Path) -> M:
    """The model, or a ConfigurationError with the place of each fault."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        faults = "; ".join(
            _fault(item["loc"], item["type"], item["msg"]) for item in error.errors()
        )
        raise ConfigurationError(f"{path}: {faults}.") from None


def _fault(location: tuple[int | str, ...], kind: str, message: str) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    if kind == "extra_forbidden":
        return f"the key `{where.lstrip('.')}` is not known"
    return f"`{where.lstrip('.') or 'the file'}`: {message}"
