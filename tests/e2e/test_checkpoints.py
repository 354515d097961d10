"""What the served graph reads back from a checkpoint, and what it refuses to make.

In a process of its own: strictness is decided when langgraph is imported.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.e2e.serving import ROOT, clean_environment

ROUND_TRIP = """
import asyncio, json
from datetime import date
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from domain.answer import Answer, StageRecord
from domain.evidence import Evidence
from domain.knowledge import Metadata
from domain.run import Turn
from graph.served import graph
from server.health import Health

meta = Metadata(tenant="t", effective_from=date(2024, 6, 1))
values = {
    "answer": Answer(run_id="r", question="q", verdict="answered", language="zh", text="好",
                     as_of=date(2024, 7, 1)),
    "evidence": (Evidence(id="e", kind="chunk", ref="c", tool="x", source="s", title="t",
                          text="退款", meta=meta),),
    "trace": (StageRecord(stage="init", start=0.0, duration_ms=1.5, decision={"a": [1, None]}),),
    "turns": (Turn(question="q", standalone="q", language="en"),),
    "messages": [AIMessage(content="好", id="m")],
}
foreign = Health(status="ok", knowledge_version="v", tenant="t", documents=1, chunks=1)

def as_list(value):  # msgpack knows no tuples
    return list(value) if isinstance(value, (list, tuple)) else value

async def main():
    config = {"configurable": {"thread_id": "1"}}
    served = graph.copy({"checkpointer": InMemorySaver()})
    await served.aupdate_state(config, values | {"step": foreign}, as_node="answer")
    read = (await served.aget_state(config)).values
    same = {name: as_list(read[name]) == as_list(value) for name, value in values.items()}
    print(json.dumps({"same": same, "foreign": type(read["step"]).__name__}))

asyncio.run(main())
"""


def run_script(script: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=clean_environment(**environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_models_of_the_state_round_trip_and_a_foreign_class_is_not_made(tmp_path: Path) -> None:
    config = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
    assert config["checkpointer"]["serde"]["pickle_fallback"] is False
    done = run_script(ROUND_TRIP, DATA_DIR=str(tmp_path), **config["env"])
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert all(said["same"].values()), said
    assert said["foreign"] != "Health"


def test_the_graph_is_not_served_with_lenient_checkpoints(tmp_path: Path) -> None:
    done = run_script("import graph.served", DATA_DIR=str(tmp_path))
    assert done.returncode != 0
    assert "LANGGRAPH_STRICT_MSGPACK=true" in done.stderr
