import json

from litellm import completion

parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "temperature", "parameters": parameters}}]
asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Look."}]}]


def chat(**more):
    return completion(model="openai/test-model", **{"messages": asked, **more})


def plain(**more):
    return chat(**more).choices[0].message


def streamed(**more):
    chunks = chat(stream=True, stream_options={"include_usage": True}, **more)
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def status_of(call):
    try:
        call(api_key="wrong")
    except Exception as error:
        return error.status_code


called = plain(tools=tools)
result = {"role": "tool", "tool_call_id": called.tool_calls[0].id, "content": "21"}
print(json.dumps({
    "plain": plain().content,
    "streamed": streamed(),
    "tool": plain(tools=tools, messages=[*asked, called, result]).content,
    "statuses": [status_of(plain), status_of(streamed)],
}))
