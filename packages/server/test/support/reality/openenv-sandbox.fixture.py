"""The sandbox behind the server of openenv-core: openenv-sandbox.fixture.py PORT."""

import sys
from typing import Any

import uvicorn
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
from sandbox_world import World


class Act(Action):
    message: str


class Seen(Observation):
    prompt: str


class Sandbox(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed=None, episode_id=None, task: Any = None, **_: Any) -> Seen:
        self.world = World(task)
        return Seen(prompt=self.world.state, reward=None, done=False)

    def step(self, action: Act, timeout_s=None, **_: Any) -> Seen:
        observation, reward, done = self.world.step(action.message)
        return Seen(prompt=observation, reward=reward, done=done)

    @property
    def state(self) -> State:
        return State()


app = create_fastapi_app(Sandbox, Act, Seen, max_concurrent_envs=64)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
