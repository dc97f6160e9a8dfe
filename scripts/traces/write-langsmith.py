import json
from contextlib import suppress

from langsmith import Client, traceable
from langsmith.run_helpers import tracing_context
from langsmith.schemas import Run
from story import CALLS, SYSTEM, TASK, save
from story import shell as run

runs = {}


class Kept(Client):
    """A client that sends nothing."""

    def create_run(self, name, inputs, run_type, **rest):
        runs[rest["id"]] = {**rest, "name": name, "inputs": inputs, "run_type": run_type}

    def update_run(self, run_id, **rest):
        runs[run_id].update({key: value for key, value in rest.items() if value is not None})


shell = traceable(run_type="tool", name="shell")(run)


@traceable(run_type="llm", name="m1", metadata={"ls_model_name": "m1"})
def chat(messages):  # noqa: ARG001
    called = [
        {"id": key, "type": "function", "function": {"name": "shell", "arguments": json.dumps(call)}}
        for key, call in CALLS.items()
    ]
    usage = {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}
    return {"choices": [{"message": {"role": "assistant", "tool_calls": called}}], "usage_metadata": usage}


@traceable(name="finder")
def agent(input):  # noqa: A002, ARG001
    chat([{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}])
    for call in CALLS.values():
        with suppress(OSError):
            shell(**call)


client = Kept(api_key="none", api_url="http://127.0.0.1:9", auto_batch_tracing=False)
with tracing_context(enabled=True, client=client):
    agent(TASK)
fields = getattr(Run, "model_fields", None) or Run.__fields__
kept = [Run(**{key: value for key, value in run.items() if key in fields}) for run in runs.values()]
save(*(run.model_dump_json(exclude_none=True) if hasattr(run, "model_dump_json") else run.json() for run in kept))
