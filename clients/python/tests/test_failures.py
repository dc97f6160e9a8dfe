import logging
import pickle
import socket
import ssl
import traceback
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

import presage
from presage import (
    BudgetExhaustedError,
    ConflictError,
    ConnectionFailedError,
    ContextExceededError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    Presage,
    PresageError,
    RateLimitError,
    TimedOutError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnexpectedResponseError,
    UnusableCompletionError,
    UpstreamError,
)
from servers import ScriptedServer, response, then_close

FOUND = response(200, {"data": [], "next": None})
KEY = "psg_secret-of-the-test"


@pytest.mark.parametrize(
    ("status", "kind", "category"),
    [
        (400, InvalidRequestError, "invalid"),
        (405, InvalidRequestError, "invalid"),
        (422, InvalidRequestError, "invalid"),
        (401, UnauthenticatedError, "unauthenticated"),
        (402, BudgetExhaustedError, "budget_exhausted"),
        (403, ForbiddenError, "forbidden"),
        (404, NotFoundError, "not_found"),
        (408, TimedOutError, "timeout"),
        (409, ConflictError, "conflict"),
        (413, TooLargeError, "too_large"),
        (429, RateLimitError, "rate_limit"),
        (500, UnexpectedResponseError, "unexpected"),
        (418, UnexpectedResponseError, "unexpected"),
        (502, UpstreamError, "upstream"),
        (503, UnavailableError, "unavailable"),
        (504, TimedOutError, "timeout"),
    ],
)
def test_each_status_has_its_class(
    scripted: ScriptedServer, status: int, kind: type[PresageError], category: str
) -> None:
    body = {"detail": "So it is.", "upstream_status": 400, "upstream_body": "why"}
    scripted.script(response(status, body, x_request_id="abc", retry_after="7", x_should_retry="false"))
    with Presage(scripted.url, KEY, retries=0) as client, pytest.raises(PresageError) as raised:
        client.datasets.list()
    error = raised.value
    assert type(error) is kind
    assert (error.category, error.status, error.request_id) == (category, status, "abc")
    assert (error.retry_after_s, error.should_retry) == (7.0, False)
    assert (error.upstream_status, error.upstream_body) == (400, "why")
    assert str(error) == f"So it is. (status {status}, request abc)"


def test_what_answers_unlike_presage_is_doubted(scripted: ScriptedServer) -> None:
    for status, end in [(404, "404; is this the URL of a Presage server?"), (502, "502.")]:
        scripted.script(response(status, {}))
        with Presage(scripted.url, KEY, retries=0) as client, pytest.raises(PresageError) as raised:
            client.datasets.list()
        assert raised.value.args == (f"{scripted.url} responded with status {end}",)


def test_a_413_of_the_model_is_not_one_of_the_server(scripted: ScriptedServer) -> None:
    scripted.script(response(413, {"detail": "Too long.", "category": "context_exceeded"}))
    with Presage(scripted.url, KEY) as client, pytest.raises(ContextExceededError):
        client.predict("a", "b")


def test_an_answer_of_no_use_is_a_failure_of_its_own(scripted: ScriptedServer) -> None:
    scripted.script(response(502, {"detail": "It has no text.", "category": "unusable_completion"}))
    with Presage(scripted.url, KEY) as client, pytest.raises(UnusableCompletionError):
        client.predict("a", "b")


def test_all_categories_are_classes_of_the_package() -> None:
    categories = {kind.category for kind in vars(presage).values() if PresageError in getattr(kind, "__mro__", ())}
    assert categories == {
        "context_exceeded", "rate_limit", "upstream", "unusable_completion", "unavailable", "timeout",
        "unauthenticated", "budget_exhausted", "forbidden", "not_found", "conflict", "too_large", "invalid",
        "connection", "unexpected", "reality_alarm",
    }  # fmt: skip


def test_an_error_goes_from_process_to_process() -> None:
    error = pickle.loads(pickle.dumps(RateLimitError("Later.", status=429, retry_after_s=3.0)))
    assert (type(error), error.retry_after_s, str(error)) == (RateLimitError, 3.0, "Later. (status 429)")


def get(server: ScriptedServer, **options: Any) -> Any:
    with Presage(server.url, KEY, **options) as client:
        return client.runs.list()


