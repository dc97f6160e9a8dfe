"""Connections that threads share, and calls with a deadline over them."""

import io
import os
import selectors
import socket
import ssl
import weakref
from collections import deque
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import TIMEOUT_MAX
from time import monotonic, sleep
from typing import Any, cast
from urllib.parse import urlsplit

from ._call import MAX_RESPONSE_BYTES, TOO_LONG, Call, Server, pause_before_retry
from .errors import ConnectionFailedError, PresageError, TimedOutError, TooLargeError

_MAX_IDLE = 256


class _Limited(io.RawIOBase):
    """A socket that never waits past the deadline of the call that uses it, however slowly bytes arrive."""

    deadline = 0.0

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        weakref.finalize(self, sock.close).atexit = False

    def sendall(self, data: Any) -> None:
        self._limit().sendall(data)

    def makefile(self, *_: object) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        return self._limit().recv_into(buffer)

    def close(self) -> None:
        """Does nothing: reading a response ends with a close, but the connection stays open."""

    def is_usable(self) -> bool:
        """Whether the server has neither closed the connection nor sent anything unsolicited."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.sock, selectors.EVENT_READ)
            return not selector.select(0)

    def _limit(self) -> socket.socket:
        if (remaining_s := self.deadline - monotonic()) <= 0:
            raise TimeoutError
        self.sock.settimeout(remaining_s)
        return self.sock


class Connections:
    def __init__(self, server: Server, timeout_s: float, retries: int, context: ssl.SSLContext | None) -> None:
        self.server, self.timeout_s, self.retries, self._context = server, timeout_s, retries, context
        self._idle: deque[_Limited] = deque()  # Its methods need no lock, which a fork could leave locked.
        self._process = os.getpid()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().sock.close()

    def send(self, call: Call) -> Any:
        """Sends a call until it succeeds, must not be sent again, or runs out of time."""
        deadline = monotonic() + min(call.timeout_s or self.timeout_s, TIMEOUT_MAX)
        retry = 0
        while True:
            try:
                return self.server.read(*self._exchange(call, deadline))
            except PresageError as error:
                pause_s = pause_before_retry(error, call, retry, deadline - monotonic())
                if retry >= self.retries or pause_s is None:
                    raise
            sleep(pause_s)
            retry += 1

    def _exchange(self, call: Call, deadline: float) -> tuple[int, dict[str, str], bytes]:
        url = urlsplit(self.server.url)
        target, content, headers = call.request(self.server.key)
        connected = self._take()
        is_reused, is_answered = connected is not None, False
        try:
            connection = HTTPConnection(url.netloc)
            limited = connected = connected or self._connect(url.netloc, url.scheme, deadline)
            limited.deadline = deadline
            cast(Any, connection).sock = limited
            try:
                connection.request(call.method, url.path + target, content, headers)
            except ConnectionError:
                if not content:
                    raise
                # A server that refuses a body responds and closes before it has read all of it.
            response = connection.getresponse()
            is_answered = True
            received = call.receive(response)
            if response.length or response.read(1):
                raise TooLargeError(TOO_LONG) if len(received) >= MAX_RESPONSE_BYTES else HTTPException("cut off")
        except BaseException as error:  # An interrupted exchange leaves an unusable connection.
            if connected is not None:
                connected.sock.close()
            # The server may close an idle connection just as the next call comes.
            if is_reused and not is_answered and call.is_repeatable and isinstance(error, ConnectionError):
                return self._exchange(call, deadline)
            if isinstance(error, TimeoutError):
                message = f"Presage at {self.server.url} did not respond within {call.timeout_s or self.timeout_s:g} s."
                raise TimedOutError(message, was_sent=connected is not None) from None
            if not isinstance(error, (OSError, HTTPException)):
                raise
            # Show neither the frames that sent the key nor a response that is not HTTP, which may repeat it.
            cause = error.with_traceback(None) if isinstance(error, OSError) else None
            raise self._lost(cause, connected is not None, is_answered) from cause
        if response.will_close or len(self._idle) >= _MAX_IDLE:
            limited.sock.close()
        else:
            self._idle.append(limited)
        return response.status, {name.lower(): value for name, value in response.headers.items()}, received

    def _take(self) -> _Limited | None:
        if self._process != os.getpid():  # After a fork, the sockets belong to the parent.
            self._idle, self._process = deque(), os.getpid()
        with suppress(IndexError):
            while not (limited := self._idle.pop()).is_usable():
                limited.sock.close()
            return limited
        return None

    def _connect(self, netloc: str, scheme: str, deadline: float) -> _Limited:
        remaining_s = max(0.001, deadline - monotonic())
        connection = HTTPConnection(netloc, timeout=remaining_s)
        if scheme == "https":
            self._context = self._context or ssl.create_default_context()
            connection = HTTPSConnection(netloc, timeout=remaining_s, context=self._context)
        connection.connect()
        return _Limited(connection.sock)

    def _lost(self, cause: OSError | None, was_sent: bool, is_answered: bool) -> ConnectionFailedError:
        if is_answered:
            return ConnectionFailedError(f"The response of {self.server.url} was cut off.")
        message = f"Presage cannot be reached at {self.server.url}: {cause or 'what answers does not speak HTTP'}."
        is_final = isinstance(cause, ssl.SSLCertVerificationError)
        return ConnectionFailedError(message, was_sent=was_sent, should_retry=False if is_final else None)
