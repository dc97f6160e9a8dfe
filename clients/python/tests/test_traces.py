"""Recorded traces become datasets."""

import gzip
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import presage as package
from presage import InvalidRequestError, Presage
from servers import ScriptedServer, response


def conversation(thing: str, **fields: Any) -> dict[str, Any]:
    call = {"id": "a", "type": "function", "function": {"name": "open", "arguments": json.dumps({"what": thing})}}
    return {
        "messages": [
            {"role": "user", "content": f"Open the {thing}."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": f"The {thing} is open."},
            {"role": "assistant", "content": "Done."},
        ],
        **fields,
    }


def write(path: Path, *documents: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(document)}\n" for document in documents))
    return path


def new_name() -> str:
    return f"traces {uuid4()}"


def names_of(presage: Presage) -> set[str]:
    return {dataset["name"] for dataset in presage.datasets.list()}


def test_a_file_becomes_a_revision(presage: Presage, tmp_path: Path) -> None:
    name = new_name()
    path = write(tmp_path / "shop.jsonl", conversation("fridge"), conversation("oven"))
    stored = presage.import_traces(path, name=name, split_by="task", test=0.5)
    assert (stored["samples"], stored["import"]["format"], stored["unrecognised"]) == (2, "openai-chat", [])
    assert stored["import"]["left_out"] == {"last_message_of_agent": 2}
    assert stored["import"]["options"] | {"split_by": "task", "test": "0.5"} == stored["import"]["options"]
    [sample, _] = presage.datasets.samples(stored["dataset_id"])
    assert sample["next_state"] == "The fridge is open."
    assert stored["import"]["files"][0]["file"] == "shop.jsonl"
    again = package.import_traces(str(path), name=name, split_by="task", test=0.5)
    assert (again["dataset_id"], again["revision"]) == (stored["dataset_id"], stored["revision"])
    more = presage.import_traces([conversation("door", id="a door")], name=name, append=True)
    assert (more["samples"], more["revision"]) == (3, stored["revision"] + 1)
    few = presage.import_traces(path, name=new_name(), split_by="task", test=0.00005)
    assert few["import"]["options"]["test"] == "0.00005"
    with pytest.raises(ValueError, match="its own name"):
        presage.import_traces(path, name=name, source="shop")


def test_several_files_and_folders_become_one_revision(presage: Presage, tmp_path: Path) -> None:
    odd = write(tmp_path / 'an "odd" näme.jsonl', conversation("gate"))
    write(tmp_path / "runs/b.jsonl", conversation("oven"))
    (tmp_path / "runs/a").mkdir()
    (tmp_path / "runs/a/z.jsonl").symlink_to(write(tmp_path / "cache/z", conversation("fridge")))
    write(tmp_path / "runs/notes.json", {"foo": 1})
    (tmp_path / "runs/read me.md").write_text("# Runs\n")
    (tmp_path / "runs/empty.json").touch()
    (tmp_path / "runs/c.jsonl.gz").write_bytes(gzip.compress(json.dumps(conversation("door")).encode()))
    left_out = ["empty.json", "notes.json", "read me.md"]
    seen = presage.import_traces([odd, tmp_path / "runs"], preview=True)
    assert [preview["file"] for preview in seen["previews"]] == [odd.name, "a/z.jsonl", "b.jsonl", "c.jsonl.gz"]
    assert seen["unrecognised"] == left_out
    stored = presage.import_traces((path for path in [odd, tmp_path / "runs"]), name=new_name())
    assert [file["file"] for file in stored["import"]["files"]][1:] == ["a/z.jsonl", "b.jsonl", "c.jsonl.gz"]
    assert (stored["samples"], stored["unrecognised"]) == (4, left_out)
    states = [sample["next_state"] for sample in presage.datasets.samples(stored["dataset_id"])]
    assert states == [f"The {thing} is open." for thing in ("gate", "fridge", "oven", "door")]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no files"):
        presage.import_traces(tmp_path / "empty", preview=True)
    with pytest.raises(ValueError, match="known format"):
        presage.import_traces(write(tmp_path / "unknown/a.json", {"foo": 1}).parent, name="unknown")
    with pytest.raises(InvalidRequestError, match="No known format"):
        presage.import_traces(tmp_path / "runs/notes.json", preview=True)


def test_documents_are_previewed_and_not_stored(presage: Presage) -> None:
    before = names_of(presage)
    seen = presage.import_traces((conversation(thing) for thing in ("fridge", "oven")), preview=True, source="memory")
    [preview] = seen["previews"]
    assert (preview["samples"], preview["file"], len(preview["first"])) == (2, "memory", 2)
    [alone] = presage.import_traces(conversation("fridge"), preview=True)["previews"]
    assert (alone["samples"], alone["tools"]) == (1, ["open"])
    assert names_of(presage) == before


def test_what_is_refused_leaves_no_dataset(presage: Presage, tmp_path: Path) -> None:
    name = new_name()
    with pytest.raises(InvalidRequestError) as raised:
        presage.import_traces([conversation("fridge"), {"messages": 3}], name=name)
    assert raised.value.issues[0]["loc"][0] == "body"
    assert name not in names_of(presage)
    documents = [conversation("fridge"), conversation("oven"), {"messages": 3}]
    stored = presage.import_traces(documents, name=name, on_fault="skip", format="openai-chat")
    assert (stored["samples"], stored["import"]["skipped"]) == (2, 1)
    with pytest.raises(InvalidRequestError):
        presage.import_traces([{"messages": 3}], name=name)
    assert name in names_of(presage)
    with pytest.raises(InvalidRequestError):
        presage.import_traces([], name=new_name())
    with pytest.raises(ValueError, match="name"):
        presage.import_traces([conversation("fridge")])
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        presage.import_traces(tmp_path / "nowhere.json", name=new_name())
    with pytest.raises(ValueError, match="cannot be read"):
        presage.import_traces("/proc/self/mem", preview=True)


def test_what_is_sent_again_is_whole(scripted: ScriptedServer, tmp_path: Path) -> None:
    paths = [write(tmp_path / name, {"a": 1}) for name in ("one", "two")]
    busy, stored = response(503, {}, retry_after="0"), response(200, {"revision": 1})
    with Presage(scripted.url, "a-key") as client:
        for source, objects in ((paths, 2), (paths[0], 1), (iter([{"a": 1}, {"b": "é"}]), 2)):
            scripted.script(response(200, {"data": [{"id": "d", "name": "n"}], "next": None}), busy, stored)
            assert client.import_traces(source, name="n") == {"dataset_id": "d", "revision": 1, "unrecognised": []}
            _, first, second = scripted.received
            assert (first.body, first.target) == (second.body, second.target)
            assert first.body.count(b"{") == objects
        scripted.script(busy, stored)
        client.datasets.upload("d", [{"a": 1}, {"b": 2}])
    assert {received.body for received in scripted.received} == {b'{"a": 1}\n{"b": 2}\n'}


def test_documents_are_not_all_in_memory(presage: Presage) -> None:
    def documents() -> Iterator[dict[str, Any]]:
        for index in range(600):
            yield conversation("x" * 100_000, id=str(index))

    tracemalloc.start()
    try:
        [preview] = presage.import_traces(documents(), preview=True)["previews"]
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
    assert preview["trajectories"] > 0
