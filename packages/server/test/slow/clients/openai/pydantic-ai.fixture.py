import asyncio
import json

from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def temperature(city: str) -> str:
    """The temperature in a city."""
    return "21"


def agent(tools=(), provider="openai"):
    return Agent(OpenAIChatModel("test-model", provider=provider), instructions="Be brief.", tools=tools)


async def plain(agent):
    return (await agent.run(["Look.", "Around."])).output


async def streamed(agent):
    async with agent.run_stream("Look.") as result:
        return "".join([text async for text in result.stream_text(delta=True)])


async def status_of(call):
    try:
        await call(agent(provider=OpenAIProvider(api_key="wrong")))
    except ModelHTTPError as error:
        return error.status_code


async def main():
    print(json.dumps({
        "plain": await plain(agent()),
        "streamed": await streamed(agent()),
        "tool": await plain(agent([temperature])),
        "statuses": [await status_of(plain), await status_of(streamed)],
    }))


asyncio.run(main())
