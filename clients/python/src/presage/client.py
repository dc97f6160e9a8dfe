"""The client, with one method or resource for each thing that Presage does."""

import secrets
import ssl
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from ._call import DEFAULT_RETRIES, DEFAULT_TIMEOUT_S, Call, Item, part, server_of, some, write
from ._connections import Connections
from .comparison import Comparison
from .labels import Labels
from .resources import Datasets, Runs, named

__all__ = ["Episode", "Prediction", "Presage", "Step"]
Split = Literal["train", "validation", "test"]


class Prediction(TypedDict):
    """The state is `response["content"]`; `usage` counts tokens: `prompt_tokens` and `completion_tokens`."""

    response: dict[str, str]
    reasoning: str | None
    finish_reason: str | None
    usage: dict[str, int]
    matched_stop: int | str | None


class Step(TypedDict):
    """`reward` is None if the step has none; if it should have one, `info["reward_error"]` says why not."""

    observation: str
    reward: float | None
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class Presage(Labels):
    """A Presage server. Threads may share it, and it keeps connections open between calls.

    `url` and `key` default to PRESAGE_URL and PRESAGE_API_KEY. `timeout_s` limits a call including its retries.
    All calls raise a `PresageError` if they fail, and a ValueError if they cannot be sent.
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
        self.url = self._connections.server.url
        self.datasets, self.runs = Datasets(self._connections), Runs(self._connections)

    def __repr__(self) -> str:
        return f"Presage({self.url!r})"

    def __enter__(self) -> "Presage":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the idle connections. The client can still be used."""
        self._connections.close()

    def predict(
        self, state: str, action: str, *, deployment: str | None = None, session_id: str | None = None, **fields: Any
    ) -> Prediction:
        """The state after an action: `POST /v1/predict`. Further fields are `context` and `params`."""
        return self._connections.send(predict_call(state, action, deployment, session_id, fields))

    def evaluate(
        self, evaluators: Sequence[Item] | Item, *, idempotency_key: str | None = None, **fields: Any
    ) -> list[dict[str, Any]]:
        """One verdict for each evaluator on `evaluated_model_output=…` and further fields: `POST /v1/evaluate`."""
        return self._connections.send(evaluate_call(evaluators, idempotency_key, fields))["results"]

    def episode(
        self,
        environment: str,
        *,
        split: Split | None = None,
        index: int | None = None,
        seed: int | None = None,
        task: Mapping[str, Any] | None = None,
        policy: str | None = None,
    ) -> "Episode":
        """Starts an episode, for use in a `with` statement: `POST /v1/episodes`. `task` brings its own task."""
        wanted = some(environment=environment, split=split, index=index, seed=seed, task=task, policy=policy)
        return Episode(self._connections, self._connections.send(write("/v1/episodes", wanted)))

    def compare(self, reference: Item, *candidates: Item) -> Comparison:
        """Compares runs with the first one; the result is shown as a table: `GET /v1/comparisons`."""
        runs = ",".join(map(part, (reference, *candidates)))
        return Comparison(self._connections.send(Call("GET", "/v1/comparisons", query={"runs": runs})))

    def request(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Any other call: `request("GET", "/v1/environments")`. Only a GET is retried if the connection breaks."""
        return self._connections.send(other_call(method, path, body, query))


class EpisodeState:
    """An episode's state, with and without asyncio. `reward` is the sum of the rewards so far."""

    id, reward, steps, is_over = "", 0.0, 0, False

    def __init__(self, started: Mapping[str, Any]) -> None:
        self.id: str = started["episode_id"]
        self.observation: str = started["observation"]
        self.info: dict[str, Any] = started["info"]
        self.prompt: str | None = self.info["prompt"]
        self._name = secrets.token_hex(16)

    def __repr__(self) -> str:
        return f"<episode {self.id}: {self.steps} steps{', over' if self.is_over else ''}>"

    def _step_call(self, action: str) -> Call:
        # One key for each step of the episode, so that a step whose answer was lost is not taken twice.
        return write(f"/v1/episodes/{part(self.id)}/step", {"action": action}, f"{self._name}-{self.steps + 1}")

    def _take(self, step: Step) -> Step:
        self.steps += 1
        self.observation = step["observation"]
        self.reward += step["reward"] or 0.0
        self.is_over = step["terminated"] or step["truncated"]
        return step


class Episode(EpisodeState):
    """An agent's attempt at a task. An unfinished episode expires on the server after 15 minutes."""

    def __init__(self, connections: Connections, started: Mapping[str, Any]) -> None:
        super().__init__(started)
        self._connections = connections

    def __enter__(self) -> "Episode":
        return self

    def __exit__(self, *_: object) -> None:
        """Does nothing: an episode holds no resources, and leaving its block does not end it."""

    def step(self, action: str) -> Step:
        """Acts. If this raises, the episode is where it was before, and only the same action can be sent again."""
        return self._take(self._connections.send(self._step_call(action)))


def predict_call(
    state: str, action: str, deployment: str | None, session_id: str | None, fields: Mapping[str, Any]
) -> Call:
    body = {"interaction": {"state": state, "action": action}, **fields}
    return Call("POST", "/v1/predict", body, headers={"x-presage-deployment": deployment, "x-session-id": session_id})


def evaluate_call(evaluators: Sequence[Item] | Item, idempotency_key: str | None, fields: Mapping[str, Any]) -> Call:
    return write("/v1/evaluate", {"evaluators": named(evaluators), **fields}, idempotency_key)


def other_call(method: str, path: str, body: Any, query: Mapping[str, Any]) -> Call:
    return Call(method.upper(), path, body, query, is_repeatable=method.upper() == "GET")
