"""Runs, as the cells of a notebook would use them."""

import ssl
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from presage import (
    Comparison,
    ConflictError,
    ConnectionFailedError,
    InvalidRequestError,
    Presage,
    TimedOutError,
    UnavailableError,
)
from servers import ScriptedServer, response

THINGS = ("fridge", "oven", "drawer", "door")
LINES = [
    {
        "trajectory_id": thing,
        "step": step,
        "interaction": {"state": f"You see the {thing}.", "action": f"{verb} {thing}"},
        "next_state": f"You {verb} the {thing}.",
    }
    for thing in THINGS
    for step, verb in enumerate(("open", "close"))
]


def test_from_a_dataset_to_a_table(presage: Presage) -> None:
    dataset = presage.datasets.create(f"household {uuid4()}")
    with pytest.raises(ConflictError):
        presage.datasets.create(dataset["name"])
    revision = presage.datasets.upload(dataset, LINES)
    assert revision["samples"] == len(LINES)
    assert presage.datasets.upload(dataset["id"], LINES)["revision"] == revision["revision"]
    assert [sample["next_state"] for sample in presage.datasets.samples(dataset)] == [x["next_state"] for x in LINES]
    assert dataset["id"] in [listed["id"] for listed in presage.datasets.list()]

    evaluators = ["exact-match", {"evaluator": "edit-distance"}]
    seen: list[str] = []
    hostile = "<b>model</b> & co"
    baseline = presage.runs.create(dataset, evaluators, {"baseline": "no-change"}, name="no change")
    model = presage.runs.create(dataset, evaluators, name=hostile)
    ended = presage.runs.wait(model, lambda run: seen.append(run["status"]), every_s=0.05)
    assert ended["status"] == seen[-1] == "finished"
    assert presage.runs.wait(baseline["id"], every_s=0.05)["status"] == "finished"
    report = presage.runs.report(model)
    assert [evaluator["count"] for evaluator in report["evaluators"]] == [len(LINES)] * 2
    assert len([*presage.runs.samples(model, limit=3)]) == len(LINES)
    assert [run["id"] for run in presage.runs.list(dataset_id=dataset["id"])] == [model["id"], baseline["id"]]

    comparison = presage.compare(baseline, model["id"])
    assert len(comparison.data["evaluators"]) == 2
    table = str(comparison)
    assert repr(comparison) == table
    lines = table.splitlines()
    assert len(lines) == 6
    # By both evaluators all four trajectories differ: 2 of 2^4 sign patterns, doubled by Holm.
    assert " undecided " in lines[2]
    assert lines[5] == "4 trajectories are too few to tell a difference from chance: at least 6 are needed."
    assert " ".join(lines[0].split()) == "evaluator run samples mean difference 95 % interval p outcome wins losses"
    assert hostile in lines[2]
    difference = comparison.data["evaluators"][0]["candidates"][0]["difference"]
    assert f"{difference * 100:+.1f}" in lines[2]
    html = comparison._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "&lt;b&gt;model&lt;/b&gt; &amp; co" in html
    tags: set[str] = set()

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            assert attrs == []
            tags.add(tag)

    Tags().feed(html)
    assert tags == {"p", "table", "thead", "tbody", "tr", "th", "td"}


def test_labels_are_drawn_given_and_compared(presage: Presage) -> None:
    dataset = presage.datasets.create(f"labels {uuid4()}")
    presage.datasets.upload(dataset, LINES)
    run = presage.runs.create(dataset, ["exact-match"], {"baseline": "no-change"})
    presage.runs.wait(run, every_s=0.05)
    drawn = presage.draw_labels(run, 3, seed=7)
    assert (len(drawn["data"]), drawn["drawn_from"]) == (3, len(LINES))
    lines = [{"result_id": one["result_id"], "annotator": "ada", "label": "fail"} for one in drawn["data"]]
    assert presage.label(lines) == {"labels": 3, "taken_back": 0}
    found = presage.agree(run, evaluator="exact-match")
    assert (found["agreement"]["value"], found["counts"]["both_fail"], found["weighted"]) == (1, 3, True)
    with pytest.raises(InvalidRequestError):
        presage.label([{"result_id": "1", "label": "perhaps"}])


