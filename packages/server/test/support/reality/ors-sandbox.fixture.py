"""The sandbox behind the server of ors-sdk: ors-sandbox.fixture.py PORT."""

import asyncio
import sys

import uvicorn
from ors import Environment, Server, TextBlock, ToolOutput, tool
from pydantic import BaseModel
from sandbox_world import World


class Act(BaseModel):
    action: str


class Sandbox(Environment):
    def setup(self):
        self.world = World(self.task_spec)

    def get_prompt(self):
        return [TextBlock(text=self.world.state)]

    @classmethod
    def list_tasks(cls, split):
        return []

    @classmethod
    def list_splits(cls):
        return ["test"]

    @tool
    async def act(self, params: Act) -> ToolOutput:
        """Does something in the environment."""
        observation, reward, done = await asyncio.to_thread(self.world.step, params.action)
        return ToolOutput(blocks=[TextBlock(text=observation)], reward=reward, finished=done)


uvicorn.run(Server([Sandbox]).app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
