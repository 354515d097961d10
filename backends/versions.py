"""Knowledge versions as directories: what is complete, what is current, what may go."""

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from backends.holder import lock
from backends.sparse import copy_tree
from domain.base import Model
from domain.errors import KnowledgeError

PARTS = ("catalog.sqlite", "dense", "lexical", "entities", "relational")
MANIFEST = "manifest.json"
WAY_OUT = "Load the documents again with `agentic-rag ingest PATH --rebuild`."
_SYNC_THREADS = 8
_SPARE_BYTES = 64 * 1024 * 1024
_NAME = re.compile(r"[0-9]{8}T[0-9]{12}Z-[0-9a-z]{1,32}")


class Manifest(Model):
    """What a version says about itself; it is written last, so without it there is none."""

    version: str
    created: datetime
    fingerprint: str
    dimension: int
    documents: int
    chunks: int


class Versions:
    """The directories under DATA_DIR. Everything here blocks: call it from a thread."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self._root = data_dir / "versions"

    def directory(self, version: str) -> Path:
        """Where a complete version lies."""
        return self._root / version

    def draft_directory(self, version: str) -> Path:
        """Where a version lies while it is being written."""
        return self._root / f".{version}.partial"

    def pointer(self, name: str) -> str | None:
        """The version that CURRENT or DRAFT names; None where there is no such file.

        Raises KnowledgeError where the file holds anything but a version.
        """
        path = self.data_dir / name
        try:
            version = path.read_text("utf-8", "replace").strip()
        except FileNotFoundError:
            return None
        if not _NAME.fullmatch(version):
            raise KnowledgeError(f"{path} is damaged: it names no version. {WAY_OUT}")
        return version

    def point(self, name: str, version: str) -> None:
        """Make CURRENT or DRAFT name a version; either the old or the new one after a crash."""
        fresh = self.data_dir / f".{name}.new"
        fresh.write_text(version + "\n", "utf-8")
        _fsync(fresh)
        os.replace(fresh, self.data_dir / name)
        _fsync(self.data_dir)

    def manifest(self, version: str) -> Manifest:
        """Raises KnowledgeError naming the directory where it is missing or garbage."""
        directory = self.directory(version)
        try:
            manifest = Manifest.model_validate_json((directory / MANIFEST).read_bytes())
        except (OSError, ValidationError) as error:
            raise damaged(directory, f"{MANIFEST} cannot be read") from error
        if manifest.version != version:
            raise damaged(directory, f"{MANIFEST} belongs to {manifest.version}")
        if missing := [part for part in PARTS if not (directory / part).exists()]:
            raise damaged(directory, f"{', '.join(missing)} missing")
        return manifest

    def begin(self, version: str, base: str | None) -> Path:
        """A directory for a draft: a copy of `base`, or empty."""
        draft = self.draft_directory(version)
        draft.mkdir(parents=True)
        self.must_have_room(base)
        if base is not None:
            copy_tree(self.directory(base), draft)
            (draft / MANIFEST).unlink()
        for part in PARTS[1:]:
            (draft / part).mkdir(exist_ok=True)
        return draft

    def must_have_room(self, copied: str | None = None) -> None:
        """Raises OSError (ENOSPC) where the disk is too full to open or to copy a version.

        Asked first, because a store that finds no room while it writes to mapped memory is
        killed by the system, and even opening one to read writes a little.
        """
        files = self.directory(copied).rglob("*") if copied else ()
        needed = _SPARE_BYTES + sum(path.stat().st_blocks * 512 for path in files)
        if shutil.disk_usage(self._root).free < needed:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._root))

    def complete(self, manifest: Manifest) -> None:
        """Turn a closed draft into a version: all its bytes are on the disk before its name."""
        draft = self.draft_directory(manifest.version)
        (draft / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", "utf-8")
        with ThreadPoolExecutor(_SYNC_THREADS) as pool:
            list(pool.map(_fsync, [draft, *draft.rglob("*")]))
        os.replace(draft, self.directory(manifest.version))
        _fsync(self._root)

    def drop_draft(self, version: str) -> None:
        """Remove an unfinished draft."""
        _remove(self.draft_directory(version))

    def drop_drafts(self) -> None:
        """Remove what crashed drafts left; only for who holds the lock on drafting."""
        for directory in self._root.glob(".*.partial"):
            _remove(directory)

    def prune(self, keep: set[str | None]) -> None:
        """Remove the versions that are neither kept nor open in some process."""
        for directory in self._root.glob("[!.]*"):
            if directory.name not in keep and _unused(directory):
                _remove(directory)

    def use(self, version: str) -> int:
        """Mark a version as open, so that `prune` leaves it; close the descriptor when done."""
        fd = os.open(self.directory(version) / MANIFEST, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(fd, fcntl.LOCK_SH)
        return fd


def damaged(directory: Path, reason: str) -> KnowledgeError:
    """The error for a version that cannot be opened."""
    return KnowledgeError(f"the knowledge in {directory} is damaged: {reason}. {WAY_OUT}")


@contextmanager
def explain_full_disk(directory: Path, current: str | None) -> Iterator[None]:
    """Turn "no space left", however a store says it, into a KnowledgeError with the way out."""
    try:
        yield
    except Exception as error:
        if isinstance(error, KnowledgeError) or not is_full_disk(error):
            raise
        safe = f"the published version {current} is untouched" if current else "nothing was there"
        raise KnowledgeError(
            f"the disk that holds {directory} is full; {safe}. Free some space (at least "
            f"{_SPARE_BYTES >> 20} MiB) or set DATA_DIR to a folder on another disk, then run "
            "the same command again."
        ) from error


def is_full_disk(error: BaseException | None) -> bool:
    """Whether an error, or what caused it, says that no space is left."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        text = str(error).lower()
        if "no space left" in text or "disk is full" in text or "os error 28" in text:
            return True
        error = error.__cause__ or error.__context__
    return False


def _unused(directory: Path) -> bool:
    try:
        fd = os.open(directory / MANIFEST, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        return lock(fd, fcntl.LOCK_EX)
    finally:
        os.close(fd)


def _remove(directory: Path) -> None:
    if directory.is_dir():
        shutil.rmtree(directory)


def _fsync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
