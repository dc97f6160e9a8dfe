"""How often success is real, as shown in a notebook."""

from presage import ConflictError, Presage
from presage.errors import read_error
from presage.reality import Reality, RealityAlarmError

PAIRS = [{"task_id": f"t{task}", "policy": "late", "simulated": True, "real": task >= 10} for task in range(40)]


def test_reality_is_a_table_with_its_sentence(presage: Presage) -> None:
    presage.request("POST", "/v1/reality-checks", {"name": "lab", "environment": "sandbox", "pairs": PAIRS})
    shown = presage.reality("sandbox", policy="late")
    assert shown.data["counts"]["only_simulated"] == 10
    table = str(shown)
    assert table.splitlines()[0].split() == ["figure", "value", "95", "%", "interval", "episodes", "tasks"]
    assert "false success, late" in table
    assert "10 failed in reality: 25.0 %" in table
    assert "bias, points" in table
    assert "+25.0" in table
    with presage.episode("sandbox", index=0, policy="late") as episode:
        listed = presage.request("GET", "/v1/episodes", policy="late")["data"]
        assert [one["id"] for one in listed] == [episode.id]


def test_notes_say_which_policies_alarm_though_all_together_are_ok() -> None:
    bad = {"state": "alarm", "sentence": "Of 30 episodes of the policy bad, 30 failed."}
    state = {"state": "ok", "sentence": "All.", "policies": [{"state": "ok", "sentence": "Fine."}, bad]}
    notes = Reality({"sentence": "S.", "state": state, "exploits": {"sentence": "E."}}).notes()
    assert notes == ["S.", "State: ok. All.", "State: alarm. Of 30 episodes of the policy bad, 30 failed.", "E."]
    same = {"sentence": "None.", "exploits": {"sentence": "None."}}
    assert Reality(same).notes() == ["None."]


def test_an_alarm_is_an_error_of_its_own() -> None:
    error = read_error("", 409, {}, '{"detail": "Of 40 episodes, 38 failed.", "category": "reality_alarm"}')
    assert isinstance(error, RealityAlarmError)
    assert isinstance(error, ConflictError)
    assert error.category == "reality_alarm"
