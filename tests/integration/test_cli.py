"""The command line as a user meets it: output, exit codes, and messages with a way out."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
Cli = Callable[..., subprocess.CompletedProcess[str]]

LIMITS = """# Tenant limits

The tenant limit of the Standard tier is 120 concurrent requests.
Requests above the tenant limit are rejected with error code E4291.
"""
REFUNDS = """---
version: v2
effective_from: 2026-07-01
---
# 退款政策

退款政策 v2 规定，商户可在请款后 180 天内退款。
"""


def run(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("LANG")}
    return subprocess.run(
        [sys.executable, "-c", "from cli.main import run; run()", *arguments],
        cwd=folder,
        env=inherited
        | {"PYTHONPATH": str(ROOT), "DATA_DIR": str(folder / "data"), "LIMIT_LATENCY_MS": "120000"}
        | env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("with space") / "a folder"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "limits.md").write_text(LIMITS, encoding="utf-8")
    (folder / "docs" / "退款.md").write_text(REFUNDS, encoding="utf-8")
    (folder / "docs" / "broken.docx").write_bytes(b"PK\x03\x04 not a document")
    loaded = run(folder, "ingest", "docs", "--json")
    assert loaded.returncode == 0, loaded.stderr
    report = json.loads(loaded.stdout)
    assert report["loaded"] == 2
    assert [q["source"] for q in report["quarantined"]] == ["docs/broken.docx"]
    return folder


@pytest.fixture
def cli(folder: Path) -> Cli:
    return lambda *arguments, **env: run(folder, *arguments, **env)


def only_object(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Exactly one JSON object on standard output and nothing else."""
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    assert done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr
    return value


def test_ask_json_is_the_whole_answer(cli: Cli) -> None:
    done = cli("ask", "What is the tenant limit of the Standard tier?", "--json")
    answer = only_object(done)
    assert done.returncode == 0
    assert answer["verdict"] == "answered"
    [citation] = answer["citations"]
    assert citation["source"] == "docs/limits.md"
    assert LIMITS[citation["start"] : citation["end"]] == citation["quote"]
    assert {
        "run_id", "verdict", "text", "statements", "citations", "confidence", "boundary",
        "follow_ups", "route", "plan", "assessments", "reflections", "degradations", "usage",
        "trace",
    } <= set(answer)  # fmt: skip


def test_ask_for_people_shows_verdict_text_and_source(cli: Cli) -> None:
    done = cli("ask", "商户可在请款后多少天内退款？")
    assert done.returncode == 0
    assert "180 天" in done.stdout
    assert "[1] docs/退款.md, v2" in done.stdout
    assert "ms by stage: init" in done.stdout


def test_loading_again_changes_nothing(cli: Cli) -> None:
    again = only_object(cli("ingest", "docs", "--json"))
    assert (again["changed"], again["loaded"], again["unchanged"]) == (False, 0, 2)


def test_status_and_tools_tell_what_is_there(cli: Cli) -> None:
    status = only_object(cli("status", "--json"))
    assert (status["documents"], status["tenant"]) == (2, "demo")
    assert status["quarantined"][0]["source"] == "docs/broken.docx"
    tools = only_object(cli("tools", "--json"))["tools"]
    names = [tool["name"] for tool in tools]
    assert {"knowledge_search", "graph_search", "sql_lookup"} <= set(names)
    assert "web_search" not in names
    assert all("scope" not in tool["arguments"].get("properties", {}) for tool in tools)


def test_doctor_finds_everything_in_place(cli: Cli) -> None:
    done = cli("doctor", "--json")
    report = only_object(done)
    assert done.returncode == 0
    assert report["ok"]
    assert {c["check"] for c in report["checks"]} >= {"settings", "disk", "embedder", "knowledge"}


def test_a_damaged_cache_of_vectors_is_told_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "limits.md").write_text(LIMITS, encoding="utf-8")
    cache = tmp_path / "data" / "embeddings.sqlite"
    cache.parent.mkdir()
    cache.write_bytes(b"rubbish" * 1_000)
    loaded = run(tmp_path, "ingest", "docs", "--json")
    assert (loaded.returncode, only_object(loaded)["loaded"]) == (0, 1)
    assert loaded.stderr.count("was damaged") == 1
    assert "embeddings.sqlite" in loaded.stderr

    assert "warning" not in run(tmp_path, "ingest", "docs", "--json").stderr
    cache.write_bytes(b"rubbish" * 1_000)
    report = only_object(run(tmp_path, "doctor", "--json"))
    [embedder] = [check for check in report["checks"] if check["check"] == "embedder"]
    assert (embedder["state"], report["ok"]) == ("warn", True)
    assert "was damaged" in embedder["detail"]


@pytest.mark.parametrize(
    ("arguments", "env", "code", "message"),
    [
        (("ask", ""), {}, 2, "the question is empty"),
        (("ask", "x" * 100_000), {}, 2, "QUESTION_MAX_CHARS"),
        (("ask", "What is a limit?", "--tenant", "nobody"), {}, 4, "'nobody'"),
        (("ingest", "no-such-folder"), {}, 2, "no-such-folder"),
        (("ask", "What is a limit?"), {"DATA_DIR": "empty"}, 4, "agentic-rag ingest"),
        (("status",), {"DATA_DIR": "empty"}, 4, "agentic-rag ingest"),
        (("ask", "What is a limit?"), {"LIMIT_STEPS": "99"}, 2, "LIMIT_STEPS"),
        (("eval", "retrieval", "docs"), {}, 2, "corpus.jsonl"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_an_error_is_one_line_with_a_way_out_and_its_code(
    cli: Cli,
    arguments: tuple[str, ...],
    env: dict[str, str],
    code: int,
    message: str,
    as_json: bool,
) -> None:
    done = cli(*arguments, *(["--json"] if as_json else []), **env)
    assert done.returncode == code
    assert "Traceback" not in done.stderr + done.stdout
    if as_json:
        assert message in only_object(done)["message"]
    else:
        assert message in done.stderr
        assert not done.stdout


def test_a_damaged_index_is_named_with_the_way_out(cli: Cli, folder: Path, tmp_path: Path) -> None:
    import shutil

    data = tmp_path / "data"
    shutil.copytree(folder / "data", data)
    version = (data / "CURRENT").read_text().strip()
    (data / "versions" / version / "catalog.sqlite").write_bytes(b"rubbish" * 1_000)
    done = cli("ask", "What is a limit?", DATA_DIR=str(data))
    assert done.returncode == 4
    assert version in done.stderr
    assert "Traceback" not in done.stderr


def test_help_names_every_command(cli: Cli) -> None:
    done = cli("--help")
    assert done.returncode == 0
    for command in ("ingest", "ask", "tools", "status", "doctor", "eval"):
        assert command in done.stdout
