"""An episode: an agent's attempt at a task."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from ._call import Call, part, some, write
from ._connections import Connections
from .types import Split, Step


def start_call(environment: str, split: Split | None, index: int | None, seed: int | None) -> Call:
    return write("/v1/episodes", some(environment=environment, split=split, index=index, seed=seed))


class EpisodeState:
    """Where an episode stands: the same with and without asyncio. `reward` is the sum of the rewards so far."""

    def __init__(self, started: Mapping[str, Any]) -> None:
        self.id: str = started["episode_id"]
        self.observation: str = started["observation"]
        self.info: dict[str, Any] = started["info"]
        self.prompt: str | None = self.info["prompt"]
        self.reward, self.steps, self.is_over = 0.0, 0, False
        self._name = secrets.token_hex(16)

    def __repr__(self) -> str:
        return f"<episode {self.id}: {self.steps} steps{', over' if self.is_over else ''}>"

    def _step_call(self, action: str) -> Call:
        # A key for each place in the episode: a step whose answer was lost is not taken a second time.
        key = f"{self._name}-{self.steps + 1}"
        return write(f"/v1/episodes/{part(self.id)}/step", {"action": action}, key)

    def _take(self, step: Step) -> Step:
        self.steps += 1
        self.observation = step["observation"]
        self.reward += step["reward"] or 0.0
        self.is_over = step["terminated"] or step["truncated"]
        return step


class Episode(EpisodeState):
    """It ends with its block; one that was not finished can be read, and expires on the server after 15 minutes."""

    def __init__(self, connections: Connections, started: Mapping[str, Any]) -> None:
        super().__init__(started)
        self._connections = connections

    def __enter__(self) -> Episode:
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over = True

    def step(self, action: str, *, timeout_s: float | None = None) -> Step:
        """Acts. If this raises, the episode stands where it was, and the same action can be sent again."""
        return self._take(self._connections.send(self._step_call(action), timeout_s))
