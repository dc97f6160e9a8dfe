"""What every writer here records: an agent that calls `shell` twice, the second time in vain."""

import sys
from pathlib import Path

SYSTEM, TASK, LAST = "Be brief.", "Find the key.", "It is in the drawer."
CALLS = {"c1": {"cmd": "ls drawer"}, "c2": {"cmd": "ls box"}}
FOUND, MISSING = "key.txt\nnails", "no such box"
TOOL = {"type": "function", "function": {"name": "shell", "parameters": {"type": "object"}}}


def shell(cmd: str) -> str:
    if cmd == "ls box":
        raise OSError(MISSING)
    return FOUND


def save(*lines: str) -> None:
    """Writes the file that the command names."""
    Path(sys.argv[1]).write_text("".join(f"{line}\n" for line in lines))
