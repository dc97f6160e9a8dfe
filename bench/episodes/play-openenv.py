"""Plays episodes at once with OpenEnv's public client, connecting again whenever a socket is cut. Prints each one's id and what it saw, as JSON."""

import asyncio
import json
import sys

from openenv import GenericEnvClient
from websockets.exceptions import WebSocketException

url, key, episodes, pause = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
actions = sys.argv[5:]
base_url = url.replace("://", f"://any:{key}@") + "/v1/environments/proof/openenv"
CUT = (ConnectionError, OSError, WebSocketException)


async def reset(**place):
    """A client and the answer to its reset, after as many tries as that takes."""
    for _ in range(200):
        client = GenericEnvClient(base_url=base_url)
        try:
            return client, await client.reset(**place)
        except CUT:
            await asyncio.sleep(0.1)
    raise RuntimeError(f"no server for {place}")


async def play(index):
    client, result = await reset(split="train", index=0)
    episode = result.observation["metadata"]["episode_id"]
    seen = []
    while len(seen) < len(actions):
        try:
            result = await client.step({"message": f"{actions[len(seen)]} of {index}"})
        except (*CUT, RuntimeError) as error:
            # The client reconnects on its own if its socket was cut between two steps, and then has no episode.
            if isinstance(error, RuntimeError) and "This socket has no episode" not in str(error):
                raise
            client, result = await reset(episode_id=episode)
            # This is the lost answer, or the one before.
            if result.observation["metadata"]["step"] == len(seen):
                continue
        seen.append({"text": result.observation["prompt"], "reward": result.reward, "error": None})
        await asyncio.sleep(pause)
    await client.close()
    return {"id": episode, "seen": seen, "finished": result.done}


async def play_all():
    print(json.dumps(await asyncio.gather(*(play(index) for index in range(episodes)))))


asyncio.run(play_all())
