"""Takes one step with each of the public clients of the Open Reward Standard: ors-observation.fixture.py URL KEY. Prints the observations as JSON."""

import asyncio
import json
import sys

from ors.client import ORS, AsyncORS

url, key = sys.argv[1:]
ACTION = {"action": "look"}


def look():
    with ORS(base_url=url, api_key=key) as client, client.environment("sandbox").session(split="train", index=0) as session:
        return session.call_tool("act", ACTION).blocks[0].text


async def look_asynchronously():
    client = AsyncORS(base_url=url, api_key=key)
    async with client.environment("sandbox").session(split="train", index=0) as session:
        return (await session.call_tool("act", ACTION)).blocks[0].text


print(json.dumps([look(), asyncio.run(look_asynchronously())]))
