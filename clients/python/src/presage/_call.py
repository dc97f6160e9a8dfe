"""Calls, how their responses are read and how their failures are judged, with and without asyncio."""

import json
import logging
import os
import random
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPResponse
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from .errors import ConnectionFailedError, PresageError, UnexpectedResponseError, read_error

DEFAULT_TIMEOUT_S = 130.0  # A little longer than the server's own deadline, so that its error arrives.
DEFAULT_RETRIES = 2
MAX_RETRY_AFTER_S = 60.0
MAX_RESPONSE_BYTES = 256 * 2**20
TOO_LONG = "The response is longer than 256 MiB."
Item = str | Mapping[str, Any]  # An id or a name, or an object that has one.
logger = logging.getLogger("presage")


class Hidden(str):
    """A string that debuggers and crash reports do not show."""

    def __repr__(self) -> str:
        return "'[hidden]'"


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    is_repeatable: bool = True  # Whether it may be sent again when it is unknown whether it took effect.
    timeout_s: float | None = None  # In place of the client's.

    def request(self, key: str | None) -> tuple[str, bytes | Iterator[bytes] | None, dict[str, str]]:
        """Path with query, body and headers. Bytes are sent as they are, anything else as JSON."""
        if not re.fullmatch("/[!-~]*", self.path):
            raise ValueError("path must begin with a slash, and be URL-encoded.")
        for name, value in self.headers.items():
            if not re.fullmatch("[ -~]*", value or ""):
                raise ValueError(f"The value of the header {name} must consist of visible ASCII characters.")
        texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in self.query.items()}
        query = urlencode(some(**texts))
        headers = dict.fromkeys(("accept", "content-type"), "application/json") | {"user-agent": "presage-client/0.1.0"}
        headers |= some(**self.headers, authorization=Hidden(f"Bearer {key}") if key else None)
        content = self.body if isinstance(self.body, bytes | None) else json.dumps(self.body, allow_nan=False).encode()
        return self.path + (f"?{query}" if query else ""), content, headers

    def receive(self, response: HTTPResponse) -> bytes:
        """The body of a response, or the beginning of one that is too long."""
        return b"".join(islice(iter(lambda: response.read(65_536), b""), MAX_RESPONSE_BYTES // 65_536))


@dataclass(frozen=True)
class Server:
    url: str
    key: Hidden | None

    def read(self, status: int, headers: Mapping[str, str], content: bytes) -> Any:
        """The response's JSON, or None if it is empty; raises the error that the response stands for."""
        if not 200 <= status < 300:
            headers = {name: self._hide(value) for name, value in headers.items()}
            text, content = self._hide(content.decode(errors="replace")), b""
            raise read_error(self.url, status, headers, text)
        try:
            return None if status == 204 else json.loads(content)
        except (ValueError, RecursionError):
            message = f"The response of {self.url} is not JSON; is this the URL of a Presage server?"
        raise UnexpectedResponseError(message, status=status, request_id=headers.get("x-request-id"))

    def _hide(self, text: str) -> str:
        return text.replace(self.key or "\0", "[API key]")


def server_of(url: str | None, key: str | None) -> Server:
    """The given server, otherwise the environment's; `/v1`, as OpenAI clients need it, may end its URL.

    Errors do not repeat the wrong value.
    """
    key = key or os.environ.get("PRESAGE_API_KEY") or None
    parts = urlsplit(url or os.environ.get("PRESAGE_URL") or "http://127.0.0.1:8080")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("url must be an http or https URL.")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("url must not contain credentials, a query or a fragment.")
    if key is not None and not re.fullmatch("[!-~]+", key):
        raise ValueError("key must consist of visible ASCII characters.")
    return Server(
        f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}", Hidden(key) if key else None
    )


def pause_before_retry(error: PresageError, call: Call, retry: int, remaining_s: float) -> float | None:
    """Seconds to wait before sending a call again; None if it must not be sent again."""
    may, after_s = error.should_retry is not False, error.retry_after_s
    is_lost = isinstance(error, ConnectionFailedError) and may and (call.is_repeatable or not error.was_sent)
    is_busy = error.category in ("rate_limit", "unavailable") and error.status != 507  # A full disk stays full.
    most_s = min(8.0, 0.5 * 2**retry) / 2 if after_s is None else min(0.5, after_s)  # Not all clients at once.
    pause_s = (most_s if after_s is None else after_s) + random.uniform(0, most_s)  # noqa: S311
    may_be_sent = is_lost or (is_busy and (call.is_repeatable or may))
    if not may_be_sent or (after_s or 0) > MAX_RETRY_AFTER_S or pause_s >= remaining_s:
        return None
    logger.info("%s %s failed: %s Trying again in %.1f s.", call.method, call.path, error, pause_s)
    return pause_s


def write(path: str, body: Any, idempotency_key: str | None = None) -> Call:
    """A call that takes effect once, however often it is sent: all its tries have the same key."""
    return Call("POST", path, body, headers={"idempotency-key": idempotency_key or secrets.token_hex(16)})


def some(**fields: Any) -> dict[str, Any]:
    """The fields that are given."""
    return {name: value for name, value in fields.items() if value is not None}


def part(item: Item) -> str:
    """One segment of a path."""
    try:
        return quote(item if isinstance(item, str) else str(item["id"]), safe="")
    except (KeyError, TypeError):
        raise TypeError(f"Give an id, or an object that has one, not {item!r}.") from None
