"""Starts the real `langgraph dev` for tests, over a small knowledge of its own."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from graph.services import make_services
from ingest.loader import load
from runtime.settings import Settings

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120

UNHURRIED = {"LIMIT_LATENCY_MS": "120000", "OMP_NUM_THREADS": "1"}
"""What a test asserts must not depend on how busy the machine is."""

POLICY = """---
title: Refund policy {version}
version: {version}
effective_from: {begins}
---
# Refund policy {version}

## Refund window
A merchant may refund a payment within {days} days of capture.

## Refund fee
The refund fee is {fee} EUR per refund.
"""
FILES = {
    "refund-policy-v1.md": POLICY.format(version="v1", begins="2023-01-01", days=90, fee="0.30"),
    "refund-policy-v2.md": POLICY.format(version="v2", begins="2024-06-01", days=180, fee="0.10"),
    "settlement.md": "# Settlement\n\nPayouts reach the merchant's bank every Tuesday at 09:00.\n",
}


@dataclass(frozen=True)
class Server:
    """A running server and where it keeps its knowledge."""

    url: str
    data_dir: Path
    log: Path


def clean_environment(**changes: str) -> dict[str, str]:
    """This process's environment without settings that would leak into what is started."""
    leaks = ("LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_", "OTEL_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(leaks)}
    return kept | {"LANGGRAPH_CLI_NO_ANALYTICS": "1"} | changes


def load_corpus(folder: Path, data_dir: Path) -> None:
    """Write the files and load them for the development tenant."""
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    asyncio.run(load_folder(folder, data_dir))


async def load_folder(folder: Path, data_dir: Path) -> None:
    """Load and publish what the folder holds now, as another process than the server would."""
    settings = Settings(data_dir=data_dir, _env_file=None)
    services = make_services(settings)
    try:
        embedder = await services.library.embedder()
        home = services.library.home
        await load([folder], home=home, embedder=embedder, settings=settings)
    finally:
        await services.close()


@contextmanager
def serving(data_dir: Path, log: Path) -> Iterator[Server]:
    """`langgraph dev` on a free port until the block ends."""
    port = _free_port()
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    server = Server(f"http://127.0.0.1:{port}", data_dir, log)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            cwd=ROOT,
            env=clean_environment(DATA_DIR=str(data_dir), **UNHURRIED),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_ready(server, process)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_ready(server: Server, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{server.url}/ok", trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError(f"the server did not start:\n{server.log.read_text(errors='replace')}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
