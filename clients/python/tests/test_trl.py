"""Environments as TRL's trainer uses them, without TRL and its gigabytes. `examples/grpo.py` uses TRL itself."""

import inspect
import pickle
from typing import Any

import pytest

from presage import ConflictError, InvalidRequestError, NotFoundError, UpstreamError
from presage.trl import TextEnvironment, environment, tasks
from servers import ScriptedServer, response

STARTED = {"episode_id": "e", "observation": "A room.", "info": {"prompt": "Leave it."}}
STEP = {"observation": "B", "reward": None, "terminated": False, "truncated": False, "info": {"reward_error": None}}


def members_of(made: object) -> list[str]:
    return [name for name, _ in inspect.getmembers(type(made), inspect.isfunction) if not name.startswith("_")]


def test_the_model_has_one_tool_and_the_environment_owns_the_reward() -> None:
    made = environment("sandbox")()
    assert members_of(made) == ["act", "get_reward", "reset"]
    signature = inspect.signature(made.act, eval_str=True)
    assert (signature.parameters["action"].annotation, signature.return_annotation) == (str, str)
    assert "action: What to do" in (inspect.getdoc(made.act) or "")


def test_a_rollout_is_rewarded() -> None:
    make = environment("sandbox")
    row: dict[str, Any] = {"prompt": [{"role": "user", "content": ""}], "split": "train", "index": 0}
    first, second = make(), make()
    told = first.reset(**row)
    assert told == second.reset(**row)
    assert "\n\n" in told
    first.act("look around")
    assert first.get_reward() == 0.0
    assert first.act("activate lantern").endswith("The episode is over.")
    assert first.act("look around") == "The episode is over."
    assert (first.get_reward(), second.get_reward()) == (1.0, 0.0)
    first.reset(**row)
    assert first.get_reward() == 0.0


def made_for(server: ScriptedServer, patience_s: float) -> TextEnvironment:
    return environment("sandbox", url=server.url, key="a-key", patience_s=patience_s)()


def test_nothing_is_learned_from_a_failure(scripted: ScriptedServer) -> None:
    made = made_for(scripted, 0)
    failed = response(502, {"detail": "No usable response."})
    scripted.script(response(200, STARTED), response(200, {**STEP, "reward": 1.0}), failed, response(200, STARTED))
    made.reset()
    made.act("a")
    assert made.get_reward() == 1.0
    for _ in range(2):
        with pytest.raises(UpstreamError):
            made.act("b")
    assert len(scripted.received) == 3
    assert made.get_reward() is None
    made.reset()
    assert made.get_reward() == 0.0


def test_an_action_that_is_none_is_the_models_own_mistake() -> None:
    made = environment("sandbox")()
    made.reset(index=0)
    with pytest.raises(InvalidRequestError, match="action"):
        made.act("")
    made.act("activate lantern")
    assert made.get_reward() == 1.0


def test_a_refusal_that_is_not_about_the_action_is_nobodys_mistake(scripted: ScriptedServer) -> None:
    made = made_for(scripted, 0)
    unpriced = {"type": "value_error", "loc": ["body", "model"], "msg": "The model has no price", "input": "m"}
    scripted.script(response(200, STARTED), response(422, {"detail": [unpriced]}))
    made.reset()
    with pytest.raises(InvalidRequestError):
        made.act("a")
    assert made.get_reward() is None


def test_a_reward_that_could_not_be_computed_leaves_the_rollout_out(scripted: ScriptedServer) -> None:
    made = made_for(scripted, 0)
    unscored = {**STEP, "info": {"reward_error": "The judge failed."}}
    scripted.script(response(200, STARTED), response(200, unscored), response(200, {**STEP, "reward": 1.0}))
    made.reset()
    for action in ("a", "b"):
        made.act(action)
        assert made.get_reward() is None


def test_a_rollout_that_could_not_begin_has_no_reward_of_the_one_before(scripted: ScriptedServer) -> None:
    made = made_for(scripted, 0)
    gone = response(404, {"detail": "There is no such environment."})
    scripted.script(response(200, STARTED), response(200, {**STEP, "reward": 1.0}), gone)
    made.reset()
    made.act("a")
    assert made.get_reward() == 1.0
    with pytest.raises(NotFoundError):
        made.reset()
    assert (made.act("b"), made.get_reward(), len(scripted.received)) == ("The episode is over.", None, 3)


def test_a_rollout_has_the_label_of_its_policy(scripted: ScriptedServer) -> None:
    made = environment("sandbox", url=scripted.url, key="a-key", policy=lambda: "step-1")()
    scripted.script(*[response(200, STARTED)] * 2)
    made.reset()
    made.reset(policy="step-2")
    assert [request.body["policy"] for request in scripted.received] == ["step-1", "step-2"]


def test_a_server_that_is_busy_is_waited_for(scripted: ScriptedServer) -> None:
    made = made_for(scripted, 30)
    busy = response(503, {"detail": "Busy."}, retry_after="0")
    failed = response(502, {"detail": "No usable response."})
    scripted.script(*[busy] * 4, response(200, STARTED), failed, response(200, STEP))
    assert made.reset() == "Leave it.\n\nA room."
    assert made.act("a") == "B"
    assert made.get_reward() == 0.0
    hopeless = response(502, {"detail": "The model refuses."}, x_should_retry="false")
    scripted.script(hopeless, response(409, {"detail": "Deleted."}))
    with pytest.raises(UpstreamError):
        made.act("b")
    assert made.get_reward() is None
    with pytest.raises(ConflictError):
        made.reset()


def test_the_key_is_not_shown_and_goes_with_the_factory() -> None:
    factory = environment("sandbox", url="http://localhost:1", key="psg_secret")
    assert "psg_secret" not in repr(factory)
    factory()
    assert isinstance(pickle.loads(pickle.dumps(factory))(), TextEnvironment)


def test_a_step_that_nobody_knows_of_is_sent_again(scripted: ScriptedServer) -> None:
    """The step has a key, so that it is taken once."""
    made = made_for(scripted, 30)
    unsure = response(503, {"detail": "Perhaps it was stored."}, x_should_retry="false", retry_after="0")
    scripted.script(response(200, STARTED), *[unsure] * 4, response(200, STEP))
    made.reset()
    assert made.act("a") == "B"
    keys = {received.headers["idempotency-key"] for received in scripted.received[1:]}
    assert (len(scripted.received), len(keys)) == (6, 1)


def test_a_split_without_tasks_is_said(scripted: ScriptedServer) -> None:
    scripted.script(response(200, {"name": "kitchen", "tasks": {"test": 3}}))
    with pytest.raises(ValueError, match="no tasks in the split train"):
        tasks("my kitchen", url=scripted.url, key="a-key")
    assert scripted.received[0].target == "/v1/environments/my%20kitchen"
