"""Plays episodes with the public client of the Open Reward Standard, as its users do. Prints what it saw as JSON."""

import asyncio
import json
import sys

from ors.client import ORS, AsyncORS

url, key, episodes = sys.argv[1], sys.argv[2], int(sys.argv[3])


def ask_synchronously():
    with ORS(base_url=url, api_key=key) as client:
        sandbox = client.environment("sandbox")
        task = sandbox.get_task("test", 0)
        with sandbox.session(task=task, secrets={"token": "thrown-away"}) as session:
            tools = [tool["name"] for tool in session.list_tools(format="openai")]
            output = session.call_tool("act", {"action": "focus on lantern"})
            try:
                session.call_tool("fly", {})
            except Exception as error:
                refusal = f"{type(error).__name__}: {error}"
        return {
            "splits": sandbox.list_splits(),
            "tasks": len(sandbox.list_tasks("train")),
            "num_tasks": sandbox.num_tasks("test"),
            "range": [task.task_spec["index"] for task in sandbox.get_task_range("train", start=-2)],
            "tools": tools,
            "reward": output.reward,
            "finished": output.finished,
            "refusal": refusal,
        }


async def play(sandbox, index):
    """By the task or by its place, in turns."""
    chosen = {"task": await sandbox.get_task("train", 0)} if index % 2 else {"split": "train", "index": 0}
    async with sandbox.session(**chosen) as session:
        prompt = await session.get_prompt()
        assert prompt[0].text.startswith("Turn on the lantern.\n\n"), prompt
        outputs = [
            await session.call_tool("act", {"action": action})
            for action in ["look around", "look around", "activate lantern"]
        ]
    return {
        "id": session.sid.split(".")[0],
        "observations": [output.blocks[0].text for output in outputs],
        "rewards": [output.reward for output in outputs],
        "finished": [output.finished for output in outputs],
    }


async def play_all():
    client = AsyncORS(base_url=url, api_key=key)
    sandbox = client.environment("sandbox")
    return await asyncio.gather(*(play(sandbox, index) for index in range(episodes)))


print(json.dumps({"asked": ask_synchronously(), "played": asyncio.run(play_all())}))
