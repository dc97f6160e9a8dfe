"""A comparison of runs that shows itself as a table."""

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
            (f"{evaluator['evaluator']} {evaluator['profile_name']}", self._names[side["run_id"]], *_figures(side))
            for evaluator in self.data["evaluators"]
            for side in (evaluator["reference"], *evaluator["candidates"])
        ]

    def __str__(self) -> str:
        table = [_HEADINGS, *([" ".join(cell.split()) for cell in row] for row in self.rows())]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in table)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(heading)}</th>" for heading in _HEADINGS)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


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
