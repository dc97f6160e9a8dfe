"""A run's samples and verdicts as a table."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPResponse
from importlib import import_module
from tempfile import TemporaryFile
from typing import IO, Any

from ._call import Call, Item, part
from .uploads import LONG_S


class Table(list[dict[str, Any]]):
    """Rows with the same columns."""

    def to_pandas(self) -> Any:
        """As a pandas DataFrame; needs pandas."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        return pandas.DataFrame(self)


@dataclass(frozen=True)
class _Download(Call):
    """A call whose response is kept in a file, so that it can be sent again if the response was cut off."""

    file: IO[bytes] | None = None

    def receive(self, response: HTTPResponse) -> bytes:
        if response.status != 200 or self.file is None:
            return super().receive(response)
        self.file.seek(0)
        self.file.truncate()
        shutil.copyfileobj(response, self.file)
        return b"null"


class RunTables:
    _send: Callable[[Call], Any]

    def table(self, run: Item, timeout_s: float = LONG_S) -> Table:
        """A row for each sample and repeat: `GET /v1/runs/{id}/export`.

        Each evaluator has the columns `ID.pass` and `ID.score`, or `ID PROFILE.pass` if the run has several of an id.
        They are None if the evaluator has not returned yet, or failed.
        """
        path = f"/v1/runs/{part(run)}"
        evaluators: list[dict[str, Any]] = self._send(Call("GET", path))["evaluators"]
        times = Counter(one["evaluator"] for one in evaluators)
        columns = {
            _key_of(one): one["evaluator"] if times[one["evaluator"]] == 1 else " ".join(filter(None, _key_of(one)))
            for one in evaluators
        }
        with TemporaryFile() as file:
            self._send(_Download("GET", f"{path}/export", timeout_s=timeout_s, file=file))
            file.seek(0)
            return Table(_row_of(json.loads(line), columns) for line in file)


def _key_of(one: Mapping[str, Any]) -> tuple[str, str | None]:
    return one["evaluator"], one["profile_name"]


def _row_of(line: dict[str, Any], columns: Mapping[tuple[str, str | None], str]) -> dict[str, Any]:
    row = {name: line[name] for name in ("dataset_sample_id", "trajectory_id", "step", "repeat", "prediction")}
    row["status"] = line["details"]["status"]
    verdicts = {_key_of(verdict): verdict for verdict in line["verdicts"]}
    for key, column in columns.items():
        for figure in ("pass", "score"):
            row[f"{column}.{figure}"] = verdicts.get(key, {}).get(figure)
    return row
