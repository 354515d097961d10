"""Copying files that are mostly holes.

A vector store allocates hundreds of megabytes ahead and fills few of them. A plain copy would
write every zero, each time that a version is drafted.
"""

import errno
import os
import shutil
from pathlib import Path

_STEP = 8 * 1024 * 1024


def copy_tree(source: Path, target: Path) -> None:
    """Copy a directory with all that is in it; holes stay holes."""
    shutil.copytree(source, target, copy_function=copy_file, dirs_exist_ok=True)


def copy_file(source: str, target: str) -> str:
    """Copy one file's bytes, writing only where the source holds data."""
    with open(source, "rb") as reader, open(target, "wb") as writer:
        size = os.fstat(reader.fileno()).st_size
        writer.truncate(size)
        position = 0
        while (start := _data_from(reader.fileno(), position)) is not None:
            position = min(os.lseek(reader.fileno(), start, os.SEEK_HOLE), size)
            _copy_range(reader.fileno(), writer.fileno(), start, position)
    return target


def _data_from(fd: int, position: int) -> int | None:
    try:
        return os.lseek(fd, position, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:  # only a hole is left
            return None
        raise


def _copy_range(reader: int, writer: int, start: int, end: int) -> None:
    while start < end:
        piece = os.pread(reader, min(_STEP, end - start), start)
        if not piece:
            return
        start += os.pwrite(writer, piece, start)
