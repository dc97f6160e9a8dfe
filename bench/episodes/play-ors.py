"""Plays episodes at once with the public client of the Open Reward Standard. Prints each one's id and what it saw, as JSON."""

import asyncio
import json
import sys

from ors.client import AsyncORS

url, key, episodes, pause = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
actions = sys.argv[5:]


async def play(environment, index):
    async with environment.session(split="train", index=0) as session:
        await session.get_prompt()
        seen = []
        for action in actions:
            output = await session.call_tool("act", {"action": f"{action} of {index}"})
            text = output.blocks[0].text if output.blocks else None
            seen.append({"text": text, "reward": output.reward, "error": output.metadata.get("error")})
            if output.finished:
                break
            await asyncio.sleep(pause)
        return {"id": session.sid.split(".")[0], "seen": seen, "finished": output.finished}


async def play_all():
    client = AsyncORS(base_url=url, api_key=key)
    environment = client.environment("proof")
    played = await asyncio.gather(*(play(environment, index) for index in range(episodes)))
    print(json.dumps(played))


asyncio.run(play_all())
