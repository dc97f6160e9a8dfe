"""Datasets and runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic, sleep
from typing import Any

from ._call import Call, Item, part, write
from ._connections import Connections
from .errors import ConnectionFailedError, RateLimitError, TimedOutError, UnavailableError, UpstreamError
from .tables import RunTables
from .uploads import DatasetUploads, RunUploads

PASSING = (ConnectionFailedError, RateLimitError, TimedOutError, UnavailableError, UpstreamError)  # Retrying may help.


def named(evaluators: Sequence[Item] | Item) -> list[Mapping[str, Any]]:
    several = [evaluators] if isinstance(evaluators, str | Mapping) else evaluators
    return [{"evaluator": item} if isinstance(item, str) else item for item in several]


class _Resource:
    def __init__(self, connections: Connections) -> None:
        self._send = connections.send

    def _get(self, path: str, **query: Any) -> Any:
        return self._send(Call("GET", path, query=query))

    def _pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        more: Any = True
        while more:
            page = self._get(path, **query)
            yield from page["data"]
            query["after"] = more = page.get("next")


class Datasets(_Resource, DatasetUploads):
    def list(self) -> Sequence[dict[str, Any]]:
        return [*self._pages("/v1/datasets")]

    def get(self, dataset: Item) -> dict[str, Any]:
        return self._get(f"/v1/datasets/{part(dataset)}")

    def create(self, name: str, **fields: Any) -> dict[str, Any]:
        return self._send(write("/v1/datasets", {"name": name, **fields}))

    def samples(self, dataset: Item, revision: int | None = None) -> Iterator[dict[str, Any]]:
        """The samples of a revision, by default of the latest one now, even if another follows meanwhile."""
        latest: dict[str, Any] = {} if revision else self.get(dataset)["latest_revision"] or {}
        return self._pages(f"/v1/datasets/{part(dataset)}/samples", revision=revision or latest.get("revision"))


class Runs(_Resource, RunUploads, RunTables):
    def list(self, **filters: Any) -> Sequence[dict[str, Any]]:
        return [*self._pages("/v1/runs", **filters)]

    def get(self, run: Item) -> dict[str, Any]:
        return self._get(f"/v1/runs/{part(run)}")

    def create(
        self, dataset: Item, evaluators: Sequence[Item] | Item, target: Mapping[str, Any] | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Starts a run, by default of the default deployment. Another `target` is `{"baseline": "no-change"}`."""
        if target is None:
            names = [item["name"] for item in self._get("/v1/deployments")["data"] if item["is_default"]]
            if not names:
                raise ValueError("Name a target: the server has no default deployment.")
            target = {"deployment": names[0]}
        wanted = {"dataset_id": part(dataset), "target": dict(target), "evaluators": named(evaluators), **fields}
        return self._send(write("/v1/runs", wanted))

    def wait(
        self,
        run: Item,
        on_progress: Callable[[dict[str, Any]], object] = lambda _: None,
        every_s: float = 1.0,
        patience_s: float = 60.0,
        timeout_s: float = float("inf"),
    ) -> dict[str, Any]:
        """Waits until a run has ended; pausing is no end. Raises after `timeout_s`, or `patience_s` offline."""
        read_at = started_at = monotonic()
        while monotonic() - started_at <= timeout_s:
            try:
                seen = self.get(run)
            except PASSING as error:
                if error.should_retry is False or monotonic() - read_at >= patience_s:
                    raise
                sleep(min(error.retry_after_s or 0.0, patience_s))
            else:
                read_at = monotonic()
                on_progress(seen)
                if seen["status"] in ("finished", "cancelled", "failed"):
                    return seen
            sleep(every_s)
        raise TimedOutError(f"The run has not ended within {timeout_s} s.")

    def report(self, run: Item) -> dict[str, Any]:
        return self._get(f"/v1/runs/{part(run)}/report")

    def samples(self, run: Item, **filters: Any) -> Iterator[dict[str, Any]]:
        return self._pages(f"/v1/runs/{part(run)}/samples", **filters)
