import ast
import re
import sys
from pathlib import Path

from presage import Presage

SOURCES = Path(__file__).parent.parent / "src/presage"
WITH_EXTRAS = {"aio.py", "gym.py", "trl.py"}
APART = {"__main__.py", "goals.py", "labels.py", "reality.py", "tables.py", "uploads.py", "worlds.py"}


def test_the_readme_lists_every_method() -> None:
    client = Presage("http://localhost", "key")
    methods = {name for of in (client, client.datasets, client.runs) for name in dir(of) if name[0] != "_"}
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    table = readme.partition("## All methods")[2].partition("## Errors")[0]
    assert methods - {"url"} <= set(re.findall(r"[a-z_]+", table))


def test_the_core_is_small_and_needs_the_standard_library_only() -> None:
    core = [path for path in SOURCES.glob("*.py") if path.name not in WITH_EXTRAS]
    small = [path for path in core if path.name not in APART]
    lines = [line for path in small for line in path.read_text().splitlines() if line.strip()]
    assert len(lines) <= 600
    imported: set[str] = set()
    for path in core:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                imported.add(node.module.partition(".")[0])
    # Only type checkers read this import, and they have typing_extensions.
    assert imported - {"typing_extensions"} <= sys.stdlib_module_names
    assert (SOURCES / "py.typed").exists()
