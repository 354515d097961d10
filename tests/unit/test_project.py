"""The project's files agree with the code: settings, packages, commands, targets."""

import json
import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app
from domain.errors import ConfigurationError
from runtime.settings import Settings, load_settings

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ROOMS = PROJECT["tool"]["importlinter"]["root_packages"]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def example() -> dict[str, str]:
    """What .env.example sets, key by key."""
    return dict(re.findall(r"^([A-Z_]+)=(.*)$", read(".env.example"), re.MULTILINE))


def test_env_example_lists_exactly_the_settings() -> None:
    assert {key.lower() for key in example()} == set(Settings.model_fields)


def test_env_example_gives_the_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for key in example():
        monkeypatch.delenv(key, raising=False)
    stated = Settings(_env_file=ROOT / ".env.example")
    assert stated == Settings(_env_file=None)
    assert example()["LIMIT_STEPS"] == str(stated.limit_steps)


def test_every_setting_of_env_example_is_explained() -> None:
    lines = read(".env.example").splitlines()
    for before, line in pairwise(lines):
        if re.match(r"[A-Z_]+=", line):
            assert before.startswith("# ") or re.match(r"[A-Z_]+=", before), line


def test_the_configuration_page_names_every_setting_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \| `?(.*?)`? \|", read("docs/configuration.md"), re.M))
    assert rows == {key: value or "(empty)" for key, value in example().items()}


def test_an_unknown_key_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("LIMIT_STEP=4\n", "utf-8")
    with pytest.raises(ConfigurationError, match="LIMIT_STEP"):
        load_settings()


def test_the_declared_packages_are_the_rooms_on_disk() -> None:
    declared = PROJECT["tool"]["setuptools"]["packages"]
    found = {
        ".".join(init.parent.relative_to(ROOT).parts)
        for room in ROOMS
        for init in (ROOT / room).rglob("__init__.py")
    }
    assert set(declared) == found
    assert len(declared) == len(set(declared))


def test_every_room_says_that_it_is_typed() -> None:
    assert [room for room in ROOMS if not (ROOT / room / "py.typed").is_file()] == []


def test_the_packages_that_the_user_named_are_declared() -> None:
    base = {_name(entry) for entry in PROJECT["project"]["dependencies"]}
    flag = {_name(entry) for entry in PROJECT["project"]["optional-dependencies"]["flag"]}
    named = "langgraph langchain-core langchain-community langchain-qdrant langchain-neo4j"
    assert {*named.split(), "opensearch-py", "langsmith"} <= base
    assert "flagembedding" in flag


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_the_locks_hold_hashes_and_no_address(lock: str) -> None:
    text = read(lock)
    entries = re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert not re.search(r"://|file:|--index|--find-links|^torch==|^flagembedding==", text, re.M)


def test_the_dev_lock_contains_the_base_lock_and_both_hold_what_is_declared() -> None:
    base, dev = _locked("requirements.lock"), _locked("requirements-dev.lock")
    assert base <= dev
    declared = {_name(entry) for entry in PROJECT["project"]["dependencies"]}
    assert declared <= {name for name, _ in base}
    extra = {_name(entry) for entry in PROJECT["project"]["optional-dependencies"]["dev"]}
    assert extra - {"agentic-rag"} <= {name for name, _ in dev}


def test_langgraph_json_serves_a_described_graph_without_pickle() -> None:
    config = json.loads(read("langgraph.json"))
    assert config["$schema"].startswith("https://")
    assert config["dependencies"] == ["."]
    assert config["graphs"]["agentic_rag"]["description"]
    assert config["checkpointer"]["serde"]["pickle_fallback"] is False


def test_every_command_of_the_documents_exists() -> None:
    listed = CliRunner().invoke(app, ["--help"]).output
    for document in DOCUMENTS:
        for command in re.findall(r"^(?:\$ )?agentic-rag ([a-z]+)", _code(document), re.MULTILINE):
            assert re.search(rf"\b{command}\b", listed), f"{document.name}: agentic-rag {command}"


def test_every_make_target_of_the_documents_exists_and_is_described() -> None:
    described = dict(re.findall(r"^([a-z]+):.*?## (.+)$", read("Makefile"), re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.+)$", read("Makefile"), re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == set(described)
    for document in DOCUMENTS:
        for target in re.findall(
            r"`make ([a-z]+)`|^\$? ?make ([a-z]+)$", read_path(document), re.M
        ):
            assert "".join(target) in described, f"{document.name}: make {''.join(target)}"


def test_every_file_that_the_documents_link_exists() -> None:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", read_path(document)):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def read_path(path: Path) -> str:
    return path.read_text("utf-8")


def _code(document: Path) -> str:
    return "\n".join(re.findall(r"```.*?\n(.*?)```", read_path(document), re.DOTALL))


def _name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found is not None
    return found[0].lower()


def _locked(lock: str) -> set[tuple[str, str]]:
    return set(re.findall(r"^([a-z0-9._-]+)==(\S+)", read(lock), re.MULTILINE))
