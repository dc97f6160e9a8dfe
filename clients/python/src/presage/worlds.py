"""Worlds: predictions based on recorded transitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._call import part, some, write
from .client import Prediction, Presage
from .uploads import Source

__all__ = ["Answer", "World", "calibrate_world", "create_world"]
_MAX_HISTORY = 64


@dataclass(frozen=True)
class Answer:
    """A world's answer. Its `str()` is `text`."""

    text: str
    world: str  # NAME@NUMBER.
    answered_by: str  # A deployment, or "retrieval": the records alone.
    confidence: float | None  # How likely it is right; None if the world is not calibrated.
    abstained: bool  # Whether the confidence is lower than the world requires.
    examples: Sequence[Mapping[str, Any]]  # The most similar first; empty unless `explain` is set.
    prediction: Prediction  # The whole response.

    def __str__(self) -> str:
        return self.text


class World:
    """A world on a server, step by step: `World("shop@3").step(state, action)`. Without a number, the latest revision.

    The steps so far are in `history` and sent along; `reset` forgets them. Without a client, the server and the key
    come from PRESAGE_URL and PRESAGE_API_KEY.
    """

    def __init__(self, name: str, client: Presage | None = None, *, explain: bool = False) -> None:
        self.name, self.client, self.explain = name, client or Presage(), explain
        self.history: list[dict[str, str]] = []

    def __repr__(self) -> str:
        return f"World({self.name!r})"

    def step(self, state: str, action: str, **fields: Any) -> Answer:
        """The answer to an action in a state. Further fields are `context`, `params` and `exclude`.

        If this raises, the history is unchanged.
        """
        asked: dict[str, Any] = {
            "world": self.name,
            "history": self.history[-_MAX_HISTORY:],
            "explain": self.explain,
            **fields,
        }
        prediction: Any = self.client.predict(state, action, **asked)
        text, world = prediction["response"]["content"], prediction["world"]
        self.history.append({"action": action, "next_state": text})
        return Answer(
            text,
            f"{world['name']}@{world['revision']}",
            world["answered_by"],
            prediction.get("confidence"),
            prediction.get("abstained", False),
            prediction["explain"]["examples"] if "explain" in prediction else (),
            prediction,
        )

    def preview(
        self, state: str | None = None, action: str | None = None, *, sample: str | None = None, **fields: Any
    ) -> dict[str, Any]:
        """The messages that a step would send, and the examples in them. No model is asked.

        `sample="t-17/0"` is a recorded step of the world's dataset, used instead of a state and an action.
        """
        body: dict[str, Any] = {"sample": {"dataset_sample_id": sample}}
        if sample is None:
            body = {"interaction": {"state": state, "action": action}, "history": self.history[-_MAX_HISTORY:]}
        body |= fields
        return self.client.request("POST", f"/v1/worlds/{part(self.name)}/preview", body)

    def reset(self) -> None:
        self.history.clear()


def create_world(
    name: str,
    traces: Source | None = None,
    *,
    dataset: str | None = None,
    deployment: str | None = None,
    split: str | None = None,
    client: Presage | None = None,
    **config: Any,
) -> World:
    """Makes a world from recorded traces, which are first imported under its name, or from an existing dataset.

    Without a `deployment` it answers from its records alone. `split="train"` takes only samples with that tag. Further
    fields are those of `POST /v1/worlds`, such as `instructions` and `retrieval`.
    """
    client = client or Presage()
    if traces is not None:
        client.import_traces(traces, name=dataset or name)
    model = {"deployment": deployment} if deployment else {"kind": "retrieval"}
    wanted = {"name": name, "examples": some(dataset=dataset or name, split=split), "model": model, **config}
    made = client._connections.send(write("/v1/worlds", wanted))  # pyright: ignore[reportPrivateUsage]
    return World(f"{made['name']}@{made['revision']}", client)


def calibrate_world(
    name: str,
    run_id: str,
    *,
    split: str | None = None,
    evaluator: str | None = None,
    client: Presage | None = None,
) -> World:
    """Fits a world's confidences on a finished run of its latest revision, and returns the revision that has them.

    `split` takes only the run's samples with that tag. An answer is right if it passes `evaluator`: `exact-match`
    unless another evaluator of the run is named.
    """
    client = client or Presage()
    body = some(run_id=run_id, split=split, evaluator=evaluator)
    made = client.request("POST", f"/v1/worlds/{part(name)}/calibrations", body)
    return World(f"{made['name']}@{made['revision']}", client)
