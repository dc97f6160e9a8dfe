from harbor.models.trajectories import Agent, Metrics, Observation, ObservationResult, Step, ToolCall, Trajectory
from story import CALLS, FOUND, LAST, MISSING, SYSTEM, TASK, save


def step(number: int, call: str, answer: str) -> Step:
    return Step(
        step_id=number,
        timestamp="2026-01-01T10:00:00Z",
        source="agent",
        message="",
        tool_calls=[ToolCall(tool_call_id=call, function_name="shell", arguments=CALLS[call])],
        observation=Observation(results=[ObservationResult(source_call_id=call, content=answer)]),
        metrics=Metrics(prompt_tokens=12, completion_tokens=3),
    )


trajectory = Trajectory(
    session_id="run",
    agent=Agent(name="finder", version="1", model_name="m1"),
    steps=[
        Step(step_id=1, source="system", message=SYSTEM),
        Step(step_id=2, source="user", message=TASK),
        step(3, "c1", FOUND),
        step(4, "c2", MISSING),
        Step(step_id=5, source="agent", message=LAST),
    ],
)
save(trajectory.model_dump_json())
