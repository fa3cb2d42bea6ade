"""Which tests a change needs: `python -m tests.rooms [ROOM]` prints the test folders of a room, or of what changed.

What changed is what git sees against BASE (an environment variable, by default HEAD), new files included; where nothing
has, what the last commit changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Tests of a few seconds that look at every file.
EVERYWHERE = ("tests/test_house.py", "tests/test_structure.py")
# Source folders whose tests are elsewhere, and files at the ground whose users are everywhere.
_FRONT_DOOR = "tests/test_front_door.py"
ELSEWHERE = {"api.py": _FRONT_DOOR, "__init__.py": _FRONT_DOOR}
ELSEWHERE |= {f"{name}.py": f"tests/test_{name}.py" for name in ("lru", "memory")}


def changed() -> list[str]:
    """Paths that differ from BASE, or else those of the last commit."""

    def git(*words: str) -> list[str]:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()

    paths = git("diff", "--name-only", os.environ.get("BASE", "HEAD")) + git("ls-files", "-o", "--exclude-standard")
    return paths or git("diff", "--name-only", "HEAD~1")


def tests_of(path: str) -> str | None:
    """The tests of a file, as pytest takes them; None for one without."""
    parts = Path(path).parts
    if parts[0] == "tests":
        return path if parts[-1].startswith("test_") else None
    if parts[0] == "soglab":
        return "tests/soglab"
    if parts[0] == "docs" or path.endswith(".md"):
        return "tests/test_docs.py"
    if parts[0] != "sog" or len(parts) < 2:
        return None
    own = ELSEWHERE.get(parts[1], f"tests/{parts[1]}")
    return own if (ROOT / own).exists() else None


def main() -> None:
    rooms = sys.argv[1:]
    found = [f"tests/{room}" for room in rooms] or [tests for path in changed() if (tests := tests_of(path))]
    for folder in found:
        if not (ROOT / folder).exists():
            rooms = sorted(each.name for each in (ROOT / "tests").iterdir() if list(each.glob("test_*")))
            sys.exit(f"no tests are called {folder}; rooms: {', '.join(rooms)}")
    print(" ".join(dict.fromkeys([*EVERYWHERE, *sorted(found)])))


if __name__ == "__main__":
    main()
