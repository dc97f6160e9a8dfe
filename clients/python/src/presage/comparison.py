"""A comparison of runs that shows itself as a table."""

from collections.abc import Iterator
from html import escape
from typing import Any

_HEADINGS = ("evaluator", "run", "samples", "mean", "difference", "95 % interval", "p", "better", "worse")


class Comparison:
    """`data` is the response. Differences are the candidate less the reference, in percentage points."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self._names = {run["id"]: str(run.get("name") or run["id"]) for run in data["runs"]}

    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table, without its head. p is adjusted for the number of evaluators and runs."""
        return [
            (_named(evaluator), self._names[side["run_id"]], *_figures(side))
            for evaluator in self.data["evaluators"]
            for side in (evaluator["reference"], *evaluator["candidates"])
        ]

    def notes(self) -> list[str]:
        """What qualifies the figures: few trajectories, and what is left out."""
        return [*dict.fromkeys(self._notes())]

    def _notes(self) -> Iterator[str]:
        for evaluator in self.data["evaluators"]:
            for side in evaluator["candidates"]:
                if side["only_in_reference"]:
                    where = f"{_named(evaluator)}, {self._names[side['run_id']]}"
                    yield f"{where}: {side['only_in_reference']} samples have a verdict in the reference only."
                if side["note"] is not None:
                    yield side["note"]
        for run in self.data["runs"]:
            if run["left_out"]:
                yield f"{self._names[run['id']]}: {run['left_out']} samples are left out, as not every run has them."
        for one in self.data["evaluators_left_out"]:
            yield f"{self._names[one['run_id']]}: {_named(one)} is left out, as it has no counterpart."

    def __str__(self) -> str:
        table = [_HEADINGS, *([" ".join(cell.split()) for cell in row] for row in self.rows())]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        notes = [" ".join(note.split()) for note in self.notes()]
        return "\n".join(["  ".join(map(str.ljust, row, widths)).rstrip() for row in table] + notes)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(heading)}</th>" for heading in _HEADINGS)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows())
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{notes}"


def _named(evaluator: dict[str, Any]) -> str:
    return " ".join(filter(None, (evaluator["evaluator"], evaluator["profile_name"])))


def _figures(side: dict[str, Any]) -> tuple[str, ...]:
    figures = (str(side["count"]), _in_points(side["mean"], ""))
    if "difference" not in side:
        return (*figures, "reference", "", "", "", "")
    interval = side["interval"]
    between = "" if interval is None else f"{_in_points(interval['lower'])} to {_in_points(interval['upper'])}"
    p = side["p_adjusted"]
    tested = (between, "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}")
    return (*figures, _in_points(side["difference"]), *tested, str(side["wins"]), str(side["losses"]))


def _in_points(share: float | None, sign: str = "+") -> str:
    return "" if share is None else f"{share * 100:{sign}.1f}"
