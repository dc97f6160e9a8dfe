"""Uploads of files and lines: recorded traces, datasets, and predictions made elsewhere."""

import json
import os
import re
import secrets
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any, Literal, TypedDict, cast

from ._call import Call, Item, part, some
from .errors import InvalidRequestError, PresageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._connections import Connections
    from .resources import Datasets

LONG_S = 3600.0  # Long files take long to send and to store.
_CHUNK_BYTES = 2**18
_IN_MEMORY_BYTES = 2**23
_STARTS = re.compile(rb"(\xef\xbb\xbf)?\s*[\[{]|\x1f\x8b|PK\x03\x04|\x28\xb5\x2f\xfd")
_nothing: dict[str, Any] = {}
Lines = str | bytes | Iterable[Mapping[str, Any]]  # JSON Lines, or objects.
Source = str | os.PathLike[str] | Mapping[str, Any] | Iterable[str | os.PathLike[str]] | Iterable[Mapping[str, Any]]


class ImportOptions(TypedDict, total=False):
    """How files become samples: the query of `POST /v1/datasets/{id}/revisions`, with the server's defaults."""

    format: str  # The format; `GET /v1/imports/formats` lists them.
    source: str  # The name of documents that are not a file.
    on_fault: Literal["refuse", "skip"]
    assistant_is: Literal["agent", "environment"]
    step: Literal["call", "turn"]
    keep: Literal["thoughts"]
    score: str
    split_by: str  # "trajectory", "task", or "tag:NAME".
    test: float
    calibration: float
    redact: Literal["default", "strict", "none"]
    redact_rules: str  # Additional rules, as YAML or JSON.


class _ImportArguments(ImportOptions, total=False):
    name: str
    preview: bool
    append: bool
    timeout_s: float


@dataclass(frozen=True)
class _Upload(Call):
    """A call whose body is read again each time that it is sent."""

    chunks: Callable[[], Iterator[bytes]] = lambda: iter(())

    def request(self, key: str | None) -> tuple[str, Iterator[bytes], dict[str, str]]:
        target, _, headers = super().request(key)
        return target, self.chunks(), headers


@dataclass(frozen=True)
class _File:
    name: str | None
    chunks: Callable[[], Iterator[bytes]]
    is_named: bool = True  # The file itself was named, rather than its folder.


class DatasetUploads:
    _send: Callable[[Call], Any]

    def upload(self, dataset: Item, lines: Lines, timeout_s: float | None = None) -> dict[str, Any]:
        """Makes a revision of these JSON Lines or objects, or finds the revision that has them."""
        return send_lines(self._send, f"/v1/datasets/{part(dataset)}/revisions", lines, timeout_s)


class RunUploads:
    _send: Callable[[Call], Any]

    def upload(self, run: Item, predictions: Lines, timeout_s: float | None = None) -> dict[str, Any]:
        """Stores the predictions of a run whose target is `{"predictions": "imported"}`, and starts it. Works once."""
        return send_lines(self._send, f"/v1/runs/{part(run)}/predictions", predictions, timeout_s, False)


class TraceImports:
    _connections: "Connections"
    datasets: "Datasets"

    def import_traces(
        self,
        source: Source,
        /,
        *,
        name: str | None = None,
        preview: bool = False,
        append: bool = False,
        timeout_s: float = LONG_S,
        **options: "Unpack[ImportOptions]",
    ) -> dict[str, Any]:
        """Stores recorded traces as a revision of the dataset with this name, which is created if it does not exist.

        `source` is a path, several paths, a folder, or documents. Files of unknown format in a folder are left out;
        `unrecognised` names them. `append` keeps the samples of the latest revision. Returns the revision; its `import`
        says what was left out and why. With `preview` nothing is stored: `previews` says what each file would become.
        """
        if name is None and not preview:
            raise ValueError("Give the name of a dataset, or preview=True.")
        post = partial(self._post, timeout_s, options)
        with _files_of(source, options.get("source")) as files:
            seen = [(file, _preview(post, file) if preview or not file.is_named else _nothing) for file in files]
            known = [file for file, found in seen if found is not None]
            unrecognised = {"unrecognised": [file.name for file, found in seen if found is None]}
            if not known:
                raise ValueError("No file has a known format.")
            if preview:
                return {"previews": [{"file": file.name, **found} for file, found in seen if found], **unrecognised}
            made = None
            dataset = next((one for one in self.datasets.list() if one["name"] == name), None)
            dataset = dataset or (made := self.datasets.create(str(name)))
            path = f"/v1/datasets/{part(dataset)}"
            try:
                revision = post(f"{path}/revisions", known, append=append or None)
            except BaseException:
                with suppress(PresageError):  # Do not leave behind a dataset that was created for a failed import.
                    if made and self._connections.send(Call("GET", path))["latest_revision"] is None:
                        self._connections.send(Call("DELETE", path))
                raise
            return {"dataset_id": dataset["id"], **revision, **unrecognised}

    def _post(
        self, timeout_s: float, options: ImportOptions, path: str, files: list[_File], append: bool | None = None
    ) -> dict[str, Any]:
        query = {
            name: f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
            for name, value in options.items()
        }
        query |= some(append=append, source=files[0].name)
        kind, chunks = "application/octet-stream", files[0].chunks
        if len(files) > 1:
            del query["source"]
            boundary = f"presage-{secrets.token_hex(16)}"
            kind, chunks = f"multipart/form-data; boundary={boundary}", partial(_parts_of, files, boundary)
        # The same files make the same revision, but appending them twice is refused.
        call = _Upload("POST", path, None, query, {"content-type": kind}, append is None, timeout_s, chunks)
        return self._connections.send(call)


