from contextlib import suppress

from openinference.instrumentation import (
    Message,
    TokenCount,
    Tool,
    ToolCall,
    ToolCallFunction,
    TracerProvider,
    get_llm_attributes,
)
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from story import CALLS, SYSTEM, TASK, TOOL, save, shell

provider, memory = TracerProvider(), InMemorySpanExporter()
provider.add_span_processor(SimpleSpanProcessor(memory))
tracer = provider.get_tracer("finder")
calls = [ToolCall(id=key, function=ToolCallFunction(name="shell", arguments=call)) for key, call in CALLS.items()]
chat = get_llm_attributes(
    model_name="m1",
    input_messages=[Message(role="system", content=SYSTEM), Message(role="user", content=TASK)],
    output_messages=[Message(role="assistant", tool_calls=calls)],
    token_count=TokenCount(prompt=12, completion=3),
    tools=[Tool(json_schema=TOOL)],
)
run = tracer.tool(name="shell", description="Runs a command.")(shell)


@tracer.agent(name="finder")
def agent(_task: str) -> None:
    with tracer.start_as_current_span("llm", openinference_span_kind="llm") as span:
        span.set_attributes(chat)
    for call in CALLS.values():
        with suppress(OSError):
            run(**call)


agent(TASK)
save(*(span.to_json(indent=None) for span in memory.get_finished_spans()))
