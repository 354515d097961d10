"""The running LangGraph server, as its clients meet it."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

pytest.importorskip("langgraph_cli", reason="langgraph-cli is not installed (extra [server])")
pytest.importorskip("langgraph_api", reason="langgraph-api is not installed (extra [server])")

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from backends.knowledge import KnowledgeHome
from domain.errors import BackendError, InputError, StoreBusy
from runtime.clock import SystemClock
from server.client import ask_server, health
from tests.e2e.serving import Server, load_corpus, load_folder, serving

QUESTION = "How many days after capture may a merchant refund a payment under refund policy v2?"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    load_corpus(folder / "corpus", folder / "data")
    with serving(folder / "data", folder / "server.log") as running:
        yield running
    holder = (folder / "data" / "holder.lock").read_bytes()
    assert holder == b"", "the server left without closing its stores"


@pytest.fixture(autouse=True)
def log_on_failure(server: Server) -> Iterator[None]:
    before = server.log.stat().st_size
    yield
    with server.log.open("rb") as log:
        log.seek(before)
        print(log.read().decode(errors="replace"))


@pytest.fixture
async def sdk(server: Server) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server.url) as client:
        yield client


@pytest.fixture
async def http(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as client:
        yield client


async def test_a_run_streams_its_stages_and_the_thread_remembers(sdk: LangGraphClient) -> None:
    thread = (await sdk.threads.create())["thread_id"]
    updates = sdk.runs.stream(
        thread, "agentic_rag", input={"question": QUESTION}, stream_mode="updates"
    )
    stages = [name async for part in updates if part.event == "updates" for name in part.data]
    assert stages[:4] == ["init", "route", "plan", "retrieve"]
    assert "knowledge_search" in stages
    assert stages[-3:] == ["answer", "safe_guard", "done"]

    remembered: Any = (await sdk.threads.get_state(thread))["values"]
    assert remembered["answer"]["verdict"] == "answered"
    assert "180 days" in remembered["answer"]["text"]
    assert [message["type"] for message in remembered["messages"]] == ["human", "ai"]

    follow_up: Any = {"messages": [{"role": "user", "content": "and what about v1?"}]}
    second: Any = await sdk.runs.wait(thread, "agentic_rag", input=follow_up)
    answer = second["answer"]
    assert answer["route"]["standalone"] == QUESTION.replace("v2", "v1")
    assert answer["degradations"] == []
    assert "90 days" in answer["text"]
    assert "refund-policy-v1.md" in answer["citations"][0]["source"]
    assert [message["type"] for message in second["messages"]] == ["human", "ai", "human", "ai"]
    assert second["messages"][-1]["content"].startswith(answer["text"])


async def test_chat_clients_find_messages_in_both_schemas(sdk: LangGraphClient) -> None:
    assistants: Any = await sdk.assistants.search(graph_id="agentic_rag")
    assert assistants[0]["description"]
    schemas: Any = await sdk.assistants.get_schemas(assistants[0]["assistant_id"])
    assert set(schemas["input_schema"]["properties"]) == {"question", "messages"}
    assert set(schemas["output_schema"]["properties"]) == {"answer", "messages"}
    assert "as_of" in schemas["context_schema"]["properties"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"question": " \x00 "}, "the question is empty"),
        ({"question": "x" * 100_000}, "QUESTION_MAX_CHARS"),
        ({"question": 5}, "not a text"),
    ],
)
async def test_a_run_with_a_bad_question_says_what_is_wrong(
    sdk: LangGraphClient, given: dict[str, Any], message: str
) -> None:
    failed: Any = await sdk.runs.wait(None, "agentic_rag", input=given, raise_error=False)
    assert failed["__error__"]["error"] == "InputError"
    assert message in failed["__error__"]["message"]


async def test_mcp_offers_the_graph_as_a_tool_that_answers(http: httpx.AsyncClient) -> None:
    tools = (await _mcp(http, "tools/list", {}))["tools"]
    assert [tool["name"] for tool in tools] == ["agentic_rag"]
    assert "question" in tools[0]["inputSchema"]["properties"]
    called = await _mcp(
        http, "tools/call", {"name": "agentic_rag", "arguments": {"question": QUESTION}}
    )
    assert not called.get("isError")
    assert "180 days" in called["content"][0]["text"]


async def _mcp(http: httpx.AsyncClient, method: str, params: dict[str, Any]) -> Any:
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    reply = await http.post("/mcp", json=call, headers={"accept": "application/json"})
    return reply.json()["result"]


async def test_ask_answers_at_once(server: Server, http: httpx.AsyncClient) -> None:
    asked = {"question": QUESTION, "mode": "single", "limit_steps": 1, "as_of": "2024-07-01"}
    answer = (await http.post("/ask", json=asked)).raise_for_status().json()
    assert answer["verdict"] == "answered"
    assert "180 days" in answer["text"]
    assert answer["tenant"] == "demo"
    assert answer["as_of"] == "2024-07-01"
    assert answer["route"]["mode"] == "single"

    told = {"messages": [{"role": "user", "content": QUESTION}]}
    assert "180 days" in (await ask_server(server.url, told))["text"]


async def test_ask_in_chinese(server: Server) -> None:
    answer = await ask_server(server.url, {"question": "你好"})
    assert answer["language"] == "zh"
    assert answer["route"]["mode"] == "direct"


@pytest.mark.parametrize(
    ("body", "status", "error", "message"),
    [
        (b'{"question": ""}', 400, "InputError", "the question is empty"),
        (b'{"messages": []}', 400, "InputError", "the question is empty"),
        (b'{"messages": [{"role": "wizard", "content": "x"}]}', 400, "InputError", "role"),
        (b"\xff\xfe\x00\x01", 400, "InputError", "not JSON"),
        (b"[" * 100_000, 400, "InputError", "not JSON"),
        (b'["question"]', 400, "InputError", "not a JSON object"),
        (b'"' + b"x" * 1_000_001 + b'"', 400, "InputError", "larger than"),
        (b"{}", 422, "InvalidRequest", "either `question` or `messages`"),
        (b'{"question": "x", "tenant": "other"}', 422, "InvalidRequest", "tenant: there is no"),
        (b'{"question": "x", "limit_steps": 0}', 422, "InvalidRequest", "limit_steps"),
        (b'{"question": "x", "mode": "free"}', 422, "InvalidRequest", "mode"),
    ],
)
async def test_ask_refuses_bad_input_in_one_clear_line(
    http: httpx.AsyncClient, body: bytes, status: int, error: str, message: str
) -> None:
    reply = await http.post("/ask", content=body)
    said = reply.json()
    assert (reply.status_code, said["error"]) == (status, error)
    assert message in said["message"]
    assert "Traceback" not in reply.text


async def test_health_counts_the_documents_of_the_own_tenant(server: Server) -> None:
    said = await health(server.url)
    assert (said["status"], said["tenant"], said["documents"]) == ("ok", "demo", 3)
    assert said["knowledge_version"]


async def test_only_studio_and_local_pages_may_read_answers(http: httpx.AsyncClient) -> None:
    async def allowed(origin: str) -> Any:
        reply = await http.get("/health", headers={"origin": origin})
        return reply.headers.get("access-control-allow-origin")

    assert await allowed("https://smith.langchain.com") == "https://smith.langchain.com"
    assert await allowed("http://localhost:3000") == "http://localhost:3000"
    assert await allowed("https://evil.example") is None
    assert await allowed("http://localhost.evil.example") is None


async def test_another_process_learns_who_holds_the_knowledge(server: Server) -> None:
    home = KnowledgeHome(server.data_dir, SystemClock())
    with pytest.raises(StoreBusy, match=rf"agentic-rag server \(process \d+, {server.url}\)"):
        await home.open()
    holder = home.holder()
    assert holder is not None
    assert holder.url == server.url


async def test_the_client_raises_what_the_server_names(server: Server) -> None:
    with pytest.raises(InputError, match="the question is empty"):
        await ask_server(server.url, {"question": ""})


async def test_the_client_says_when_there_is_no_server() -> None:
    with pytest.raises(BackendError, match=r"http://127\.0\.0\.1:9 does not answer"):
        await ask_server("http://127.0.0.1:9", {"question": "x"})


async def test_newly_loaded_knowledge_is_served_without_a_restart(server: Server) -> None:
    before = await health(server.url)
    corpus = server.data_dir.parent / "corpus"
    (corpus / "chargebacks.md").write_text(
        "# Chargebacks\n\nA chargeback must be disputed within 14 days.\n", encoding="utf-8"
    )
    await load_folder(corpus, server.data_dir)
    after = await health(server.url)
    assert after["documents"] == before["documents"] + 1
    assert after["knowledge_version"] > before["knowledge_version"]
    answer = await ask_server(
        server.url, {"question": "Within how many days must a chargeback be disputed?"}
    )
    assert "14 days" in answer["text"]
