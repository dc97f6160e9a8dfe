"""The client: one method or resource for each thing that Presage does."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from typing import Any

from ._call import DEFAULT_RETRIES, DEFAULT_TIMEOUT_S, Call, evaluate_call, predict_call, server_of
from ._connections import Connections
from .comparison import Comparison
from .episode import Episode, start_call
from .resources import Datasets, Runs, compare_call
from .types import Evaluation, Prediction, Split


class Presage:
    """A Presage server. It may be shared by threads, and keeps connections open between calls.

    Without `url` and `key` they are PRESAGE_URL and PRESAGE_API_KEY. `timeout_s` limits a call with its retries.
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
        self._connections = Connections(server_of(url, key), timeout_s, retries, ssl_context)
        self.datasets = Datasets(self._connections)
        self.runs = Runs(self._connections)

    def __repr__(self) -> str:
        return f"Presage({self._connections.server.url!r})"

    def __enter__(self) -> Presage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that wait for a call. The client can still be used."""
        self._connections.close()

    def predict(
        self,
        state: str,
        action: str,
        *,
        context: Mapping[str, str | None] | None = None,
        params: Mapping[str, Any] | None = None,
        deployment: str | None = None,
        session_id: str | None = None,
        timeout_s: float | None = None,
    ) -> Prediction:
        """The state after an action: `POST /v1/predict`."""
        return self._connections.send(predict_call(state, action, context, params, deployment, session_id), timeout_s)

    def evaluate(
        self,
        evaluators: Sequence[str | Mapping[str, Any]],
        *,
        idempotency_key: str | None = None,
        timeout_s: float | None = None,
        **fields: Any,
    ) -> list[Evaluation]:
        """One verdict for each evaluator on `evaluated_model_output=…` and further fields: `POST /v1/evaluate`."""
        return self._connections.send(evaluate_call(evaluators, fields, idempotency_key), timeout_s)["results"]

    def episode(
        self, environment: str, *, split: Split | None = None, index: int | None = None, seed: int | None = None
    ) -> Episode:
        """Starts an episode, to be used in a `with` statement: `POST /v1/episodes`."""
        return Episode(self._connections, self._connections.send(start_call(environment, split, index, seed)))

    def compare(self, reference: str | Mapping[str, Any], *candidates: str | Mapping[str, Any]) -> Comparison:
        """Compares runs with the first one, and shows itself as a table: `GET /v1/comparisons`."""
        return Comparison(self._connections.send(compare_call(reference, *candidates)))

    def request(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Any other call, such as `request("GET", "/v1/environments")`. Only a GET is sent again after a cut."""
        return self._connections.send(Call(method, path, body, query, is_repeatable=method == "GET"))
