import json

from openhands.sdk import Action, Message, Observation, TextContent
from openhands.sdk.event import ActionEvent, AgentErrorEvent, MessageEvent, ObservationEvent, SystemPromptEvent
from openhands.sdk.llm import MessageToolCall
from story import CALLS, FOUND, LAST, MISSING, SYSTEM, TASK, save


class ShellAction(Action):
    cmd: str


class ShellObservation(Observation):
    pass


def said(source: str, role: str, text: str) -> MessageEvent:
    return MessageEvent(source=source, llm_message=Message(role=role, content=[TextContent(text=text)]))


def acted(key: str) -> ActionEvent:
    return ActionEvent(
        thought=[],
        action=ShellAction(**CALLS[key]),
        tool_name="shell",
        tool_call_id=key,
        tool_call=MessageToolCall(id=key, name="shell", arguments=json.dumps(CALLS[key]), origin="completion"),
        llm_response_id=f"response-{key}",
    )


first, second = acted("c1"), acted("c2")
seen = ShellObservation.from_text(FOUND)
events = [
    SystemPromptEvent(system_prompt=TextContent(text=SYSTEM), tools=[]),
    said("user", "user", TASK),
    first,
    ObservationEvent(tool_name="shell", tool_call_id="c1", action_id=first.id, observation=seen),
    second,
    AgentErrorEvent(tool_name="shell", tool_call_id="c2", error=MISSING),
    said("agent", "assistant", LAST),
]
save(*(event.model_dump_json(exclude_none=True) for event in events))
