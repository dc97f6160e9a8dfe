"""Why a call failed, with one class for each thing that a program can do about it."""

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, cast
from urllib.parse import urljoin

__all__ = [
    "BudgetExhaustedError", "ConflictError", "ConnectionFailedError", "ContextExceededError", "ForbiddenError",
    "InvalidRequestError", "NotFoundError", "PresageError", "RateLimitError", "TimedOutError", "TooLargeError",
    "UnauthenticatedError", "UnavailableError", "UnexpectedResponseError", "UnusableCompletionError", "UpstreamError",
]  # fmt: skip

_classes: dict[int | tuple[int, str], "type[PresageError]"] = {}  # By status, or by status and category.


class PresageError(Exception):
    """Any failure of a call. `issues` come with a 422; `upstream_…` is the response of a model that failed."""

    category: str = "unexpected"
    status: int | None = None
    request_id: str | None = None  # Finds the request in the server's log.
    retry_after_s: float | None = None
    should_retry: bool | None = None
    upstream_status: int | None = None
    upstream_body: str | None = None
    issues: tuple[Mapping[str, Any], ...] = ()
    was_sent: bool = True  # Whether the server may have received the request.

    def __init_subclass__(cls, category: str, statuses: tuple[int | tuple[int, str], ...] = ()) -> None:
        cls.category = category
        _classes.update(dict.fromkeys(statuses, cls))

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.__dict__.update(fields)

    def __str__(self) -> str:
        said = [f"{name} {of}" for name, of in (("status", self.status), ("request", self.request_id)) if of]
        return f"{self.args[0]} ({', '.join(said)})" if said else str(self.args[0])


class InvalidRequestError(PresageError, category="invalid", statuses=(400, 405, 422)):
    """The request is wrong; `issues` says where."""


class UnauthenticatedError(PresageError, category="unauthenticated", statuses=(401,)):
    """The key is missing or not valid."""


class BudgetExhaustedError(PresageError, category="budget_exhausted", statuses=(402,)):
    """The monthly budget of the account or the key is spent."""


class ForbiddenError(PresageError, category="forbidden", statuses=(403,)):
    """The key lacks permission."""


class NotFoundError(PresageError, category="not_found", statuses=(404,)):
    """The object does not exist, or belongs to someone else."""


class ConflictError(PresageError, category="conflict", statuses=(409,)):
    """The object exists already, or is being changed."""


class TooLargeError(PresageError, category="too_large", statuses=(413,)):
    """The request or the response is larger than allowed."""


class ContextExceededError(PresageError, category="context_exceeded", statuses=((413, "context_exceeded"),)):
    """The input is longer than the model's context."""


class RateLimitError(PresageError, category="rate_limit", statuses=(429,)):
    """Too many requests; `retry_after_s` says how long to wait."""


class UpstreamError(PresageError, category="upstream", statuses=(502,)):
    """The model gave no usable response."""


class UnusableCompletionError(UpstreamError, category="unusable_completion", statuses=((502, "unusable_completion"),)):
    """The model answered, but with nothing that could be the next state."""


class UnavailableError(PresageError, category="unavailable", statuses=(503, 507)):
    """The model or the server is temporarily unavailable."""


class TimedOutError(PresageError, category="timeout", statuses=(408, 504)):
    """The time limit of the server, or of the call here, was reached."""


class ConnectionFailedError(PresageError, category="connection"):
    """The server was not reached, or its response was cut off."""


class UnexpectedResponseError(PresageError, category="unexpected"):
    """An internal error of the server, or a response that is not from Presage."""


def read_error(url: str, status: int, headers: Mapping[str, str], text: str) -> PresageError:
    try:
        parsed: Any = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    body = cast(dict[str, Any], parsed if isinstance(parsed, dict) else {})
    doubt = "; is this the URL of a Presage server?" if status in (404, 405, 501) else "."
    detail: Any = body.get("detail") or f"{url} responded with status {status}{doubt}"
    listed = cast(list[Any], detail if isinstance(detail, list) else [])
    issues = [cast(dict[str, Any], issue) for issue in listed if isinstance(issue, dict)]
    told = [f"{'.'.join(map(str, issue.get('loc') or []))}: {issue.get('msg')}" for issue in issues]
    told[3:] = [f"and {len(told) - 3} more"] if len(told) > 3 else []
    if 300 <= status < 400:  # Says where to, without the query, which may contain a secret.
        to = urljoin(url, headers.get("location", "")).partition("?")[0]
        detail = f"{url} redirects to {to}; is this the URL of a Presage server?"
    return _classes.get((status, str(body.get("category"))), _classes.get(status, UnexpectedResponseError))(
        "; ".join(told) or str(cast(Any, detail)),
        status=status,
        request_id=headers.get("x-request-id"),
        retry_after_s=_read_retry_after(headers.get("retry-after", "").strip(), headers.get("date")),
        should_retry={"true": True, "false": False}.get(headers.get("x-should-retry", "")),
        upstream_status=body.get("upstream_status"),
        upstream_body=body.get("upstream_body"),
        issues=tuple(issues),
    )


def _read_retry_after(text: str, date: str | None) -> float | None:
    """Seconds, from seconds or a date. A date is read by the server's clock, since the local one may be wrong."""
    try:
        if text.isascii() and text.replace(".", "", 1).isdigit():
            return float(text)
        now_s = parsedate_to_datetime(date).timestamp() if date else time()
        return max(0.0, parsedate_to_datetime(text).timestamp() - now_s)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
