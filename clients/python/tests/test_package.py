import ast
import sys
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "src/presage"
WITH_EXTRAS = {"aio.py", "gym.py", "trl.py"}
APART = {"goals.py", "labels.py", "reality.py", "tables.py", "uploads.py", "worlds.py"}


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
    # Type checkers have typing_extensions; nothing else reads that import.
    assert imported - {"typing_extensions"} <= sys.stdlib_module_names
    assert (SOURCES / "py.typed").exists()
