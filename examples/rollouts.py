"""Plays 2,000 rollouts at once against the world model, as an agent's training run does.

Needs a running server, its key in PRESAGE_API_KEY, and aiohttp (pip install aiohttp):

    python3 examples/rollouts.py [URL] [ROLLOUTS]

httpx fails here with its defaults: it opens 100 connections, and a request that has waited 5 s for one raises PoolTimeout. Of
500 predictions of 2 s each, 400 failed so. It needs limits=httpx.Limits(max_connections=None) and timeout=150.
"""
import asyncio
import os
import random
import resource
import sys
import time
from collections import Counter

import aiohttp

ACTIONS = ["open fridge", "look around", "close fridge"]
# 429: a rate limit. 502, 503, 504: the model failed, is busy, was too slow. All others are about the request itself, which would
# get them again: 401 a wrong key, 413 too long for the model, 422 not valid.
RETRIED = {429, 502, 503, 504}
TRIES = 8
retries = Counter()


async def predict(session, state, action):
    """The next state. A prediction changes nothing on the server, so it may be repeated after a lost connection too."""
    body = {"interaction": {"state": state, "action": action}, "params": {"max_tokens": 64}}
    for attempt in range(TRIES):
        pause = random.uniform(0.5, 1) * 2**attempt
        try:
            async with session.post("/v1/predict", json=body) as response:
                if response.status == 200:
                    return (await response.json())["response"]["content"]
                reason = str(response.status)
                if response.status not in RETRIED or response.headers.get("x-should-retry") == "false":
                    raise RuntimeError(f"{reason}: {await response.text()}")
                stated = response.headers.get("Retry-After", "")
                if stated.isdigit():  # Not before it, and not all at the same moment.
                    pause = int(stated) + random.uniform(0, 0.5)
        except (aiohttp.ClientConnectionError, asyncio.TimeoutError) as error:
            reason = type(error).__name__
        retries[reason] += 1
        await asyncio.sleep(pause)
    raise RuntimeError(f"{TRIES} tries failed, the last one with {reason}")


async def rollout(session):
    state = "You are in the kitchen. The fridge is closed."
    for action in ACTIONS:
        state = await predict(session, state, action)


async def main(url="http://127.0.0.1:8080", count="2000"):
    key = os.environ.get("PRESAGE_API_KEY") or sys.exit("Set PRESAGE_API_KEY to the key that npm start printed.")
    # Each connection is an open file, and many systems allow 1,024 of them unless asked for more.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most if 0 < most < 10_000 else 10_000, most))
    connector = aiohttp.TCPConnector(limit=0)  # The default of 100 connections would make most rollouts wait.
    timeout = aiohttp.ClientTimeout(total=150)  # More than the server's 120 s, after which it says what was too slow.
    settings = {"headers": {"X-API-KEY": key}, "connector": connector, "timeout": timeout}
    started = time.monotonic()
    async with aiohttp.ClientSession(url, **settings) as session:
        ended = await asyncio.gather(*(rollout(session) for _ in range(int(count))), return_exceptions=True)
    failed = Counter(str(error) for error in ended if error is not None)
    seconds = time.monotonic() - started
    print(f"{len(ended)} rollouts in {seconds:.1f} s, {sum(failed.values())} failed, retries: {dict(retries)}")
    for error, times in failed.most_common(5):
        print(f"{times} × {error}")
    return 1 if failed else 0


sys.exit(asyncio.run(main(*sys.argv[1:])))
