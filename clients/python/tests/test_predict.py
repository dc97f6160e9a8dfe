import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from presage import InvalidRequestError, NotFoundError, Presage, UnauthenticatedError
from servers import ScriptedServer, response

PREDICTION = {"response": {"role": "assistant", "content": "Open."}, "usage": {}}


def test_a_prediction_is_the_next_state(presage: Presage) -> None:
    prediction = presage.predict("You are in the kitchen. The fridge is closed.", "open fridge")
    assert "open" in prediction["response"]["content"]
    assert prediction["usage"]["completion_tokens"] > 0


def test_everything_that_is_given_is_sent_and_nothing_else(scripted: ScriptedServer) -> None:
    scripted.script(response(200, PREDICTION))
    with Presage(f"{scripted.url}/presage/", "a-key") as presage:
        presage.predict("a", "b")
        presage.predict(
            "a", "好", context={"domain_knowledge": "c"}, params={"seed": 1}, deployment="d", session_id="e"
        )
    first, second = scripted.received
    assert (first.method, first.target, first.headers["authorization"]) == (
        "POST",
        "/presage/v1/predict",
        "Bearer a-key",
    )
    assert first.body == {"interaction": {"state": "a", "action": "b"}}
    assert "x-session-id" not in first.headers
    assert second.body == {
        "interaction": {"state": "a", "action": "好"},
        "context": {"domain_knowledge": "c"},
        "params": {"seed": 1},
    }
    assert (second.headers["x-presage-deployment"], second.headers["x-session-id"]) == ("d", "e")


def test_an_output_is_evaluated(presage: Presage) -> None:
    first, second = presage.evaluate(
        ["exact-match", {"evaluator": "edit-distance"}],
        evaluated_model_output="Open.",
        evaluated_model_gold_answer="Open!",
    )
    assert first["status"] == second["status"] == "success"
    assert first["evaluation_result"] is not None
    assert first["evaluation_result"]["pass"] is False
    [alone] = presage.evaluate("exact-match", evaluated_model_output="a", evaluated_model_gold_answer="a")
    assert alone["status"] == "success"


def test_errors_of_the_server_say_what_is_wrong(presage: Presage) -> None:
    with pytest.raises(InvalidRequestError, match="at least 1 character") as invalid:
        presage.predict("", "look")
    assert invalid.value.issues[0]["loc"][-1] == "state"
    assert invalid.value.request_id is not None
    assert invalid.value.request_id in str(invalid.value)
    with pytest.raises(UnauthenticatedError):
        Presage(key="psg_wrong").predict("a", "b")
    with pytest.raises(NotFoundError):
        presage.runs.get("00000000-0000-0000-0000-000000000000")


def test_any_other_call_can_be_made(presage: Presage) -> None:
    assert presage.request("GET", "/v1/environments/sandbox")["is_built_in"] is True
    assert len(presage.request("GET", "/v1/environments/sandbox/tasks", limit=2)["data"]) == 2


def test_threads_share_connections(scripted: ScriptedServer) -> None:
    all_are_here = threading.Barrier(8)

    def call(presage: Presage) -> Callable[[int], str]:
        def predict(number: int) -> str:
            if number < 8:
                all_are_here.wait(30)
            return presage.predict("a", str(number))["response"]["content"]

        return predict

    scripted.script(response(200, PREDICTION))
    with Presage(scripted.url, "a-key") as presage, ThreadPoolExecutor(8) as threads:
        assert list(threads.map(call(presage), range(200))) == ["Open."] * 200
    assert scripted.connections <= 8
    assert len(scripted.received) == 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_makes_connections_of_its_own(scripted: ScriptedServer) -> None:
    scripted.script(response(200, PREDICTION))
    presage = Presage(scripted.url, "a-key")
    presage.predict("a", "b")
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # A hanging child ends, and the test fails.
        presage.predict("a", "child")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    presage.predict("a", "parent")
    presage.close()
    assert scripted.connections == 2


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:8080", "http or https"),
        ("ftp://localhost", "http or https"),
        ("http://", "http or https"),
        ("http://me:secret@localhost", "credentials"),
        ("http://localhost?key=secret", "credentials"),
        ("http://localhost:port", "[Pp]ort"),
    ],
)
def test_a_wrong_url_is_refused(url: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        Presage(url, "a-key")
    assert "secret" not in str(error.value)


def test_a_key_that_cannot_be_sent_is_refused_and_not_shown() -> None:
    with pytest.raises(ValueError, match="visible ASCII") as error:
        Presage("http://localhost", "a-key\r\nx: y")
    assert "a-key" not in str(error.value)


def run(
    *arguments: str, key: str | None = None, stdout: Any = subprocess.PIPE, **more: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({} if key is None else {"PRESAGE_API_KEY": key}), **more}
    environment["PYTHONPATH"] = os.path.join(os.path.dirname(__file__), "../src")
    return subprocess.run(
        [sys.executable, "-m", "presage", *arguments], env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True
    )


def test_the_command_predicts() -> None:
    told = run("predict", "--state", "The fridge is closed.", "--action", "open fridge")
    assert (told.returncode, told.stderr) == (0, "")
    assert "open" in told.stdout
    refused = run("predict", "--state", "a", "--action", "b", "--json", key="psg_wrong")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "status 401" in refused.stderr
    assert "psg_wrong" not in refused.stderr


def test_the_command_shows_what_the_terminal_cannot(scripted: ScriptedServer) -> None:
    scripted.script(response(200, {"response": {"content": "The door → \ud800"}}))
    asked = ("predict", "--state", "a", "--action", "b", "--url", scripted.url)
    for encoding, shown in [("ascii", "The door \\u2192 \\ud800\n"), ("utf-8", "The door → \\ud800\n")]:
        told = run(*asked, PYTHONIOENCODING=encoding)
        assert (told.stdout, told.stderr) == (shown, "")


def test_the_command_says_in_a_line_that_nobody_reads(scripted: ScriptedServer) -> None:
    scripted.script(response(200, {"response": {"content": "The door."}}))
    asked = ("predict", "--state", "a", "--action", "b", "--url", scripted.url)
    reader, writer = os.pipe()
    os.close(reader)
    with open("/dev/full", "w") as full, os.fdopen(writer, "w") as closed:
        assert (run(*asked, stdout=closed).stderr, run(*asked, stdout=closed).returncode) == ("", 141)
        told = run(*asked, stdout=full)
    assert (told.returncode, told.stderr) == (1, "The output cannot be written: No space left on device\n")
