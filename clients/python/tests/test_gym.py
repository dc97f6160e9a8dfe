import warnings
from uuid import uuid4

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

from presage import Presage, UpstreamError
from presage.gym import RewardError, TextEnv
from servers import ScriptedServer, response

STARTED = {"episode_id": "e", "observation": "A room.", "info": {"prompt": None}}
STEP = {"observation": "B", "reward": None, "terminated": False, "truncated": False, "info": {"reward_error": None}}


def test_gymnasium_finds_nothing_wrong(presage: Presage) -> None:
    gymnasium.register(  # pyright: ignore[reportUnknownMemberType]
        "presage/Text-v0", entry_point="presage.gym:TextEnv", disable_env_checker=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make("presage/Text-v0", render_mode="ansi").unwrapped)
    presage.close()


def test_an_agent_succeeds() -> None:
    env = TextEnv("sandbox")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step("look around")
    observation, info = env.reset(options={"index": 0})
    assert observation in env.observation_space
    assert info["prompt"]
    _, reward, terminated, truncated, info = env.step("look around")
    assert (reward, terminated, truncated) == (0.0, False, False)
    _, reward, terminated, _, info = env.step("activate lantern")
    assert (reward, terminated, info["outcome"]) == (1.0, True, "success")
    env.close()


def test_seeds_draw_tasks_as_gymnasium_means_it() -> None:
    env = TextEnv("sandbox")
    first = [env.reset(seed=3)[1]["index"], *(env.reset()[1]["index"] for _ in range(7))]
    again = [env.reset(seed=3)[1]["index"], *(env.reset()[1]["index"] for _ in range(7))]
    assert first == again
    assert len(set(first)) > 1
    env.close()


def test_an_observation_may_have_any_character(presage: Presage) -> None:
    name = f"letters-{uuid4()}"
    presage.request("POST", "/v1/environments", {"name": name})
    presage.request("POST", f"/v1/environments/{name}/tasks", '{"initial_state": "好\\n🙂"}\n'.encode())
    envs = SyncVectorEnv([lambda: TextEnv(name)] * 2)
    observations, _ = envs.reset(seed=1)
    assert list(observations) == ["好\n🙂"] * 2
    envs.step(("warte", "待つ"))
    envs.close()


def test_an_episode_is_labelled_and_has_a_seed_only_if_it_draws(scripted: ScriptedServer) -> None:
    env = TextEnv("sandbox", client=Presage(scripted.url, "a-key"), policy="step-1")
    scripted.script(*[response(200, STARTED)] * 3)
    env.reset(options={"index": 3})
    env.reset(options={"task": {"initial_state": "A room."}, "policy": "step-2"})
    env.reset()
    named, own, drawn = (request.body for request in scripted.received)
    assert named == {"environment": "sandbox", "split": "train", "index": 3, "policy": "step-1"}
    assert own == {"environment": "sandbox", "task": {"initial_state": "A room."}, "policy": "step-2"}
    assert "seed" in drawn
    env.close()


def test_a_failure_is_no_observation(scripted: ScriptedServer) -> None:
    env = TextEnv("sandbox", client=Presage(scripted.url, "a-key"))
    failed = {**STEP, "reward": None, "info": {"reward_error": "The judge failed."}}
    scripted.script(response(200, STARTED), response(502, {}), response(200, STEP), response(200, failed))
    env.reset()
    with pytest.raises(UpstreamError):
        env.step("a")
    assert env.step("a")[:2] == ("B", 0.0)
    with pytest.raises(RewardError, match="judge failed") as raised:
        env.step("b")
    assert (raised.value.step["observation"], raised.value.category) == ("B", "reward")
    env.close()


def test_a_world_that_abstains_truncates(scripted: ScriptedServer) -> None:
    env = TextEnv("sandbox", client=Presage(scripted.url, "a-key"))
    info = {"reward_error": "The world is not sure.", "stop_reason": "The world is not sure."}
    scripted.script(response(200, STARTED), response(200, {**STEP, "truncated": True, "info": info}))
    env.reset()
    assert env.step("a") == ("B", 0.0, False, True, info)
    env.close()
