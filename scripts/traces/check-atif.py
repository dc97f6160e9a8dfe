"""Whether harbor's models read an export as it should be: check-atif.py EXPORT EXPECTATIONS"""

import json
import sys
from pathlib import Path

from harbor.models.trajectories import Trajectory


def shown(step):
    [result] = step.observation.results
    called = [[call.function_name, call.arguments] for call in step.tool_calls or []]
    return [*(called or [["", step.message]])[0], result.content]


lines = Path(sys.argv[1]).read_text().splitlines()
trajectories = [Trajectory.model_validate_json(line) for line in lines]
found = [shown(step) for one in trajectories for step in one.steps if step.source == "agent"]
if found != json.loads(Path(sys.argv[2]).read_text()):
    sys.exit(f"it has {found}")
