import json

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode
from story import CALLS, SYSTEM, TASK, TOOL, save, shell

provider, memory = TracerProvider(), InMemorySpanExporter()
provider.add_span_processor(SimpleSpanProcessor(memory))
tracer = provider.get_tracer("finder")
parts = [{"type": "tool_call", "id": key, "name": "shell", "arguments": call} for key, call in CALLS.items()]
chat = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m1",
    "gen_ai.usage.input_tokens": 12,
    "gen_ai.usage.output_tokens": 3,
    "gen_ai.system_instructions": json.dumps([{"type": "text", "content": SYSTEM}]),
    "gen_ai.tool.definitions": json.dumps([TOOL]),
    "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": TASK}]}]),
    "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts, "finish_reason": "tool_call"}]),
}
agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "finder"}
with tracer.start_as_current_span("invoke_agent finder", attributes=agent):
    with tracer.start_as_current_span("chat m1", attributes=chat):
        pass
    for key, call in CALLS.items():
        with tracer.start_as_current_span("execute_tool shell") as span:
            span.set_attribute("gen_ai.operation.name", "execute_tool")
            span.set_attribute("gen_ai.tool.name", "shell")
            span.set_attribute("gen_ai.tool.call.id", key)
            span.set_attribute("gen_ai.tool.call.arguments", json.dumps(call))
            try:
                span.set_attribute("gen_ai.tool.call.result", shell(**call))
            except OSError as error:
                span.set_status(Status(StatusCode.ERROR, str(error)))

spans = memory.get_finished_spans()
try:
    from opentelemetry.exporter.otlp.json.common.trace_encoder import encode_spans
except ImportError:  # This exporter is new. Before it, only the console exporter wrote JSON.
    save(*(span.to_json(indent=None) for span in spans))
else:
    save(encode_spans(spans).to_json())
