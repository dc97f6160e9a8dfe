import json

from story import CALLS, FOUND, LAST, MISSING, SYSTEM, TASK, save

functions = {key: {"name": "shell", "arguments": json.dumps(call)} for key, call in CALLS.items()}
try:
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.trace import Trace
except ImportError:  # Before 0.2 a rollout was a row.
    from verifiers.utils.eval_utils import make_dataset

    calls = [{"id": key, "type": "function", "function": function} for key, function in functions.items()]
    results = {
        "example_id": [0],
        "prompt": [[{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]],
        "completion": [
            [
                {"role": "assistant", "content": "", "tool_calls": calls},
                {"role": "tool", "tool_call_id": "c1", "content": FOUND},
                {"role": "tool", "tool_call_id": "c2", "content": MISSING},
                {"role": "assistant", "content": LAST},
            ]
        ],
        "answer": ["drawer"],
        "task": ["keys"],
        "info": [{}],
        "reward": [1.0],
        "metrics": {},
        "state": [{"timing": dict.fromkeys(["generation_ms", "scoring_ms", "total_ms"], 1.0)}],
        "metadata": {"state_columns": []},
    }
    save(*(json.dumps(row) for row in make_dataset(results)))
else:
    calls = [{"id": key, **function} for key, function in functions.items()]
    messages = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": TASK},
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": FOUND},
        {"role": "tool", "tool_call_id": "c2", "content": MISSING},
        {"role": "assistant", "content": LAST},
    ]
    nodes = [MessageNode(parent=place - 1 if place else None, message=one) for place, one in enumerate(messages)]
    trace = Trace(
        task={"type": "Keys", "data": {"idx": 0}},
        agent={"config": {"model": "m1"}},
        nodes=nodes,
        rewards={"found": {"score": 1.0}},
        is_completed=True,
    )
    save(trace.model_dump_json())
