import pytest

from presage import NotFoundError, Presage, PresageError, World, calibrate_world, create_world
from servers import ScriptedServer, response

RECORDED = [
    {
        "trajectory_id": f"shop-{thing}",
        "step": 0,
        "interaction": {"state": "The cart is empty.", "action": f"add {thing}"},
        "next_state": f"Added the {thing}.",
    }
    for thing in ("cup", "lamp")
]


def test_a_world_of_traces_answers_and_says_what_it_leaned_on(presage: Presage) -> None:
    world = create_world("python-shop", RECORDED, client=presage, retrieval={"k": 1})
    assert repr(world) == "World('python-shop@1')"
    world.explain = True
    answer = world.step("The cart is empty.", "add vase")
    assert (str(answer), answer.world, answer.answered_by) == ("Added the vase.", "python-shop@1", "retrieval")
    assert (answer.confidence, len(answer.examples)) == (None, 1)
    assert world.history == [{"action": "add vase", "next_state": "Added the vase."}]
    preview = world.preview("The cart is empty.", "add rug")
    assert preview["answer"] == "Added the rug."
    assert [message["content"] for message in preview["messages"]][-3:-1] == ["Action: add vase", "Added the vase."]
    assert world.preview(sample="shop-cup/0")["answer"] == "Added the cup."
    world.reset()
    assert world.history == []
    again = create_world("python-shop-2", dataset="python-shop", client=presage)
    assert again.step("The cart is empty.", "add cup").examples == ()
    with pytest.raises(NotFoundError):
        World("no-such-world", presage).step("a", "b")


def test_a_step_that_fails_leaves_the_history(scripted: ScriptedServer) -> None:
    world_of_it = {"name": "shop", "revision": 3, "answered_by": "qwen"}
    said = {"response": {"role": "assistant", "content": "Done."}, "confidence": 0.5, "world": world_of_it}
    scripted.script(response(200, said), response(413, {"detail": "Too long."}), response(200, said))
    with Presage(scripted.url, "a-key") as client:
        world = World("shop@3", client)
        assert world.step("a", "first").confidence == 0.5
        with pytest.raises(PresageError):
            world.step("a", "second")
        world.step("a", "third", exclude={"trajectory_ids": ["t"]})
    assert [one["action"] for one in world.history] == ["first", "third"]
    assert scripted.received[2].body == {
        "interaction": {"state": "a", "action": "third"},
        "world": "shop@3",
        "history": [{"action": "first", "next_state": "Done."}],
        "explain": False,
        "exclude": {"trajectory_ids": ["t"]},
    }


def test_a_world_is_calibrated_on_a_run(scripted: ScriptedServer) -> None:
    scripted.script(response(200, {"name": "shop", "revision": 4}))
    with Presage(scripted.url, "a-key") as client:
        assert calibrate_world("shop", "r", split="calibration", client=client).name == "shop@4"
    [asked] = scripted.received
    assert (asked.target, asked.body) == ("/v1/worlds/shop/calibrations", {"run_id": "r", "split": "calibration"})
