"""A comparison of runs, shown as a table."""

from html import escape
from typing import Any

_HEADINGS = ("evaluator", "run", "samples", "mean", "difference", "95 % interval", "p", "outcome", "wins", "losses")


class Comparison:
    """`data` is the response. Differences are the candidate minus the reference, in percentage points."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self._names = {run["id"]: " ".join(str(run.get("name") or run["id"]).split()) for run in data["runs"]}

    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table without its headings. p is adjusted for the number of evaluators and runs."""
        return [
            (_named(evaluator), self._names[side["run_id"]], *_figures(side))
            for evaluator in self.data["evaluators"]
            for side in (evaluator["reference"], *evaluator["candidates"])
        ]

    def notes(self) -> list[str]:
        """Caveats of the figures: whether they are preliminary, come from few trajectories, or leave samples out."""
        sides = [(_named(one), side) for one in self.data["evaluators"] for side in one["candidates"]]
        gaps = [(at["run_id"], f"{n} sample(s) lack {name}") for name, at in sides if (n := at["only_in_reference"])]
        gaps += [(run["id"], f"{n} sample(s) not in all runs") for run in self.data["runs"] if (n := run["left_out"])]
        gaps += [(one["run_id"], f"{_named(one)} has no counterpart") for one in self.data["evaluators_left_out"]]
        gaps += [(s["run_id"], "one whole failure undoes it") for _, s in sides if s["survives_one_failure"] is False]
        early = ["Preliminary: a run has not ended."] if self.data.get("preliminary") else []
        rough = dict.fromkeys(side["note"] for _, side in sides if side["note"])
        return [*early, *rough, *(f"{self._names[run]}: {gap}." for run, gap in gaps)]

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(_HEADINGS, *self.rows(), strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in (_HEADINGS, *self.rows())]
        return "\n".join([*lines, *self.notes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{heading}</th>" for heading in _HEADINGS)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows())
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{notes}"


def _named(evaluator: dict[str, Any]) -> str:
    return " ".join(filter(None, (evaluator["evaluator"], evaluator["profile_name"])))


def _figures(side: dict[str, Any]) -> tuple[str, ...]:
    figures = (str(side["count"]), in_points(side["mean"], ""))
    if "difference" not in side:
        return (*figures, "reference", "", "", "", "", "")
    between = " to ".join(in_points(at[end]) for end in ("lower", "upper")) if (at := side["interval"]) else ""
    tested = (between, "" if (p := side["p_adjusted"]) is None else "< 0.001" if p < 0.001 else f"{p:.3f}")
    return (*figures, in_points(side["difference"]), *tested, side["outcome"], str(side["wins"]), str(side["losses"]))


def in_points(share: float | None, sign: str = "+") -> str:
    return "" if share is None else f"{share * 100:{sign}.1f}".replace("-", "\N{MINUS SIGN}")
