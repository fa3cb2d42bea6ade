"""Tests of the page need the extra `web`; without it they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

# Without these packages the test files cannot even be imported.
MISSING = [name for name in ("starlette", "uvicorn", "jinja2") if find_spec(name) is None]
collect_ignore_glob = ["test_*.py"] if MISSING else []
if MISSING:
    print(f"tests/web SKIPPED: {', '.join(MISSING)} not installed; pip install -e '.[web]'")


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A browser of a server that offers all games, with one process for searches."""
    from tests.web.client import client_of

    found = client_of(tmp_path_factory.mktemp("games"))
    yield found
    found.close()


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A folder for games."""
    return tmp_path / "games"
