"""ScienceWorld, which needs Java, behind the server of openenv-core: python server.py [PORT]."""

import sys
from typing import Any

import uvicorn
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
from scienceworld import ScienceWorldEnv

# A simulator is a Java process that takes seconds to start, so the one of a closed session serves the next session.
idle: list[ScienceWorldEnv] = []


class Act(Action):
    message: str


class Seen(Observation):
    prompt: str


class ScienceWorld(Environment):
    """An episode of a task's variation. The rewards are what its score, which ends at 100, rises by."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self.simulator: ScienceWorldEnv | None = None

    def reset(self, seed=None, episode_id=None, task="", variation=0, gold=False, **_: Any) -> Seen:
        if self.simulator is None:
            self.simulator = idle.pop() if idle else ScienceWorldEnv()
        self.simulator.load(task, variation, generateGoldPath=gold)
        self.simulator.server.reset()
        self.score = 0
        return Seen(prompt=self.simulator.server.step("look around"), reward=None, done=False)

    def step(self, action: Act, timeout_s=None, **_: Any) -> Seen:
        # The package's own step also lists all valid actions, which takes most of its time.
        simulator = self.simulator.server
        prompt = simulator.step(action.message)
        before, self.score = self.score, round(100 * simulator.getScore())
        return Seen(prompt=prompt, reward=self.score - before, done=simulator.getCompleted() or self.score < 0)

    def close(self) -> None:
        if self.simulator is not None:
            idle.append(self.simulator)
            self.simulator = None

    @property
    def state(self) -> State:
        return State()


if __name__ == "__main__":
    app = create_fastapi_app(ScienceWorld, Act, Seen, max_concurrent_envs=8)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]) if len(sys.argv) > 1 else 8000, log_level="warning")