def test_a_comparison_says_what_qualifies_it() -> None:
    names = {"evaluator": "external:mine", "profile_name": None}
    side = {"count": 3, "mean": 0.5}
    candidate = {**side, "difference": 0.1, "interval": None, "p_adjusted": None, "wins": 2, "losses": 1}
    candidate |= {"outcome": "better", "survives_one_failure": False}
    comparison = Comparison(
        {
            "preliminary": True,
            "runs": [{"id": "a", "name": "A", "left_out": 0}, {"id": "b", "name": None, "left_out": 4}],
            "evaluators": [
                {
                    **names,
                    "reference": {**side, "run_id": "a"},
                    "candidates": [{**candidate, "run_id": "b", "only_in_reference": 2, "note": "<Rough.>"}],
                }
            ],
            "evaluators_left_out": [{**names, "run_id": "a"}],
        }
    )
    assert comparison.notes() == [
        "Preliminary: a run has not ended.",
        "<Rough.>",
        "b: 2 sample(s) lack external:mine.",
        "b: 4 sample(s) not in all runs.",
        "A: external:mine has no counterpart.",
        "b: one whole failure undoes it.",
    ]
    assert str(comparison).splitlines()[1].startswith("external:mine  A ")
    assert comparison._repr_html_().count("<p>") == 6  # pyright: ignore[reportPrivateUsage]
    assert "<p>&lt;Rough.&gt;</p>" in comparison._repr_html_()  # pyright: ignore[reportPrivateUsage]


def test_a_wrong_line_is_named(presage: Presage) -> None:
    dataset = presage.datasets.create(f"wrong {uuid4()}")
    with pytest.raises(InvalidRequestError) as raised:
        presage.datasets.upload(dataset, [LINES[0], {"step": "first"}])
    assert raised.value.issues[0]["loc"][:3] == ["body", "line", 2]


def test_waiting_outlasts_a_restart_of_the_server(scripted: ScriptedServer) -> None:
    run: dict[str, Any] = {"id": "a", "status": "running"}
    busy = response(503, {"detail": "Stopping."}, retry_after="0")
    no_server = response(502, "<html>Bad gateway</html>")
    scripted.script(response(200, run), busy, no_server, response(200, {**run, "status": "cancelled"}))
    with Presage(scripted.url, "a-key", retries=0) as client:
        assert client.runs.wait("a", every_s=0)["status"] == "cancelled"
        scripted.script(busy)
        with pytest.raises(UnavailableError):
            client.runs.wait("a", every_s=0, patience_s=0)


def test_a_run_that_is_paused_is_not_waited_for_for_ever(scripted: ScriptedServer) -> None:
    scripted.script(*[response(200, {"id": "a", "status": "paused"})] * 3)
    with Presage(scripted.url, "a-key") as client, pytest.raises(TimedOutError, match="not ended"):
        client.runs.wait("a", every_s=0.1, timeout_s=0.15)
    assert scripted.received[0].headers["user-agent"].startswith("presage-client/")


def test_a_limit_on_reading_is_waited_for(scripted: ScriptedServer) -> None:
    later = response(429, {"detail": "Later."}, retry_after="0.3")
    scripted.script(later, response(200, {"id": "a", "status": "finished"}))
    with Presage(scripted.url, "a-key", retries=0) as client:
        client.runs.wait("a", every_s=0)
    assert scripted.received[1].at - scripted.received[0].at >= 0.29


def test_a_certificate_does_not_get_better_by_waiting() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).parent / "self-signed.pem")
    server = ScriptedServer(context)
    with Presage(server.url, "a-key") as client, pytest.raises(ConnectionFailedError, match="certificate"):
        client.runs.wait("a", every_s=0)
    assert server.connections == 1
    server.stop()
