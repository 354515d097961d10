"""The arrows between the rooms, and that no dependency brings a package of the same name."""

from importlib.metadata import distributions
from pathlib import Path, PurePosixPath

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from tests.unit.test_project import ROOMS, ROOT

OURS = "agentic-rag"


def test_the_arrows_point_one_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(config_filename="pyproject.toml", no_cache=True) == EXIT_STATUS_SUCCESS


def test_no_dependency_ships_a_package_of_our_names() -> None:
    taken = {
        f"{distribution.name}: {top}"
        for distribution in distributions()
        if distribution.name != OURS
        for top in {_top(file) for file in distribution.files or ()}
        if top in ROOMS
    }
    assert taken == set()


def test_the_rooms_are_imported_from_this_checkout() -> None:
    for room in ROOMS:
        module = __import__(room)
        assert Path(str(module.__file__)).is_relative_to(ROOT), room


def _top(file: PurePosixPath) -> str:
    """The top-level module a file belongs to; scripts and data lie outside, under `..`."""
    return file.parts[0].removesuffix(".py")
