"""The client for asyncio, for thousands of parallel calls. For datasets, runs and comparisons use `presage.Presage`."""

import asyncio
import ssl
from collections import deque
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import anyio
import httpx

from ._call import (
    DEFAULT_RETRIES,
    DEFAULT_TIMEOUT_S,
    MAX_RESPONSE_BYTES,
    TOO_LONG,
    Call,
    Item,
    pause_before_retry,
    server_of,
    some,
    write,
)
from .client import EpisodeState, Prediction, Split, Step, evaluate_call, other_call, predict_call
from .errors import ConnectionFailedError, PresageError, TimedOutError, TooLargeError

IDLE_S = 25.0  # The server closes a connection after 30 s.


class AsyncPresage:
    """A Presage server, for one event loop at a time. Takes the same arguments as `presage.Presage`.

    Each waiting call has a connection, which is an open file: many systems allow 1,024 (`ulimit -n`).
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        retries: int = DEFAULT_RETRIES,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._server, self._timeout_s, self._retries = server_of(url, key), timeout_s, retries
        self._context = ssl_context or ssl.create_default_context()
        # One connection each: a pool of thousands looks at all of them for each call and takes longer than the calls.
        self._all: set[httpx.AsyncHTTPTransport] = set()
        self._idle: deque[tuple[float, httpx.AsyncHTTPTransport]] = deque()  # With the time since when, longest first.
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"AsyncPresage({self._server.url!r})"

    async def __aenter__(self) -> "AsyncPresage":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections, including those in use. Another event loop can use the client afterwards."""
        self._check_loop()
        self._idle.clear()
        while self._all:
            await self._all.pop().aclose()
        self._loop = None

    async def predict(
        self, state: str, action: str, *, deployment: str | None = None, session_id: str | None = None, **fields: Any
    ) -> Prediction:
        """The state after an action: `POST /v1/predict`. Further fields are `context` and `params`."""
        return await self._send(predict_call(state, action, deployment, session_id, fields))

    async def evaluate(
        self, evaluators: Sequence[Item] | Item, *, idempotency_key: str | None = None, **fields: Any
    ) -> list[dict[str, Any]]:
        """One verdict for each evaluator on `evaluated_model_output=…` and further fields: `POST /v1/evaluate`."""
        return (await self._send(evaluate_call(evaluators, idempotency_key, fields)))["results"]

    def episode(
        self,
        environment: str,
        *,
        split: Split | None = None,
        index: int | None = None,
        seed: int | None = None,
        task: Mapping[str, Any] | None = None,
        policy: str | None = None,
    ) -> "AsyncEpisode":
        """An episode, for use in an `async with` statement: `POST /v1/episodes`. `task` brings its own task."""
        wanted = some(environment=environment, split=split, index=index, seed=seed, task=task, policy=policy)
        return AsyncEpisode(self, write("/v1/episodes", wanted))

    async def request(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Any other call, like `Presage.request`."""
        return await self._send(other_call(method, path, body, query))

    async def _send(self, call: Call) -> Any:
        deadline = monotonic() + self._timeout_s
        retry = 0
        while True:
            try:
                return await self._send_once(call, deadline - monotonic())
            except PresageError as error:
                pause_s = pause_before_retry(error, call, retry, deadline - monotonic())
                if retry >= self._retries or pause_s is None:
                    raise
            await asyncio.sleep(pause_s)
            retry += 1

    async def _send_once(self, call: Call, remaining_s: float) -> Any:
        url = self._server.url
        try:
            # Not asyncio.wait_for: before Python 3.12 it loses a cancellation that comes with the response.
            with anyio.fail_after(remaining_s):
                answer = await self._exchange(call)
        except TimeoutError:
            raise TimedOutError(f"Presage at {url} did not respond within {self._timeout_s:g} s.") from None
        except httpx.ConnectError as error:
            root = _root_of(error).with_traceback(None)
            is_final = isinstance(root, ssl.SSLCertVerificationError)
            message = f"Presage cannot be reached at {url}: {root}."
            raise ConnectionFailedError(message, was_sent=False, should_retry=False if is_final else None) from root
        except (httpx.HTTPError, OSError):
            # Show neither the frames that sent the key nor a response that is not HTTP, which may repeat it.
            message = f"The connection to {url} broke, or what answers does not speak HTTP."
            raise ConnectionFailedError(message) from None
        return self._server.read(*answer)

    async def _exchange(self, call: Call) -> tuple[int, Mapping[str, str], bytes]:
        target, content, headers = call.request(self._server.key)
        request = httpx.Request(call.method, self._server.url + target, content=content, headers=headers)
        self._check_loop()
        await self._close_idle()
        connection = self._idle.pop()[1] if self._idle else self._new()
        try:
            response = await connection.handle_async_request(request)
            try:
                body = bytearray()
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > MAX_RESPONSE_BYTES:
                        raise TooLargeError(TOO_LONG)
            finally:
                await response.aclose()
        finally:
            if connection in self._all:
                self._idle.append((monotonic(), connection))
        return response.status_code, response.headers, bytes(body)

    def _new(self) -> httpx.AsyncHTTPTransport:
        limits = httpx.Limits(max_connections=None, keepalive_expiry=IDLE_S)
        connection = httpx.AsyncHTTPTransport(verify=self._context, limits=limits, trust_env=False)
        self._all.add(connection)
        return connection

    def _check_loop(self) -> None:
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if self._loop is not loop:
            raise RuntimeError("This client has connections of another event loop: close it there, or make another.")

    async def _close_idle(self) -> None:
        """Closes what the server closes too: each of thousands of connections would otherwise stay an open file."""
        while self._idle and monotonic() - self._idle[0][0] > IDLE_S:
            _, connection = self._idle.popleft()
            self._all.discard(connection)
            await connection.aclose()


class AsyncEpisode(EpisodeState):
    """An episode that starts on entering its `async with` block."""

    def __init__(self, client: AsyncPresage, call: Call) -> None:
        self._send, self._call = client._send, call  # pyright: ignore[reportPrivateUsage]

    async def __aenter__(self) -> "AsyncEpisode":
        super().__init__(await self._send(self._call))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Does nothing: an episode holds no resources, and leaving its block does not end it."""

    async def step(self, action: str) -> Step:
        """Acts. If this raises, the episode is where it was before, and the same action can be sent again."""
        if not self.id:
            raise RuntimeError("Start the episode with `async with`.")
        return self._take(await self._send(self._step_call(action)))


def _root_of(error: BaseException) -> BaseException:
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    return error
