"""What a command prints with --json."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sog.cli.app import main


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """The one JSON object that a command prints with --json, on one line."""
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    found = json.loads(printed)
    assert isinstance(found, dict)
    return found