def import_traces(source: Source, /, **arguments: "Unpack[_ImportArguments]") -> dict[str, Any]:
    """`Presage.import_traces` with the server and the key in PRESAGE_URL and PRESAGE_API_KEY."""
    from .client import Presage

    with Presage() as client:
        return client.import_traces(source, **arguments)


def _preview(post: Callable[..., dict[str, Any]], file: _File) -> dict[str, Any] | None:
    """None if a file in a folder has an unknown format, or does not begin like JSON or a packed file."""
    if not file.is_named and not _STARTS.match(next(file.chunks(), b"")):
        return None
    try:
        return post("/v1/imports/preview", [file])
    except InvalidRequestError as error:
        if file.is_named or not any(issue.get("type") == "unrecognised_layout" for issue in error.issues):
            raise
        return None


def send_lines(
    send: Callable[[Call], Any], path: str, lines: Lines, timeout_s: float | None, is_repeatable: bool = True
) -> dict[str, Any]:
    with _kept(lines) as file:
        headers = {"content-type": "application/x-ndjson", "content-length": str(file.tell())}
        return send(_Upload("POST", path, None, {}, headers, is_repeatable, timeout_s, partial(_again, file)))


@contextmanager
def _kept(lines: Lines) -> Generator[IO[bytes], None, None]:
    """A file of these lines, positioned at its end; on disk if they are many. It allows sending them again."""
    with SpooledTemporaryFile[bytes](_IN_MEMORY_BYTES) as file:
        if isinstance(lines, str | bytes):
            file.write(lines.encode() if isinstance(lines, str) else lines)
        else:
            for line in lines:
                file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
        yield cast(IO[bytes], file)


@contextmanager
def _files_of(source: Source, name: str | None) -> Generator[list[_File], None, None]:
    """The named files and those in named folders; or one file with all documents."""
    items = iter(cast(Iterable[Any], [source] if isinstance(source, str | os.PathLike | Mapping) else source))
    first = next(items, None)
    if isinstance(first, str | os.PathLike):
        if name is not None:
            raise ValueError("source names documents; a file has its own name.")
        files = [file for path in chain([first], items) for file in _files_at(Path(path))]
        if not files:
            raise ValueError("The folder has no files.")
        yield files
    else:
        with _kept(chain([] if first is None else [first], items)) as file:
            yield [_File(name, partial(_again, file))]


def _files_at(path: Path) -> Iterator[_File]:
    if not path.is_dir():
        if not path.exists():
            raise FileNotFoundError(f"There is no file {path}.")
        yield _File(_shown(path.name), partial(_read, path))
        return
    found = (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
    for file in sorted((one for one in found if one.is_file()), key=str):
        yield _File(_shown(str(file.relative_to(path))), partial(_read, file), is_named=False)


def _shown(name: str) -> str:
    return os.fsencode(name).decode(errors="replace")


def _read(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from iter(partial(file.read, _CHUNK_BYTES), b"")
    except OSError as error:  # Must not look like an error of the connection.
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error


def _again(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    yield from iter(partial(file.read, _CHUNK_BYTES), b"")


def _parts_of(files: list[_File], boundary: str) -> Iterator[bytes]:
    for file in files:
        name = "".join(f"%{ord(one):02X}" if one in '"\r\n' else one for one in file.name or "")
        disposition = f'Content-Disposition: form-data; name="file"; filename="{name}"'
        yield f"--{boundary}\r\n{disposition}\r\nContent-Type: application/octet-stream\r\n\r\n".encode()
        yield from file.chunks()
        yield b"\r\n"
    yield f"--{boundary}--\r\n".encode()
