"""Presage's environments for Gymnasium: observations and actions are texts."""

from typing import Any

import gymnasium
from gymnasium import spaces

from .client import Episode, Presage, Split, Step
from .errors import PresageError

_NOT_REPEATED = ("latency_ms", "cached_tokens", "prediction_id")


class RewardError(PresageError, category="reward"):
    """The step was taken, but its reward could not be computed. `step` is the server's response."""

    step: Step


class AnyText(spaces.Text):
    """Any text within a range of lengths. Only samples are limited to certain characters."""

    def __init__(self, max_length: int, *, min_length: int = 0, longest_sample: int = 40) -> None:
        super().__init__(max_length, min_length=min_length)
        self._longest_sample = min(longest_sample, max_length)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        length = int(self.np_random.integers(self.min_length, self._longest_sample + 1))
        return super().sample((length, None))

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length

    def __repr__(self) -> str:
        return f"AnyText({self.min_length}, {self.max_length})"


class TextEnv(gymnasium.Env[str, str]):
    """An environment of a Presage server.

    `reset(seed=…)` draws the same task for the same seed; `reset(options={"index": 3})` picks it, also with a `split`,
    a `policy` or a `task` of its own. `policy` labels the agent.
    The agent's instructions are in `info["prompt"]`. A step that fails raises, and can be taken again: a failure is
    never an observation. If the world abstains, the episode is truncated without a reward: `info["reward_error"]`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self,
        environment: str = "sandbox",
        *,
        client: Presage | None = None,
        split: Split = "train",
        policy: str | None = None,
        render_mode: str | None = None,
        max_observation_chars: int = 1_000_000,
    ) -> None:
        self.environment, self.split, self.policy, self.render_mode = environment, split, policy, render_mode
        self.client = client or Presage()
        self.observation_space = AnyText(max_observation_chars)
        self.action_space = AnyText(100_000, min_length=1)
        self.episode: Episode | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        wanted = options or {}
        index, task = wanted.get("index"), wanted.get("task")
        # A picked task needs no seed; without one, equal steps are predicted once and then cached.
        is_drawn = seed is not None or (index is None and task is None)
        self.episode = self.client.episode(
            self.environment,
            split=wanted.get("split", None if task else self.split),
            index=index,
            task=task,
            seed=int(self.np_random.integers(2**53)) if is_drawn else None,
            policy=wanted.get("policy", self.policy),
        )
        return self.episode.observation, self.episode.info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if self.episode is None:
            raise gymnasium.error.ResetNeeded("Call reset() before step().")
        step = self.episode.step(action)
        reason = step["info"].get("reward_error")
        # A world that abstains truncates the episode for the same reason.
        if reason is not None and reason != step["info"].get("stop_reason"):
            raise RewardError(f"The step has no reward: {reason}", step=step)
        info = {name: value for name, value in step["info"].items() if name not in _NOT_REPEATED}
        # None: the step has no reward, like all but the last step with an outcome reward.
        return step["observation"], step["reward"] or 0.0, step["terminated"], step["truncated"], info

    def render(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.episode.observation if self.render_mode == "ansi" and self.episode else None

    def close(self) -> None:
        self.client.close()
