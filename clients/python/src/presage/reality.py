"""How often simulated success is real, shown as a table."""

from collections.abc import Callable, Iterator
from typing import Any

from ._call import Call, part
from ._connections import Connections
from .comparison import in_points
from .errors import ConflictError

_HEADINGS = ("figure", "value", "95 % interval", "episodes", "tasks")
_RATES = {
    "false_success_rate": "false success",
    "missed_success_rate": "missed success",
    "agreement": "agreement",
}


class RealityAlarmError(ConflictError, category="reality_alarm", statuses=((409, "reality_alarm"),)):
    """Too many successes in the environment are false, so it starts no new episodes (`on_alarm`)."""


class Reality:
    """`data` is the response. Its figures are shares; false success is also given for each policy."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table without its headings."""
        rates = [(name, *_cells(figure, _percent)) for name, figure in self._figures()]
        return [*rates, ("bias, points", *_cells(self.data["bias"], in_points))]

    def _figures(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for key, name in _RATES.items():
            yield name, self.data[key]
        for one in self.data["policies"]:
            yield f"false success, {one['policy']}", one["false_success_rate"]

    def notes(self) -> list[str]:
        """Sentences about the rate, alarms and exploits."""
        states = [state, *state["policies"]] if (state := self.data.get("state")) else []
        alarm = [f"State: {it['state']}. {it['sentence']}" for it in states if it is state or it["state"] == "alarm"]
        return [*dict.fromkeys([self.data["sentence"], *alarm, self.data["exploits"]["sentence"]])]

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(_HEADINGS, *self.rows(), strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in (_HEADINGS, *self.rows())]
        return "\n".join([*lines, *self.notes()])

    __repr__ = __str__


class RealityTables:
    _connections: Connections

    def reality(self, environment: str, **query: str) -> Reality:
        """How often success in an environment is real, as a table: `GET /v1/environments/{name}/reality`.

        `policy="step-400"` covers only episodes that were started with this `policy`.
        """
        path = f"/v1/environments/{part(environment)}/reality"
        return Reality(self._connections.send(Call("GET", path, query=query)))


def _cells(figure: dict[str, Any], show: Callable[[float | None], str]) -> tuple[str, ...]:
    between = " to ".join(show(at[end]) for end in ("lower", "upper")) if (at := figure["interval"]) else ""
    return (show(figure["value"]), between or figure["note"] or "", str(figure["count"]), str(figure["tasks"]))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share * 100:.1f} %"
