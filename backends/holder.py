"""Who holds the embedded stores: a locked file that says so.

The lock belongs to the operating system, so a process that dies gives it back; what the
file says is only for people and for the command line, which forwards to a running server.
"""

import asyncio
import errno
import fcntl
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from domain.errors import KnowledgeError, StoreBusy
from runtime.threads import in_thread

_ATTEMPTS = 10
_PAUSE_S = 0.02


@dataclass(frozen=True)
class Holder:
    """The process that has the stores open; `url` is where it answers, if it does."""

    pid: int
    name: str
    url: str = ""

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid}{f', {self.url}' if self.url else ''})"


class LockFile:
    """An exclusive lock on a file that names its owner."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    async def acquire(self, owner: Holder, way_out: str) -> None:
        """Take the lock, or raise StoreBusy naming who has it and `way_out`.

        A few short attempts: whoever merely looked at the lock, or is just going, is gone by
        then.
        """
        for attempt in range(_ATTEMPTS):
            try:
                if await in_thread(self._take, owner):
                    return
            except asyncio.CancelledError:
                self.release()
                raise
            if attempt + 1 < _ATTEMPTS:
                await asyncio.sleep(_PAUSE_S)
        other = await asyncio.to_thread(_read, self._path)
        raise StoreBusy(f"{self._path.parent} is in use by {other or 'another process'}. {way_out}")

    def release(self) -> None:
        """Give the lock back; does nothing where it is not held."""
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    def owner(self) -> Holder | None:
        """Who holds the lock now; None for a free one and for what a dead process left."""
        said = _read(self._path)
        if said is None:
            return None
        try:
            fd = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            free = lock(fd, fcntl.LOCK_SH)
        finally:
            os.close(fd)
        return None if free else said

    def _take(self, owner: Holder) -> bool:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise
            raise KnowledgeError(
                f"{self._path} cannot be written: {error.strerror}. Set DATA_DIR to a folder "
                "that this user may write."
            ) from error
        if not lock(fd, fcntl.LOCK_EX):
            os.close(fd)
            return False
        self._fd = fd
        os.ftruncate(fd, 0)
        with suppress(OSError):  # on a full disk the lock holds, only the note is missing
            os.pwrite(fd, json.dumps(asdict(owner)).encode(), 0)
        return True


def lock(fd: int, kind: int) -> bool:
    """Lock an open file without waiting; whether it worked."""
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(path: Path) -> Holder | None:
    try:
        said = json.loads(path.read_bytes())
        return Holder(int(said["pid"]), str(said["name"]), str(said["url"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
