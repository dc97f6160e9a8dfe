"""Plays episodes of the sandbox at once with OpenEnv's own client: openenv-client.fixture.py BASE_URL EPISODES."""

import asyncio
import json
import sys

import httpx
from openenv import GenericEnvClient

base_url, episodes = sys.argv[1], int(sys.argv[2])


async def as_verifiers_does():
    """The exchange of the OpenEnv task set in verifiers 0.4.0, for an agent that replies with bare texts."""
    async with GenericEnvClient(base_url=base_url) as client:
        http_url = client._base_url.replace("ws://", "http://", 1)
        async with httpx.AsyncClient(timeout=10, trust_env=False) as http:
            response = await http.get(f"{http_url}/schema")
            response.raise_for_status()
        schema = response.json()["action"]
        [field] = schema.get("required", [])
        result = await client.reset(index=0)
        prompt = result.observation["prompt"]
        total = 0.0
        for reply in ["look around", "activate lantern"]:
            result = await client.step({field: reply})
            total += result.reward or 0.0
        return {"title": schema.get("title"), "prompt": prompt, "reward": total, "done": result.done}


async def refused():
    async with GenericEnvClient(base_url=base_url) as client:
        try:
            await client.step({"message": "look around"})
        except RuntimeError as error:
            return str(error)


everybody_has_begun = asyncio.Event()
begun = 0


async def cut_between_steps(client, episode, last):
    """The client connects again by itself, and is told that it has no episode: no step is taken elsewhere."""
    client._ws.transport.abort()
    await client._ws.wait_closed()
    try:
        await client.step({"message": "activate lantern"})
        raise AssertionError("a step without an episode")
    except RuntimeError as error:
        assert "episode_id" in str(error), error
    continued = await client.reset(episode_id=episode)
    assert continued.observation == last.observation, (continued, last)


async def cut_in_a_step(client, episode, turns):
    """The continued episode says whether the step was taken; if not it is sent again, and is the second in either case."""
    step = asyncio.create_task(client.step({"message": "look around"}))
    for _ in range(turns):
        await asyncio.sleep(0)
    client._ws.transport.abort()
    await asyncio.gather(step, return_exceptions=True)
    for _ in range(10):
        continued = await client.reset(episode_id=episode)
        if continued.observation["metadata"]["step"] == 2:
            return
        try:
            await client.step({"message": "look around"})
        except RuntimeError as error:
            # The step whose connection was cut is being stored.
            assert "EXECUTION_ERROR" in str(error), error
    raise AssertionError(f"{episode} does not go on")


async def play(number):
    global begun
    client = GenericEnvClient(base_url=base_url)
    started = await client.reset(index=number % 16)
    begun += 1
    if begun == episodes:
        everybody_has_begun.set()
    await everybody_has_begun.wait()
    first = await client.step({"message": "look around"})
    episode = started.observation["metadata"]["episode_id"]
    if number % 10 == 0:
        client._ws.transport.abort()
        client = GenericEnvClient(base_url=base_url)
        continued = await client.reset(episode_id=episode)
        assert continued.observation == first.observation, (continued, first)
    if number % 10 == 5:
        await cut_between_steps(client, episode, first)
    if number % 10 == 7:
        await cut_in_a_step(client, episode, number // 10 % 5)
    second = await client.step({"message": "look around"})
    assert second.observation["prompt"] == first.observation["prompt"], (first, second)
    state = await client.state()
    await client.close()
    return state["step_count"]


async def main():
    exchange = await as_verifiers_does()
    refusal = await refused()
    steps = await asyncio.gather(*(play(number) for number in range(episodes)))
    print(json.dumps({"exchange": exchange, "refusal": refusal, "steps": steps}))


asyncio.run(main())
