"""What is sent, and what is refused before it is sent."""

import asyncio
import math
import re
import socket
import threading
from typing import Any

import pytest

import presage
from presage import NotFoundError, Presage, TooLargeError
from presage.aio import AsyncPresage
from servers import ScriptedServer, response

FOUND = response(200, {"data": [], "next": None})


@pytest.mark.parametrize("path", ["v1/runs", "/v1/two words", "/v1/a\r\nb: c", "/v1/é"])
def test_a_path_that_is_none_is_refused_before_it_is_sent(scripted: ScriptedServer, path: str) -> None:
    with Presage(scripted.url, "a-key") as client, pytest.raises(ValueError, match="path"):
        client.request("GET", path)
    assert scripted.connections == 0


def test_a_header_that_cannot_be_sent_is_named(scripted: ScriptedServer) -> None:
    async def predict() -> None:
        async with AsyncPresage(scripted.url, "a-key") as client:
            await client.predict("a", "b", session_id="épisode")

    with Presage(scripted.url, "a-key") as client, pytest.raises(ValueError, match="x-session-id"):
        client.predict("a", "b", session_id="one\ntwo")
    with pytest.raises(ValueError, match="x-session-id"):
        asyncio.run(predict())
    assert scripted.connections == 0


def test_a_query_says_true_as_the_server_reads_it(scripted: ScriptedServer) -> None:
    scripted.script(FOUND)
    with Presage(scripted.url, "a-key") as client:
        client.request("get", "/v1/runs", failed=True, archived=False, name=None, limit=3)
    assert (scripted.received[0].method, scripted.received[0].target) == (
        "GET",
        "/v1/runs?failed=true&archived=false&limit=3",
    )


def test_what_the_server_says_before_it_has_read_all_is_heard() -> None:
    """A body that is too large is refused while it is being sent."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"

    def refuse() -> None:
        sock, _ = listener.accept()
        sock.recv(1_000)
        sock.sendall(response(413, {"detail": "Too large."}, connection="close"))
        sock.close()

    threading.Thread(target=refuse, daemon=True).start()
    with Presage(url, "a-key", retries=0) as client, pytest.raises(TooLargeError, match="Too large"):
        client.datasets.upload("d", b"x" * 20_000_000)
    listener.close()


def test_the_package_exports_only_what_is_its_own() -> None:
    names = {name for name in vars(presage) if not name.startswith("_")}
    modules = {"aio", "client", "comparison", "errors", "gym", "labels", "resources"}
    modules |= {"goals", "reality", "tables", "trl", "uploads", "worlds"}
    classes = {name for name in names if getattr(getattr(presage, name), "__module__", "").startswith("presage.")}
    assert names - modules == classes
    assert {"Presage", "Episode", "Comparison", "PresageError", "TimedOutError"} <= classes


def test_without_a_default_deployment_a_run_needs_a_target(scripted: ScriptedServer) -> None:
    scripted.script(response(200, {"data": []}))
    with Presage(scripted.url, "a-key") as client, pytest.raises(ValueError, match="target"):
        client.runs.create("d", ["exact-match"])


def test_waiting_for_a_run_ends_at_once_where_it_is_hopeless(scripted: ScriptedServer) -> None:
    scripted.script(response(404, {"detail": "No run."}))
    with Presage(scripted.url, "a-key") as client, pytest.raises(NotFoundError):
        client.runs.wait("a")


def test_one_evaluator_needs_no_list(scripted: ScriptedServer) -> None:
    scripted.script(response(200, {"results": []}))
    with Presage(scripted.url, "a-key") as client:
        client.evaluate({"evaluator": "exact-match"})
        client.evaluate("exact-match")
    assert [at.body["evaluators"] for at in scripted.received] == [[{"evaluator": "exact-match"}]] * 2


def test_what_is_no_id_is_named(scripted: ScriptedServer) -> None:
    with Presage(scripted.url, "a-key") as client:
        nothing: Any = None
        for wrong in (nothing, {"name": "nightly"}):
            with pytest.raises(TypeError, match=re.escape(f"Give an id, or an object that has one, not {wrong!r}.")):
                client.runs.get(wrong)


def test_the_url_may_end_as_openai_clients_need_it(scripted: ScriptedServer) -> None:
    scripted.script(FOUND)
    for path in ("/v1", "/v1/", "/behind/v1"):
        with Presage(scripted.url + path, "a-key") as client:
            client.datasets.list()
    assert [at.target for at in scripted.received] == ["/v1/datasets", "/v1/datasets", "/behind/v1/datasets"]


def test_a_call_may_take_forever(scripted: ScriptedServer) -> None:
    scripted.script(FOUND)

    async def ask() -> None:
        async with AsyncPresage(scripted.url, "a-key", timeout_s=math.inf) as client:
            await client.request("GET", "/v1/datasets")

    asyncio.run(ask())
    with Presage(scripted.url, "a-key", timeout_s=math.inf) as client:
        client.datasets.list()
    assert len(scripted.received) == 2
