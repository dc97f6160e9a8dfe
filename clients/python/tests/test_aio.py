import asyncio
import os
import resource
import socket
import ssl
from collections import Counter
from pathlib import Path
from time import sleep

import pytest

from presage import (
    ConnectionFailedError,
    Presage,
    PresageError,
    TimedOutError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnexpectedResponseError,
    aio,
)
from presage.aio import AsyncPresage
from servers import LosingProxy, ScriptedServer, response, then_close

PREDICTION = {"response": {"role": "assistant", "content": "Open."}, "usage": {}}
AT_ONCE = 2_000


def silence(_: socket.socket) -> None:
    sleep(1)


def test_two_thousand_predictions_are_under_way_at_once() -> None:
    """The server answers no call before all have arrived, so a call that waited for a connection would never end."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (10_000 if most < 0 else min(most, 10_000), most))

    async def play() -> Counter[str]:
        arrived = 0
        all_are_here = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal arrived
            await reader.readuntil(b"\r\n\r\n")
            arrived += 1
            if arrived == AT_ONCE:
                all_are_here.set()
            await all_are_here.wait()
            writer.write(response(200, PREDICTION, connection="close"))
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=AT_ONCE)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with AsyncPresage(url, "a-key") as presage:
            answers = await asyncio.gather(*(presage.predict("a", str(i)) for i in range(AT_ONCE)))
        server.close()
        return Counter(answer["response"]["content"] for answer in answers)

    assert asyncio.run(play()) == {"Open.": AT_ONCE}


def test_connections_are_used_again(scripted: ScriptedServer) -> None:
    scripted.script(response(200, PREDICTION))

    async def play() -> None:
        async with AsyncPresage(scripted.url, "a-key") as client:
            for _ in range(5):
                await asyncio.gather(*(client.predict("a", "b") for _ in range(20)))

    asyncio.run(play())
    assert len(scripted.received) == 100
    assert scripted.connections == 20


def test_predictions_evaluations_and_episodes_of_a_server() -> None:
    async def play() -> None:
        async with AsyncPresage() as client:
            assert "AsyncPresage('http" in repr(client)
            predictions = await asyncio.gather(
                *(client.predict("The fridge is closed.", "open fridge") for _ in range(100))
            )
            assert all("open" in prediction["response"]["content"] for prediction in predictions)
            [verdict] = await client.evaluate(["numeric"], evaluated_model_output="1", evaluated_model_gold_answer="1")
            assert verdict["status"] == "success"
            started = client.episode("sandbox", index=0)
            assert "0 steps" in repr(started)
            with pytest.raises(RuntimeError, match="async with"):
                await started.step("look around")
            async with started as episode:
                await episode.step("look around")
                await episode.step("activate lantern")
            assert (episode.reward, episode.is_over) == (1.0, True)
        async with AsyncPresage(key="psg_wrong") as stranger:
            with pytest.raises(UnauthenticatedError):
                await stranger.predict("a", "b")

    asyncio.run(play())


def test_a_step_whose_response_is_lost_is_taken_once(presage: Presage) -> None:
    proxy = LosingProxy(presage.url)

    async def play() -> str:
        async with AsyncPresage(proxy.url) as client, client.episode("sandbox", index=0) as episode:
            proxy.to_lose = 1
            await episode.step("look around")
            return episode.id

    assert len(presage.request("GET", f"/v1/episodes/{asyncio.run(play())}")["steps"]) == 1
    assert proxy.lost == 1
    proxy.stop()


def test_failures_are_those_of_the_other_client(scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def predict(timeout_s: float = 30, retries: int = 0) -> None:
        async with AsyncPresage(scripted.url, "a-key", retries=retries, timeout_s=timeout_s) as client:
            await client.predict("a", "b")

    def fails(kind: type[PresageError], timeout_s: float = 30, retries: int = 0) -> PresageError:
        with pytest.raises(kind) as raised:
            asyncio.run(predict(timeout_s, retries))
        return raised.value

    busy = response(503, {"detail": "Later."}, retry_after="0")
    scripted.script(busy, busy, response(200, PREDICTION))
    asyncio.run(predict(retries=2))
    scripted.script(busy)
    fails(UnavailableError, retries=1)
    assert len(scripted.received) == 2
    scripted.script(response(200, "<html>"))
    fails(UnexpectedResponseError)
    monkeypatch.setattr("presage.aio.MAX_RESPONSE_BYTES", 9)
    scripted.script(response(200, PREDICTION))
    fails(TooLargeError, retries=1)
    assert len(scripted.received) == 1
    monkeypatch.undo()
    scripted.script(response(307, "", location="http://127.0.0.1:1/elsewhere"))
    fails(UnexpectedResponseError)
    scripted.script(then_close(b"authorization: Bearer a-key\r\n\r\n"))
    assert "a-key" not in repr(fails(ConnectionFailedError).__cause__)
    scripted.script(then_close(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"))
    fails(ConnectionFailedError)
    scripted.script(silence)
    fails(TimedOutError, timeout_s=0.2)


def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pem = Path(__file__).parent / "self-signed.pem"
    context.load_cert_chain(pem)
    server = ScriptedServer(context)
    server.script(response(200, PREDICTION))

    async def predict(trusted: ssl.SSLContext | None) -> None:
        async with AsyncPresage(server.url, "a-key", ssl_context=trusted) as client:
            await client.predict("a", "b")

    with pytest.raises(ConnectionFailedError, match="certificate"):
        asyncio.run(predict(None))
    assert (server.received, server.connections) == ([], 1)
    asyncio.run(predict(ssl.create_default_context(cafile=pem)))
    server.stop()


def test_a_call_that_is_cancelled_ends_at_once(scripted: ScriptedServer) -> None:
    scripted.script(silence)

    async def play() -> None:
        async with AsyncPresage(scripted.url, "a-key") as client:
            task = asyncio.create_task(client.predict("a", "b"))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(play())


def test_a_cancellation_that_comes_with_the_response_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        async def answer_and_cancel(*_: object) -> tuple[int, dict[str, str], bytes]:
            task.cancel()
            return 200, {}, b"{}"

        monkeypatch.setattr(AsyncPresage, "_exchange", answer_and_cancel)
        async with AsyncPresage("http://127.0.0.1:1", "a-key") as client:
            task = asyncio.create_task(client.predict("a", "b"))
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(play())


def test_a_client_serves_one_loop_until_it_is_closed(scripted: ScriptedServer) -> None:
    scripted.script(response(200, PREDICTION))
    client = AsyncPresage(scripted.url, "a-key", retries=0)

    async def play() -> None:
        async with client:
            await client.predict("a", "b")
            with pytest.raises(RuntimeError, match="another event loop"):
                await asyncio.to_thread(asyncio.run, client.predict("a", "b"))
            await client.predict("a", "b")

    for _ in range(2):
        asyncio.run(play())
    assert scripted.connections == 2


def test_any_other_call_is_repeated_only_if_it_reads(scripted: ScriptedServer) -> None:
    async def call(method: str) -> object:
        async with AsyncPresage(scripted.url, "a-key") as client:
            return await client.request(method, "/v1/runs", limit=3)

    scripted.script(then_close(b""), response(200, {"data": []}))
    assert asyncio.run(call("get")) == {"data": []}
    assert [(received.method, received.target) for received in scripted.received] == [("GET", "/v1/runs?limit=3")] * 2
    scripted.script(then_close(b""))
    with pytest.raises(ConnectionFailedError):
        asyncio.run(call("DELETE"))
    assert len(scripted.received) == 1


def test_connections_that_the_server_has_closed_do_not_stay_open(
    scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aio, "IDLE_S", 0.05)
    scripted.script(response(200, PREDICTION))

    async def play() -> int:
        async with AsyncPresage(scripted.url, "a-key") as client:
            await asyncio.gather(*(client.predict("a", "b") for _ in range(50)))
            await asyncio.sleep(0.2)
            before = open_sockets()
            await client.predict("a", "b")
            return before - open_sockets()

    assert asyncio.run(play()) >= 40


def open_sockets() -> int:
    """The number of client sockets of this process."""
    links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return sum(os.path.exists(link) and os.readlink(link).startswith("socket:") for link in links)
