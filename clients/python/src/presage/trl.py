"""Presage's environments for the `environment_factory` of TRL's GRPO trainer."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

from ._call import part
from .client import Episode, Presage, Split, Step
from .errors import PresageError, UnavailableError
from .resources import PASSING

_OVER = "The episode is over."
Policy = str | Callable[[], str] | None


class TextEnvironment:
    """One rollout at a time: TRL calls `reset` with a row of the dataset, and offers `act` to the model as a tool."""

    def __init__(
        self, client: Presage, environment: str, split: Split, patience_s: float, policy: Policy = None
    ) -> None:
        self._client, self._environment, self._patience_s, self._policy = client, environment, patience_s, policy
        self._split: Split = split
        self._episode: Episode | None = None
        self._failure: PresageError | None = None
        self._is_unscored = False

    def reset(
        self,
        split: Split | None = None,
        index: int | None = None,
        seed: int | None = None,
        policy: str | None = None,
        **_: Any,
    ) -> str:
        started_at = monotonic()
        self._episode, self._failure, self._is_unscored = None, None, False
        while True:
            try:
                wanted: Split = split or self._split
                label = policy or (self._policy() if callable(self._policy) else self._policy)
                self._episode = self._client.episode(
                    self._environment, split=wanted, index=index, seed=seed, policy=label
                )
                break
            except PASSING as error:
                self._wait(started_at, error)
        return "\n\n".join(text for text in (self._episode.prompt, self._episode.observation) if text)

    def act(self, action: str) -> str:
        """Act in the world.

        Args:
            action: What to do, in a few words.

        Returns:
            What can be seen afterwards.
        """
        if self._failure is not None:
            raise self._failure
        if self._episode is None or self._episode.is_over:
            return _OVER
        try:
            step = self._step(self._episode, action)
        except PresageError as error:
            # The model's own mistake, such as an empty action: the model is told, and the rollout counts.
            if not _is_about_action(error):
                self._failure = error  # The rollout gets no reward, so nothing is learned from the failure.
            raise
        self._is_unscored |= step["info"].get("reward_error") is not None
        return f"{step['observation']}\n\n{_OVER}" if self._episode.is_over else step["observation"]

    def get_reward(self) -> float | None:
        """The sum of the rewards. None leaves the rollout out: a step failed, or its reward could not be computed."""
        if self._failure is not None or self._is_unscored or self._episode is None:
            return None
        return self._episode.reward

    def _step(self, episode: Episode, action: str) -> Step:
        started_at = monotonic()
        while True:
            try:
                return episode.step(action)
            except PASSING as error:
                self._wait(started_at, error)

    def _wait(self, started_at: float, error: PresageError) -> None:
        """Waits before another try; raises the error if it took too long or another try cannot help."""
        # A server that is unsure whether it stored a step can tell by the step's key.
        is_hopeless = error.should_retry is False and not isinstance(error, UnavailableError)
        remaining_s = self._patience_s - (monotonic() - started_at)
        if is_hopeless or remaining_s <= 0:
            raise error
        sleep(max(1.0, min(error.retry_after_s or 0.0, remaining_s)))


@dataclass
class EnvironmentFactory:
    """Makes a trainer's environments, which share one client's connections."""

    name: str
    split: Split
    patience_s: float
    url: str | None
    key: str | None = field(repr=False)
    policy: Policy = None

    def __post_init__(self) -> None:
        self._client: Presage | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_client": None}

    def __call__(self) -> TextEnvironment:
        self._client = self._client or Presage(self.url, self.key)
        return TextEnvironment(self._client, self.name, self.split, self.patience_s, self.policy)


def environment(
    name: str = "sandbox",
    *,
    split: Split = "train",
    patience_s: float = 300.0,
    policy: Policy = None,
    url: str | None = None,
    key: str | None = None,
) -> EnvironmentFactory:
    """The argument of `GRPOTrainer(environment_factory=…)`. A step that fails is tried again for `patience_s`.

    `policy` labels the agent, such as `lambda: f"step-{trainer.state.global_step}"`.
    """
    return EnvironmentFactory(name, split, patience_s, url, key, policy)


def tasks(name: str = "sandbox", *, split: Split = "train", url: str | None = None, key: str | None = None) -> Any:
    """A `train_dataset` with a row for each task, so that all rollouts of a group have the same task."""
    with Presage(url, key) as client:
        count: int = client.request("GET", f"/v1/environments/{part(name)}")["tasks"].get(split, 0)
    if count == 0:
        raise ValueError(f"The environment {name} has no tasks in the split {split}.")
    prompt = [{"role": "user", "content": ""}]
    rows = [{"prompt": prompt, "split": split, "index": index} for index in range(count)]
    return importlib.import_module("datasets").Dataset.from_list(rows)


def _is_about_action(error: PresageError) -> bool:
    return bool(error.issues) and all(list(issue.get("loc") or [])[:2] == ["body", "action"] for issue in error.issues)
