"""What LangSmith receives of a load and of a question, over its own protocol."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.e2e.serving import FILES, ROOT, UNHURRIED, clean_environment

KEY = "lsv2-secret-of-the-test"
QUESTION = "How many days after capture may a merchant refund a payment under refund policy v2?"
CLI = "from cli.main import run; run()"
BATCHES = {
    "use_multipart_endpoint": False,
    "size_limit": 100,
    "size_limit_bytes": 20_000_000,
    "scale_up_nthreads_limit": 1,
    "scale_up_qsize_trigger": 1_000,
    "scale_down_nempty_trigger": 4,
}


class Endpoint(ThreadingHTTPServer):
    """As much of LangSmith's API as its client needs to hand over runs as JSON."""

    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[str] = []
        self.runs: dict[str, dict[str, Any]] = {}
        self.raw = b""
        self.url = f"http://127.0.0.1:{self.server_port}"

    def take(self, body: bytes) -> None:
        self.raw += body
        batch = json.loads(body)
        for part in [*batch.get("post", ()), *batch.get("patch", ())]:
            known = {key: value for key, value in part.items() if value is not None}
            self.runs.setdefault(part["id"], {}).update(known)

    def roots(self) -> list[dict[str, Any]]:
        """In the order in which they began."""
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
        self._reply({"batch_ingest_config": BATCHES})

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


def agentic_rag(endpoint: str, data_dir: Path, *arguments: str, tracing: bool) -> Any:
    """The command as people run it; what it printed."""
    environment = clean_environment(
        DATA_DIR=str(data_dir),
        LANGSMITH_ENDPOINT=endpoint,
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


@dataclass
class Traced:
    """A load and a question, what they printed and what LangSmith received."""

    data_dir: Path
    corpus: Path
    report: dict[str, Any]
    answer: dict[str, Any]
    endpoint: Endpoint


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traced]:
    folder = tmp_path_factory.mktemp("traced")
    corpus, data_dir = folder / "corpus", folder / "data"
    corpus.mkdir()
    for name, text in FILES.items():
        (corpus / name).write_text(text, encoding="utf-8")
    with Endpoint() as endpoint:
        report = agentic_rag(endpoint.url, data_dir, "ingest", str(corpus), tracing=True)
        answer = agentic_rag(endpoint.url, data_dir, "ask", QUESTION, tracing=True)
        yield Traced(data_dir, corpus, report, answer, endpoint)


def test_a_load_and_a_question_are_one_trace_each(traced: Traced) -> None:
    load, root = traced.endpoint.roots()
    assert (load["name"], root["name"]) == ("ingest", "agentic_rag")
    assert load["inputs"] == {"paths": [str(traced.corpus)], "draft": False}
    assert load["outputs"]["loaded"] == 3
    assert load["outputs"]["version"] == traced.report["version"]
    traces = {run["trace_id"] for run in traced.endpoint.runs.values()}
    assert traces == {load["trace_id"], root["trace_id"]}


def test_the_root_carries_what_the_run_was_and_spent(traced: Traced) -> None:
    _, root = traced.endpoint.roots()
    answer = traced.answer
    assert root["inputs"] == {"question": QUESTION}
    assert root["outputs"]["answer"]["text"] == answer["text"]
    about = metadata(root)
    assert about["tenant"] == "demo"
    assert about["intent"] == answer["route"]["intent"]
    assert about["knowledge_version"] == traced.report["version"]
    assert about["spent"] == answer["usage"]
    assert about["steps"] == len(answer["assessments"])
    assert about["moves"] == [move["move"] for move in answer["reflections"]]
    assert about["limits"]["latency_ms"] == int(UNHURRIED["LIMIT_LATENCY_MS"])


def test_each_stage_and_tool_has_a_span_with_its_decision(traced: Traced) -> None:
    _, root = traced.endpoint.roots()
    stages = traced.endpoint.children(root)
    ran = [line["stage"] for line in traced.answer["trace"]]
    assert sorted(run["name"] for run in stages) == sorted([*ran, "done"])
    for run in stages:
        assert metadata(run)["tenant"] == "demo"
        assert metadata(run)["duration_ms"] >= 0
    by_name = {run["name"]: run for run in stages}
    assert by_name["plan"]["outputs"]["plan"] == traced.answer["plan"]
    assert by_name["evaluate"]["outputs"]["assessments"][0]["confidence"] > 0
    assert all(found["scores"] for found in by_name["rerank"]["outputs"]["evidence"])

    search = by_name["knowledge_search"]
    (tool,) = traced.endpoint.children(search)
    assert (tool["name"], tool["run_type"]) == ("knowledge_search", "tool")
    assert tool["inputs"].keys() == {"query"}
    assert metadata(search)["found"] >= 1


def test_a_trace_holds_no_key_and_no_evidence_that_was_not_quoted(traced: Traced) -> None:
    assert b"180 days" in traced.endpoint.raw
    assert b"every Tuesday" not in traced.endpoint.raw
    assert KEY.encode() not in traced.endpoint.raw


def test_unset_nothing_is_sent(traced: Traced) -> None:
    with Endpoint() as endpoint:
        agentic_rag(endpoint.url, traced.data_dir, "ingest", str(traced.corpus), tracing=False)
        agentic_rag(endpoint.url, traced.data_dir, "ask", QUESTION, tracing=False)
    assert endpoint.requests == []


def test_an_unreachable_langsmith_costs_no_answer(traced: Traced) -> None:
    answer = agentic_rag("http://127.0.0.1:9", traced.data_dir, "ask", QUESTION, tracing=True)
    assert answer["text"] == traced.answer["text"]
