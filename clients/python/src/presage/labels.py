"""People's opinions of outputs: labels, draws of what to label, and how far an evaluator agrees with people."""

from typing import Any, Literal

from ._call import Call, Item, part, some, write
from .goals import Goals
from .reality import RealityTables
from .uploads import Lines, TraceImports, send_lines


class Labels(TraceImports, RealityTables, Goals):
    def label(self, labels: Lines, timeout_s: float | None = None) -> dict[str, Any]:
        """Stores labels: JSON Lines or objects such as `{"result_id": "1", "annotator": "ada", "label": "fail"}`.

        A line may have `run_id` and `dataset_sample_id` instead of `result_id`. Without `annotator` it is your own, and
        then it corrects a verdict that it disagrees with. A `label` of None withdraws an earlier label.
        """
        return send_lines(self._connections.send, "/v1/evaluation-labels", labels, timeout_s)

    def draw_labels(
        self,
        run: Item,
        size: int,
        *,
        by: Literal["uniform", "verdict"] = "uniform",
        seed: int = 1,
        evaluator: str | None = None,
        profile_name: str | None = None,
    ) -> dict[str, Any]:
        """Draws verdicts of a run to be labelled: `data` has each one's `result_id` and its probability."""
        wanted = some(size=size, by=by, seed=seed, evaluator=evaluator, profile_name=profile_name)
        return self._connections.send(write(f"/v1/runs/{part(run)}/label-sample", wanted))

    def agree(self, run: Item | None = None, evaluator: str | None = None, **query: str) -> dict[str, Any]:
        """How far an evaluator agrees with people, in figures and a `sentence`: `GET /v1/agreement`.

        `against="evaluator"` and `other=…` compare the evaluator with another one of the run.
        """
        of = some(run=None if run is None else part(run), evaluator=evaluator, **query)
        return self._connections.send(Call("GET", "/v1/agreement", query=of))