@pytest.mark.parametrize("status", [429, 503])
def test_a_call_is_sent_again_not_before_retry_after(scripted: ScriptedServer, status: int) -> None:
    scripted.script(response(status, {"detail": "Later."}, retry_after="0.3"), FOUND)
    assert get(scripted) == []
    assert scripted.received[1].at - scripted.received[0].at >= 0.29


def test_a_full_disk_is_not_written_to_again(scripted: ScriptedServer) -> None:
    scripted.script(response(507, {"detail": "The disk is full."}, x_should_retry="false"), FOUND)
    with pytest.raises(UnavailableError):
        get(scripted)
    assert len(scripted.received) == 1


def test_a_date_is_by_the_clock_of_the_server(scripted: ScriptedServer) -> None:
    dates = {"date": "Wed, 21 Oct 2015 07:28:00 GMT", "retry_after": "Wed, 21 Oct 2015 07:28:09 GMT"}
    scripted.script(response(429, {}, **dates))
    with pytest.raises(RateLimitError) as raised:
        get(scripted, retries=0)
    assert raised.value.retry_after_s == 9


@pytest.mark.parametrize("wait", ["61", "99999999999999999999", "1e999", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_nobody_waits_as_long_as_a_server_likes(scripted: ScriptedServer, wait: str) -> None:
    scripted.script(response(429, {"detail": "Later."}, retry_after=wait), response(404, {}))
    started_at = monotonic()
    with pytest.raises((RateLimitError, NotFoundError)):
        get(scripted, timeout_s=3600)
    assert monotonic() - started_at < 20


def test_a_wait_behind_the_deadline_is_not_begun(scripted: ScriptedServer) -> None:
    scripted.script(response(503, {"detail": "Later."}, retry_after="20"))
    started_at = monotonic()
    with pytest.raises(UnavailableError):
        get(scripted, timeout_s=15)
    assert monotonic() - started_at < 10
    assert len(scripted.received) == 1


def test_a_response_that_is_too_long_is_not_asked_for_again(
    scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("_call", "_connections"):
        monkeypatch.setattr(f"presage.{module}.MAX_RESPONSE_BYTES", 65_536)
    scripted.script(response(200, {"data": ["a" * 65_536], "next": None}))
    with pytest.raises(TooLargeError, match="longer than"):
        get(scripted)
    assert len(scripted.received) == 1


def test_retries_are_bounded(scripted: ScriptedServer) -> None:
    scripted.script(response(503, {}, retry_after="0"))
    with pytest.raises(UnavailableError):
        get(scripted)
    assert len(scripted.received) == 3


def test_all_tries_of_a_write_have_one_key(scripted: ScriptedServer) -> None:
    made = response(200, {"results": []})
    scripted.script(response(503, {}, retry_after="0"), then_close(b""), made)
    with Presage(scripted.url, KEY) as client:
        client.evaluate(["exact-match"], evaluated_model_output="a")
        client.evaluate(["exact-match"], evaluated_model_output="a")
        client.evaluate(["exact-match"], evaluated_model_output="a", idempotency_key="mine")
    keys = [received.headers["idempotency-key"] for received in scripted.received]
    assert len(keys) == 5
    assert len(set(keys[:3])) == 1
    assert len(set(keys)) == 3
    assert keys[4] == "mine"


def test_what_may_have_taken_effect_is_not_repeated_without_a_key(scripted: ScriptedServer) -> None:
    scripted.script(then_close(b""))
    with Presage(scripted.url, KEY) as client, pytest.raises(ConnectionFailedError):
        client.request("DELETE", "/v1/runs/a")
    assert len(scripted.received) == 1


def test_a_connection_that_the_server_closed_meanwhile_is_not_used(scripted: ScriptedServer) -> None:
    def answer_and_close(sock: socket.socket) -> None:
        sock.sendall(FOUND)
        sock.shutdown(socket.SHUT_RDWR)

    scripted.script(answer_and_close)
    with Presage(scripted.url, KEY, retries=0) as client:
        for _ in range(3):
            assert client.request("DELETE", "/v1/runs/a") == {"data": [], "next": None}
            sleep(0.05)
    assert scripted.connections == 3


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (response(502, "<html>Bad gateway</html>"), UpstreamError),
        (response(500, "[" * 100_000), UnexpectedResponseError),
        (response(200, "<html>Welcome</html>"), UnexpectedResponseError),
        (response(200, "[" * 100_000), UnexpectedResponseError),
        (response(422, {"detail": [{"loc": None, "msg": 3}, 7, None]}), InvalidRequestError),
        (response(422, [1, 2]), InvalidRequestError),
        (response(404, {"detail": {"a": 1}}), NotFoundError),
        (then_close(b'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"data": ['), ConnectionFailedError),
        (then_close(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999\r\n\r\n{"), ConnectionFailedError),
        (then_close(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"), ConnectionFailedError),
        (then_close(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{"), ConnectionFailedError),
        (then_close(b"HTTP/1.1 200 OK\r\ncontent-le"), UnexpectedResponseError),
        (then_close(b"SSH-2.0-OpenSSH\r\n"), ConnectionFailedError),
        (then_close(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 500 + b"\r\n"), ConnectionFailedError),
        (then_close(b"HTTP/1.1 200 OK\r\na: " + b"b" * 100_000 + b"\r\n\r\n"), ConnectionFailedError),
        (then_close(b""), ConnectionFailedError),
    ],
)
def test_whatever_answers_the_error_is_one_of_presage(
    scripted: ScriptedServer, answer: Any, kind: type[PresageError]
) -> None:
    scripted.script(answer)
    with pytest.raises(kind):
        get(scripted, retries=0)


def test_bytes_that_drip_end_at_the_deadline(scripted: ScriptedServer) -> None:
    def drip(sock: socket.socket) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            sock.sendall(b"a")
            sleep(0.02)

    scripted.script(drip)
    started_at = monotonic()
    with pytest.raises(TimedOutError, match=r"within 0\.3 s"):
        get(scripted, timeout_s=0.3)
    assert monotonic() - started_at < 10


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed_and_the_key_goes_nowhere(scripted: ScriptedServer, status: int) -> None:
    other = ScriptedServer()
    other.script(FOUND)
    scripted.script(response(status, "", location=f"{other.url}/v1/runs/{KEY}?key={KEY}"))
    with pytest.raises(UnexpectedResponseError, match="redirects to") as raised:
        get(scripted)
    assert (len(scripted.received), other.connections) == (1, 0)
    assert KEY not in str(raised.value)
    assert f"{other.url}/v1/runs/[API key]" in str(raised.value)
    other.stop()


def frames_of(error: BaseException) -> list[traceback.FrameSummary]:
    shown: traceback.TracebackException | None = traceback.TracebackException.from_exception(error, capture_locals=True)
    frames: list[traceback.FrameSummary] = []
    while shown is not None:
        frames += shown.stack
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)
    return frames


def test_the_key_is_in_no_text(scripted: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = Presage(scripted.url, KEY)
    echo = {"detail": f"What is Bearer {KEY}?", "upstream_body": KEY}
    scripted.script(response(503, echo, retry_after="0"), response(500, echo))
    with pytest.raises(UnexpectedResponseError) as raised:
        client.predict("a", "b")
    scripted.script(then_close(f"authorization: Bearer {KEY}\r\n\r\n".encode()))
    with pytest.raises(ConnectionFailedError) as broken:
        client.request("DELETE", "/v1/runs/a")
    scripted.script(then_close(b""))
    with pytest.raises(ConnectionFailedError) as closed:
        client.request("DELETE", "/v1/runs/a")
    texts = [repr(client), str(client), repr(vars(client)), repr(vars(client.runs)), caplog.text]
    for error in (raised.value, broken.value, closed.value):
        texts += [str(error), repr(error), repr(vars(error))]
        # Everything that a crash report with local variables shows, except this test's own variables.
        texts += [str(frame.locals) for frame in frames_of(error) if frame.name != test_the_key_is_in_no_text.__name__]
        texts += ["".join(traceback.format_exception(error))]
    assert not [text for text in texts if KEY in text]
    assert "Trying again" in caplog.text
    client.close()


def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pem = Path(__file__).parent / "self-signed.pem"
    context.load_cert_chain(pem)
    server = ScriptedServer(context)
    server.script(FOUND)
    with pytest.raises(ConnectionFailedError, match="certificate"):
        get(server)
    assert (server.received, server.connections) == ([], 1)
    trusting = ssl.create_default_context(cafile=pem)
    assert get(server, ssl_context=trusting) == []
    server.stop()


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with Presage(url, KEY, retries=0) as client, pytest.raises(ConnectionFailedError, match=url) as raised:
        client.predict("a", "b")
    assert raised.value.was_sent is False
