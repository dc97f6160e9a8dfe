"""Goals of runs."""

import pytest

from presage import NotFoundError, Presage


def test_a_goal_is_set_listed_and_removed(presage: Presage) -> None:
    name = "nightly / é"
    goal = presage.set_goal(name, 0.8, evaluator="state-change")
    assert (goal["run_name"], goal["evaluator"], goal["pass_rate"]) == (name, "state-change", 0.8)
    for other in range(3):
        presage.set_goal(f"other {other}", 0.5)
    assert [one["run_name"] for one in presage.goals()][-1] == name
    assert presage.set_goal(name, 0.9)["pass_rate"] == 0.9
    presage.remove_goal(name)
    assert name not in [one["run_name"] for one in presage.goals()]
    with pytest.raises(NotFoundError):
        presage.remove_goal(name)
