import shutil
import sys
import tempfile

import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import ToolError, tool
from story import CALLS, LAST, SYSTEM, TASK
from story import shell as run


@tool
def shell():
    async def execute(cmd: str) -> str:
        """Runs a command.

        Args:
            cmd: The command.
        """
        try:
            return run(cmd)
        except OSError as error:
            raise ToolError(str(error)) from error

    return execute


outputs = [ModelOutput.for_tool_call("mockllm/model", "shell", call) for call in CALLS.values()]
outputs.append(ModelOutput.from_content("mockllm/model", LAST))
for output in outputs:  # Otherwise the newest versions count tokens, with a file that they fetch.
    output.usage = ModelUsage(input_tokens=12, output_tokens=3, total_tokens=15)
model = get_model("mockllm/model", custom_outputs=outputs)
task = inspect_ai.Task(
    dataset=[Sample(id="k1", input=TASK, target="drawer")],
    solver=[system_message(SYSTEM), use_tools(shell()), generate()],
    scorer=includes(),
    name="keys",
)
with tempfile.TemporaryDirectory() as folder:
    [log] = inspect_ai.eval(task, model=model, log_dir=folder, log_format="eval", display="none")
    shutil.copy(log.location.removeprefix("file://"), sys.argv[1])
