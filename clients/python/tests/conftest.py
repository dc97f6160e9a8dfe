"""The tests run against the Presage server in PRESAGE_URL, with the key in PRESAGE_API_KEY."""

import os
from collections.abc import Iterator

import pytest

from presage import Presage
from servers import ScriptedServer


@pytest.fixture(scope="session")
def presage() -> Iterator[Presage]:
    with Presage() as client:
        yield client


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def key() -> str:
    return os.environ["PRESAGE_API_KEY"]
