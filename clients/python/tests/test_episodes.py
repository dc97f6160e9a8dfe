import pytest

from presage import ConflictError, ConnectionFailedError, NotFoundError, Presage, UnavailableError
from servers import LosingProxy, ScriptedServer, response

STARTED = {"episode_id": "e", "observation": "A room.", "info": {"prompt": None}}
STEP = {"observation": "B", "reward": None, "terminated": False, "truncated": False, "info": {"reward_error": None}}


def test_an_agent_succeeds_at_a_task_of_the_sandbox(presage: Presage) -> None:
    with presage.episode("sandbox", index=0) as episode:
        assert episode.prompt
        first = episode.observation
        step = episode.step("look around")
        assert (step["reward"], episode.observation, episode.is_over) == (None, step["observation"], False)
        step = episode.step("activate lantern")
    assert first
    assert (step["reward"], step["terminated"], episode.is_over, episode.reward) == (1, True, True, 1.0)
    assert presage.request("GET", f"/v1/episodes/{episode.id}")["outcome"] == "success"
    with pytest.raises(ConflictError):
        episode.step("look around")


def test_a_seed_draws_the_same_task(presage: Presage) -> None:
    tasks = [presage.episode("sandbox", split="test", seed=7).info["index"] for _ in range(2)]
    assert tasks[0] == tasks[1]
    with pytest.raises(NotFoundError):
        presage.episode("no-such-environment")


def test_a_step_whose_response_is_lost_is_taken_once(presage: Presage) -> None:
    proxy = LosingProxy(presage.url)
    with Presage(proxy.url) as client, client.episode("sandbox", index=0) as episode:
        proxy.to_lose = 1
        episode.step("look around")
        assert proxy.lost == 1
        assert len(presage.request("GET", f"/v1/episodes/{episode.id}")["steps"]) == 1
    # Without retries the caller sends the action again, and it is the same step.
    with Presage(proxy.url, retries=0) as client, client.episode("sandbox", index=0) as episode:
        proxy.to_lose = 2
        with pytest.raises(ConnectionFailedError):
            episode.step("look around")
        assert episode.steps == 0
        episode.step("look around")
        assert episode.steps == 1
        assert len(presage.request("GET", f"/v1/episodes/{episode.id}")["steps"]) == 1
    proxy.stop()


def test_each_step_has_a_key_of_its_own(scripted: ScriptedServer) -> None:
    failed = response(503, {"detail": "The model is busy."}, retry_after="0")
    scripted.script(response(200, STARTED), failed, response(200, STEP), failed, failed, failed, response(200, STEP))
    with Presage(scripted.url, "a-key") as client, client.episode("sandbox") as episode:
        episode.step("a")
        with pytest.raises(UnavailableError):
            episode.step("b")
        assert (episode.steps, episode.observation) == (1, "B")
        episode.step("c")
    keys = [received.headers["idempotency-key"] for received in scripted.received][1:]
    assert keys[0] == keys[1] != keys[2]
    # Everything sent for the second step is a single step for the server.
    assert len(set(keys[2:])) == 1


def test_an_episode_may_bring_its_task(scripted: ScriptedServer) -> None:
    scripted.script(response(200, STARTED))
    with Presage(scripted.url, "a-key") as client, client.episode("sandbox", task={"initial_state": "a hall"}):
        pass
    assert scripted.received[0].body == {"environment": "sandbox", "task": {"initial_state": "a hall"}}


def test_an_episode_that_is_left_is_not_over(scripted: ScriptedServer) -> None:
    scripted.script(response(200, STARTED), response(200, STEP))
    with Presage(scripted.url, "a-key") as client:
        with client.episode("sandbox") as episode:
            episode.step("a")
        assert (episode.steps, episode.is_over) == (1, False)
