"""Tests of the page need the extra `web`; without it each file is skipped, and says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from sog.web.lanes import AgentLanes

MISSING = [name for name in ("starlette", "uvicorn", "jinja2") if find_spec(name) is None]


class Skipped(pytest.Module):
    """A test file that cannot even be imported."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        pytest.skip(f"{', '.join(MISSING)} not installed: pip install -e '.[web]'", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Skip the files of this folder where the extra is not installed."""
    return Skipped.from_parent(parent, path=module_path) if MISSING else None


@pytest.fixture(scope="session")
def lanes() -> Iterator[object]:
    """A process for searches, for all servers of these tests that need none of their own."""
    from sog.web.lanes import AgentLanes

    found = AgentLanes(1)
    yield found
    found.close()


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory, lanes: AgentLanes) -> Iterator[object]:
    """A browser of a server that offers all games, with one process for searches."""
    from tests.web.client import client_of

    found = client_of(tmp_path_factory.mktemp("games"), lanes=lanes)
    yield found
    found.close()


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A folder for games."""
    return tmp_path / "games"
