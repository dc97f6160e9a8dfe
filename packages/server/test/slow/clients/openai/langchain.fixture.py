import json

from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import APIStatusError


@tool
def temperature(city: str) -> str:
    """The temperature in a city."""
    return "21"


def model(**more):
    return ChatOpenAI(model="test-model", use_responses_api=False, **more)


def streamed(chat):
    return "".join(chunk.text for chunk in chat.stream(asked))


def status_of(call):
    try:
        call(model(api_key="wrong"))
    except APIStatusError as error:
        return error.status_code


asked = [SystemMessage("Be brief."), HumanMessage([{"type": "text", "text": "Look."}])]
with_tools = model().bind_tools([temperature])
called = with_tools.invoke(asked)
results = [ToolMessage(temperature.invoke(call["args"]), tool_call_id=call["id"]) for call in called.tool_calls]
print(json.dumps({
    "plain": model().invoke(asked).text,
    "streamed": streamed(model(stream_usage=True)),
    "tool": with_tools.invoke([*asked, called, *results]).text,
    "statuses": [status_of(lambda chat: chat.invoke(asked)), status_of(streamed)],
}))
