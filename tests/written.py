"""Code that the documents write, as the files that they say."""

from __future__ import annotations

import re
from pathlib import Path

EXTENDING = Path(__file__).parents[1] / "docs" / "extending.md"


def write_die_bluff(file: Path) -> None:
    """The module of docs/extending.md's game with chance, `die_bluff`, for SOG_GAMES."""
    snippets = re.findall(r"^```python\n(.*?)^```", EXTENDING.read_text(), re.MULTILINE | re.DOTALL)
    (source,) = (snippet for snippet in snippets if "class DieBluff(" in snippet)
    rules = source.partition("report =")[0]
    file.write_text(f'import numpy as np\nimport sog\n{rules}GAMES = {{"die_bluff": DieBluff}}\n')
