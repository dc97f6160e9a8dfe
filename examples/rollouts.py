"""Plays 2,000 rollouts at once against the world model, as an agent's training run does.

    PRESAGE_API_KEY=psg_… python3 examples/rollouts.py [URL] [ROLLOUTS]     # needs aiohttp

httpx fails here with its defaults: of 500 predictions of 2 s each, 400 ended in PoolTimeout after 5 s of waiting for one of its
100 connections. It needs limits=httpx.Limits(max_connections=None) and timeout=150.
"""
import asyncio
import os
import random
import resource
import sys
import time
import uuid
from collections import Counter

if {"-h", "--help"} & set(sys.argv):
    print(__doc__.strip())
    sys.exit()

import aiohttp

RETRIED = {429, 502, 503, 504}  # A rate limit; the model failed, is busy, was too slow. Other errors would only repeat.
TRIES = 8
retries = Counter()


async def predict(session, state, action, rollout_id):
    """The next state. A prediction changes nothing on the server, so it may be repeated after a lost connection too."""
    headers = {"x-session-id": rollout_id}  # The replica that has the rollout's prefix in its cache is asked again.
    for attempt in range(TRIES):
        pause = 2**attempt
        try:
            body = {"interaction": {"state": state, "action": action}}
            async with session.post("/v1/predict", json=body, headers=headers) as response:
                if response.status == 200:
                    return (await response.json())["response"]["content"]
                reason = str(response.status)
                if response.status not in RETRIED or response.headers.get("x-should-retry") == "false":
                    raise RuntimeError(f"{reason}: {await response.text()}")
                after = response.headers.get("Retry-After", "")
                pause = float(after) if after.replace(".", "", 1).isdecimal() else pause  # A date is by another clock.
        except (aiohttp.ClientConnectionError, asyncio.TimeoutError) as error:
            reason = type(error).__name__
        retries[reason] += 1
        if attempt + 1 < TRIES:
            await asyncio.sleep(pause * random.uniform(1, 1.5))  # Not before Retry-After, and not all at once.
    raise RuntimeError(f"{TRIES} tries failed, the last one with {reason}")


async def rollout(session, state="You are in the kitchen. The fridge is closed."):
    rollout_id = uuid.uuid4().hex
    for action in ["open fridge", "look around", "close fridge"]:
        state = await predict(session, state, action, rollout_id)


async def main(url="http://127.0.0.1:8080", count="2000"):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)  # Each connection is an open file; many systems allow 1,024.
    resource.setrlimit(resource.RLIMIT_NOFILE, (most if 0 < most < 10_000 else 10_000, most))
    connector = aiohttp.TCPConnector(limit=0)  # With the default of 100 connections most rollouts would wait.
    timeout = aiohttp.ClientTimeout(total=150)  # More than the server's 120 s, after which it says what was too slow.
    settings = {"headers": {"X-API-KEY": os.environ["PRESAGE_API_KEY"]}, "connector": connector, "timeout": timeout}
    started = time.monotonic()
    async with aiohttp.ClientSession(url, **settings) as session:
        ended = await asyncio.gather(*(rollout(session) for _ in range(int(count))), return_exceptions=True)
    failed = Counter(str(error) for error in ended if error is not None)
    print(f"{len(ended)} rollouts in {time.monotonic() - started:.1f} s, {sum(failed.values())} failed, retries: {dict(retries)}")
    sys.exit("\n".join(f"{times} × {error}" for error, times in failed.most_common(5)) or 0)


asyncio.run(main(*sys.argv[1:]))
