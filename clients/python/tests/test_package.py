import ast
import sys
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "src/presage"
WITH_EXTRAS = {"aio.py", "gym.py", "trl.py"}


def test_the_core_is_small_and_needs_the_standard_library_only() -> None:
    core = [path for path in SOURCES.glob("*.py") if path.name not in WITH_EXTRAS]
    lines = [line for path in core for line in path.read_text().splitlines() if line.strip()]
    assert len(lines) <= 600
    imported: set[str] = set()
    for path in core:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                imported.add(node.module.partition(".")[0])
    assert imported <= sys.stdlib_module_names
    assert (SOURCES / "py.typed").exists()
