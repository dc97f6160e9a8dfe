"""Uploads of predictions made elsewhere, and tables of samples and verdicts."""

import sys
from typing import Any
from uuid import uuid4

import pytest

from presage import ConflictError, Presage
from servers import ScriptedServer, response, then_close

LINES = [
    {
        "trajectory_id": thing,
        "step": 0,
        "interaction": {"state": f"A closed {thing}.", "action": f"open {thing}"},
        "next_state": f"You open the {thing}.",
    }
    for thing in ("fridge", "oven", "drawer")
]


def test_predictions_made_elsewhere_become_a_table(presage: Presage) -> None:
    dataset = presage.datasets.create(f"elsewhere {uuid4()}")
    presage.datasets.upload(dataset, LINES)
    run = presage.runs.create(dataset, ["exact-match", "rouge-l"], {"predictions": "imported"}, repeats=2)
    predicted = [
        {"trajectory_id": line["trajectory_id"], "step": 0, "repeat": repeat, "prediction": text}
        for line, texts in zip(
            LINES, (("You open the fridge.", "No."), ("é", None), ("You open the drawer.", "")), strict=True
        )
        for repeat, text in enumerate(texts)
    ]
    assert presage.runs.upload(run, (line for line in predicted))["predictions"] == 6
    with pytest.raises(ConflictError):
        presage.runs.upload(run, predicted)
    presage.runs.wait(run, every_s=0.05)
    table = presage.runs.table(run)
    assert [(row["trajectory_id"], row["repeat"], row["prediction"]) for row in table] == [
        (line["trajectory_id"], line["repeat"], line["prediction"]) for line in predicted
    ]
    exact, rouge = (one["evaluator"] for one in run["evaluators"])
    assert [*table[0]] == [
        "dataset_sample_id", "trajectory_id", "step", "repeat", "prediction", "status",
        f"{exact}.pass", f"{exact}.score", f"{rouge}.pass", f"{rouge}.score",
    ]  # fmt: skip
    assert (table[0]["status"], table[0][f"{exact}.pass"], table[0][f"{exact}.score"]) == ("success", True, 1)
    assert (table[1][f"{exact}.pass"], table[3]["status"], table[3][f"{exact}.pass"]) == (False, "failed", None)
    frame = table.to_pandas()
    assert [*frame.columns] == [*table[0]]
    assert frame[f"{exact}.score"].dropna().tolist() == [1, 0, 0, 1, 0]


def test_without_pandas_it_is_named(presage: Presage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    dataset = presage.datasets.create(f"no pandas {uuid4()}")
    presage.datasets.upload(dataset, LINES)
    run = presage.runs.wait(presage.runs.create(dataset, ["exact-match"], {"baseline": "no-change"}), every_s=0.05)
    table = presage.runs.table(run["id"])
    assert len(table) == len(LINES)
    with pytest.raises(ImportError, match="pip install pandas"):
        table.to_pandas()


def test_a_table_that_is_cut_off_is_read_again(scripted: ScriptedServer) -> None:
    def line(evaluator: str, **verdict: Any) -> dict[str, Any]:
        named = {"evaluator": evaluator, "profile_name": "b", **verdict}
        sample = {"dataset_sample_id": "s", "trajectory_id": "t", "step": 0, "repeat": 0, "prediction": "x"}
        return {**sample, "details": {"status": "success"}, "verdicts": [named]}

    run = {"evaluators": [{"evaluator": "e", "profile_name": name} for name in ("a", "b")]}
    lost = b'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"dataset'
    scripted.script(response(200, run), then_close(lost), response(200, line("e", **{"pass": True, "score": 1})))
    with Presage(scripted.url, "a-key") as client:
        [row] = client.runs.table("r")
    assert (row["e a.pass"], row["e b.pass"], row["e b.score"]) == (None, True, 1)
    scripted.script(response(200, run), response(409, {"detail": "It is external."}))
    with Presage(scripted.url, "a-key") as client, pytest.raises(ConflictError, match="external"):
        client.runs.table("r")
