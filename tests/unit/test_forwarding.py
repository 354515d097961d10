"""A question while a server holds the knowledge: it is asked there, or refused before."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import cli.ask
from backends.knowledge import KnowledgeHome
from cli.ask import _answer
from cli.output import fail
from cli.session import principal
from domain.errors import AgenticRagError, BackendError, InputError, InvalidRequest
from domain.run import Context
from graph.services import Services, make_services
from runtime.settings import Settings
from server.client import health
from tests.unit.test_knowledge import EMBEDDER, Embedder, StoppedClock, publish
from tests.unit.test_library import Asked
from tests.unit.wire import serving


@dataclass
class Held:
    """A process that finds the knowledge open in a server, which answers for `tenant`."""

    made: Services
    tenant: str = "demo"
    seen: list[str] = field(default_factory=list)


@pytest.fixture
async def held(tmp_path: Path) -> AsyncIterator[Held]:
    async def embedder() -> Embedder:
        return Asked()

    home = KnowledgeHome(tmp_path, StoppedClock())
    await publish(home, "v1")
    settings = Settings(
        data_dir=tmp_path, dev_roles=("ops",), limit_latency_ms=120_000, _env_file=None
    )
    found = Held(make_services(settings, open_embedder=embedder))
    with serving(lambda *_: (200, {"tenant": found.tenant})) as (url, seen):
        found.seen = seen
        knowledge = await home.open(EMBEDDER, name="server", url=url)
        yield found
        await knowledge.close()
    await found.made.close()


@pytest.mark.parametrize(
    "asked",
    [
        {"tenant": "acme"},
        {"user": "alice"},
        {"roles": ["finance"]},
        {"roles": ["ops", "finance"]},
        {"tenant": "demo", "user": "爱丽丝"},
    ],
)
async def test_asking_as_somebody_else_is_refused_before_anything_is_sent(
    held: Held, asked: dict[str, Any]
):
    who = principal(held.made.settings, **({"tenant": "", "user": "", "roles": []} | asked))
    with pytest.raises(InputError, match=r"without --tenant, --user and --role, or stop"):
        await _answer(held.made, "What is a refund?", Context(), who)
    assert held.seen == []


async def test_a_server_of_another_tenant_never_sees_the_question(held: Held):
    held.tenant = "acme"
    with pytest.raises(InputError, match="another tenant than 'demo'"):
        await _answer(held.made, "What is a refund?", Context(), held.made.settings.developer)
    assert held.seen == ["/health"]


@pytest.mark.parametrize("options", [("", "", []), ("demo", "developer", ["ops"])])
async def test_the_developers_question_is_asked_there(
    held: Held, monkeypatch: pytest.MonkeyPatch, options: Any
):
    sent: list[dict[str, Any]] = []

    async def answering(url: str, payload: dict[str, Any]) -> dict[str, Any]:
        sent.append(payload)
        raise InvalidRequest("reached")

    monkeypatch.setattr(cli.ask, "ask_server", answering)
    who = principal(held.made.settings, *options)
    with pytest.raises(InvalidRequest, match="reached"):
        await _answer(held.made, "什么是退款？", Context(limit_steps=2), who)
    assert sent == [{"question": "什么是退款？", "limit_steps": 2}]


@pytest.mark.parametrize(
    ("status", "body", "error", "code"),
    [
        (422, {"error": "InvalidRequest", "message": "mode: wrong"}, InvalidRequest, 2),
        (400, {"error": "InputError", "message": "empty"}, InputError, 2),
        (422, {"detail": "unreadable"}, InputError, 2),
        (400, {"error": "Any", "message": "a proxy's"}, InputError, 2),
        (500, {"error": "annotations"}, BackendError, 6),
        (404, {"detail": "Not Found"}, BackendError, 6),
        (200, ["no object"], BackendError, 6),
    ],
)
async def test_what_a_server_refuses_keeps_its_kind_and_exit_code(
    status: int, body: Any, error: type[AgenticRagError], code: int
):
    with serving(lambda *_: (status, body)) as (url, _), pytest.raises(AgenticRagError) as raised:
        await health(url)
    assert (type(raised.value), raised.value.exit_code) == (error, code)
    assert str(raised.value)


@pytest.mark.parametrize("text", ["[bold]x[/bold]", "a[/]b", r"C:\[x]", "[1, 2]"])
def test_an_error_is_printed_as_it_is_whatever_brackets_it_holds(
    capsys: pytest.CaptureFixture[str], text: str
):
    with pytest.raises(SystemExit):
        fail(InputError(text), as_json=False)
    assert capsys.readouterr().err == f"error: {text}\n"
