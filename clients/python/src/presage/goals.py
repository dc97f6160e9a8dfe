"""The pass rates that runs of one name are to reach."""

from collections.abc import Sequence
from typing import Any

from ._call import Call, part, some
from ._connections import Connections


class Goals:
    _connections: Connections

    def goals(self) -> Sequence[dict[str, Any]]:
        """All goals, the latest first: `GET /v1/goals`."""
        found: list[dict[str, Any]] = []
        page: dict[str, Any] = {}
        while not page or page["next"]:
            page = self._connections.send(Call("GET", "/v1/goals", query=some(after=page.get("next"))))
            found += page["data"]
        return found

    def set_goal(
        self, run_name: str, pass_rate: float, *, evaluator: str = "exact-match", profile_name: str | None = None
    ) -> dict[str, Any]:
        """Sets the goal of all runs of a name, existing and future. Their reports say whether they reach it."""
        wanted = some(evaluator=evaluator, profile_name=profile_name, pass_rate=pass_rate)
        return self._connections.send(Call("PUT", f"/v1/goals/{part(run_name)}", wanted))

    def remove_goal(self, run_name: str) -> None:
        """Removes the goals of runs of this name."""
        self._connections.send(Call("DELETE", f"/v1/goals/{part(run_name)}"))
