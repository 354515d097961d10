"""From paths to sources and files, in a fixed order."""

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from domain.errors import ConfigurationError, IngestError, InputError
from ingest.declaration import FILE_NAME, SourceDeclaration, SourceOptions, read_declaration
from ingest.parsers import PARSERS


@dataclass(frozen=True, slots=True)
class Source:
    """A declared root. `given` is its path as the caller or the declaration wrote it; what
    else the declaration names is relative to `base`."""

    tenant: str
    base: Path
    root: Path
    given: PurePath
    collection: str
    declaration: SourceDeclaration | SourceOptions

    @property
    def kind(self) -> str:
        declaration = self.declaration
        return declaration.kind if isinstance(declaration, SourceDeclaration) else "documents"


@dataclass(frozen=True, slots=True)
class File:
    """A file of a source; `relative` is its place below the root."""

    path: Path
    source: str
    relative: str


def find_sources(
    paths: Sequence[Path], options: SourceOptions | None, default_tenant: str
) -> list[Source]:
    """The sources behind the paths.

    A `sources.yaml`, given or lying in a given folder, declares them; elsewhere the options
    do. Raises InputError for a path that is not there, ConfigurationError for a declaration
    that cannot be used or that the options contradict.
    """
    if not paths:
        raise InputError("there is nothing to load: name a file or folder.")
    found: dict[str, Source] = {}
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist.")
        declared = path if path.name == FILE_NAME else path / FILE_NAME
        if declared.is_file():
            _must_agree(options, declared)
            sources = list(_declared(declared))
        else:
            sources = [_undeclared(path, options or SourceOptions(), default_tenant)]
        found.update((source.collection, source) for source in sources)
    return list(found.values())


def find_files(source: Source) -> tuple[list[File], list[str]]:
    """The files to load by name, and the names of those whose format is not read.

    Hidden files and folders are skipped. Raises ConfigurationError where a folder below
    brings a declaration of its own: what it protects must not be loaded without it.
    """
    if source.root.is_file():
        return [File(source.root, source.given.as_posix(), source.root.name)], []
    files: list[File] = []
    skipped: list[str] = []
    for path in _entries(source.root):
        relative = path.relative_to(source.root)
        if path.name == FILE_NAME:
            raise ConfigurationError(f"{path} declares its own folder: load that one by itself.")
        name = (source.given / relative).as_posix()
        if path.suffix.lower() in PARSERS or path.is_dir():
            files.append(File(path, name, relative.as_posix()))
        else:
            skipped.append(name)
    return files, skipped


def read_file(file: File, root: Path, max_mb: int) -> bytes:
    """The bytes of a file; IngestError where it is too large, outside, gone or no file."""
    try:
        inside = root if root.is_dir() else root.parent
        if not file.path.resolve(strict=True).is_relative_to(inside.resolve()):
            raise IngestError(f"{file.source}: the link points outside the folder that is loaded.")
        if not stat.S_ISREG(file.path.stat().st_mode):
            raise IngestError(f"{file.source}: this is no regular file.")
        limit = max_mb * 2**20
        with file.path.open("rb") as stream:
            raw = stream.read(limit + 1)
    except FileNotFoundError:
        raise IngestError(
            f"{file.source}: the file is not there, or vanished while it was being loaded."
        ) from None
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IngestError(f"{file.source}: the file cannot be read ({reason}).") from None
    if len(raw) > limit:
        raise IngestError(
            f"{file.source}: the file is larger than {max_mb} MB. Split it or raise MAX_FILE_MB."
        )
    return raw


def _declared(path: Path) -> Iterator[Source]:
    declaration = read_declaration(path)
    for source in declaration.sources:
        root = path.parent / source.path
        if not root.exists():
            raise InputError(f"{path}: the path {source.path} of {source.name!r} does not exist.")
        collection = f"{declaration.tenant}:{source.name}"
        yield Source(
            declaration.tenant, path.parent, root, PurePath(source.path), collection, source
        )


def _undeclared(path: Path, options: SourceOptions, default_tenant: str) -> Source:
    tenant = options.tenant or default_tenant
    return Source(tenant, path.parent, path, path, f"{tenant}:{path.resolve().as_posix()}", options)


def _must_agree(options: SourceOptions | None, declared: Path) -> None:
    given = options.model_dump(exclude_defaults=True) if options else {}
    if given:
        raise ConfigurationError(
            f"{declared} declares its sources, so {', '.join(sorted(given))} cannot be given as "
            "an option. Change the declaration."
        )


def _entries(root: Path) -> list[Path]:
    try:
        return list(_walk(root, root.resolve()))
    except OSError as error:
        raise InputError(f"{error.filename or root} cannot be listed: {error.strerror}.") from None


def _walk(folder: Path, root: Path) -> Iterator[Path]:
    """Files below a folder, sorted, and links to folders that lie outside of it.

    Links to folders inside are left out: their files are found where they are, and no
    circle is walked.
    """
    for path in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path, root)
        elif not path.is_dir() or not path.resolve().is_relative_to(root):
            yield path
