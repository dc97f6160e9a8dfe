import asyncio
import json

from agents import Agent, Runner, function_tool, set_default_openai_api, set_default_openai_key
from openai import APIStatusError

set_default_openai_api("chat_completions")


@function_tool
def temperature(city: str) -> str:
    """The temperature in a city."""
    return "21"


def agent(*tools):
    return Agent(name="guide", instructions="Be brief.", model="test-model", tools=list(tools))


async def plain(*tools):
    return (await Runner.run(agent(*tools), "Look.")).final_output


async def streamed():
    run = Runner.run_streamed(agent(), "Look.")
    deltas = [event.data.delta async for event in run.stream_events()
              if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"]
    return "".join(deltas)


async def status_of(call):
    try:
        await call()
    except APIStatusError as error:
        return error.status_code


async def main():
    answers = {"plain": await plain(), "streamed": await streamed(), "tool": await plain(temperature)}
    set_default_openai_key("wrong")
    print(json.dumps({**answers, "statuses": [await status_of(plain), await status_of(streamed)]}))


asyncio.run(main())
