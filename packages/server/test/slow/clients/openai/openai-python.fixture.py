import json

from openai import APIStatusError, OpenAI

parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "temperature", "parameters": parameters}}]
asked = [{"role": "developer", "content": [{"type": "text", "text": "Be brief."}]}, {"role": "user", "content": "Look."}]


def chat(client, **more):
    return client.chat.completions.create(model="test-model", **{"messages": asked, **more})


def plain(client, **more):
    return chat(client, **more).choices[0].message


def streamed(client):
    chunks = chat(client, stream=True, stream_options={"include_usage": True})
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def status_of(call):
    try:
        call(OpenAI(api_key="wrong"))
    except APIStatusError as error:
        return error.status_code


client = OpenAI()
called = plain(client, tools=tools)
result = {"role": "tool", "tool_call_id": called.tool_calls[0].id, "content": "21"}
print(json.dumps({
    "plain": plain(client).content,
    "streamed": streamed(client),
    "tool": plain(client, tools=tools, messages=[*asked, called, result]).content,
    "statuses": [status_of(plain), status_of(streamed)],
}))
