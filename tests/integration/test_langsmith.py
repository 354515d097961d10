"""What LangSmith receives of a load and of a question, over its own protocol."""

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.e2e.serving import FILES, ROOT, UNHURRIED, clean_environment

KEY = "lsv2-secret-of-the-test"
QUESTION = "What changed between refund policy v1 and v2?"
CLI = "from cli.main import run; run()"


class Endpoint(ThreadingHTTPServer):
    """As much of LangSmith's API as its client needs to hand over runs as JSON."""

    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[str] = []
        self.runs: dict[str, dict[str, Any]] = {}
        self.raw = b""

    def take(self, body: bytes) -> None:
        self.raw += body
        batch = json.loads(body)
        for part in [*batch.get("post", ()), *batch.get("patch", ())]:
            known = {key: value for key, value in part.items() if value is not None}
            self.runs.setdefault(part["id"], {}).update(known)

    def roots(self) -> list[dict[str, Any]]:
        return [run for run in self.runs.values() if "parent_run_id" not in run]

    def children(self, parent: dict[str, Any]) -> list[dict[str, Any]]:
        below = [run for run in self.runs.values() if run.get("parent_run_id") == parent["id"]]
        return sorted(below, key=lambda run: str(run["dotted_order"]))

    def __enter__(self) -> "Endpoint":
        self._thread = Thread(target=self.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_GET(self) -> None:
        self._reply({"batch_ingest_config": {"use_multipart_endpoint": False}})

    def do_POST(self) -> None:
        self.server.take(self.rfile.read(int(self.headers["content-length"])))
        self._reply({})

    def _reply(self, said: dict[str, Any]) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as running:
        yield running


def agentic_rag(endpoint: Endpoint, data_dir: Path, *arguments: str, tracing: bool) -> Any:
    """The command as people run it; what it printed."""
    environment = clean_environment(
        DATA_DIR=str(data_dir),
        LANGSMITH_ENDPOINT=f"http://127.0.0.1:{endpoint.server_port}",
        LANGSMITH_API_KEY=KEY,
        **UNHURRIED,
        **({"LANGSMITH_TRACING": "true"} if tracing else {}),
    )
    done = subprocess.run(
        [sys.executable, "-c", CLI, *arguments, "--json"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def metadata(run: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = run["extra"]["metadata"]
    return found


def test_a_load_and_a_question_are_one_trace_each(
    endpoint: Endpoint, corpus: Path, tmp_path: Path
) -> None:
    report = agentic_rag(endpoint, tmp_path, "ingest", str(corpus), tracing=True)
    (load,) = endpoint.roots()
    assert load["name"] == "ingest"
    assert load["inputs"] == {"paths": [str(corpus)], "draft": False}
    assert (load["outputs"]["loaded"], load["outputs"]["version"]) == (3, report["version"])

    endpoint.runs.clear()
    answer = agentic_rag(endpoint, tmp_path, "ask", QUESTION, tracing=True)
    (root,) = endpoint.roots()
    assert root["name"] == "agentic_rag"
    assert root["inputs"] == {"question": QUESTION}
    assert root["outputs"]["answer"]["text"] == answer["text"]
    about = metadata(root)
    assert (about["tenant"], about["intent"]) == ("demo", "version_difference")
    assert about["knowledge_version"] == report["version"]
    assert about["spent"] == answer["usage"]
    assert about["steps"] == len(answer["assessments"])
    assert about["moves"] == [move["move"] for move in answer["reflections"]]
    assert about["limits"]["latency_ms"] == int(UNHURRIED["LIMIT_LATENCY_MS"])

    stages = endpoint.children(root)
    ran = [line["stage"] for line in answer["trace"]]
    assert sorted(run["name"] for run in stages) == sorted([*ran, "done"])
    assert {run["trace_id"] for run in endpoint.runs.values()} == {root["trace_id"]}
    for run in stages:
        assert metadata(run)["tenant"] == "demo"
        assert metadata(run)["duration_ms"] >= 0
    by_name = {run["name"]: run for run in stages}
    assert by_name["plan"]["outputs"]["plan"] == answer["plan"]
    assert all(found["scores"] for found in by_name["rerank"]["outputs"]["evidence"])

    searches = [run for run in stages if run["name"] == "knowledge_search"]
    assert len(searches) == 2
    for search in searches:
        (tool,) = endpoint.children(search)
        assert (tool["name"], tool["run_type"]) == ("knowledge_search", "tool")
        assert tool["inputs"].keys() == {"query"}
        assert metadata(search)["found"] >= 1


def test_a_trace_holds_no_key_and_no_evidence_that_was_not_quoted(
    endpoint: Endpoint, corpus: Path, tmp_path: Path
) -> None:
    agentic_rag(endpoint, tmp_path, "ingest", str(corpus), tracing=True)
    agentic_rag(endpoint, tmp_path, "ask", "When are payouts sent?", tracing=True)
    assert len(endpoint.runs) > 8
    assert KEY.encode() not in endpoint.raw
    assert b"0.30 EUR" not in endpoint.raw


def test_unset_nothing_is_sent(endpoint: Endpoint, corpus: Path, tmp_path: Path) -> None:
    agentic_rag(endpoint, tmp_path, "ingest", str(corpus), tracing=False)
    agentic_rag(endpoint, tmp_path, "ask", QUESTION, tracing=False)
    assert endpoint.requests == []
