"""What the tests of both engines share: a player whose network answers zero, and a conversation with it."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from sog.algorithms.student.player import SogPlayer
from sog.protocols.lines import Lines
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import zero_evaluator

Talk = Callable[..., list[str]]


@pytest.fixture
def player() -> SogPlayer:
    return SogPlayer("zero", zero_evaluator, Budget(20, 1.0))


@pytest.fixture
def talk() -> Talk:
    """Say these lines to an engine that is made with a function `say`; what it answers, line by line."""

    def talk(make: Callable[[Callable[[str], None]], object], *said: str) -> list[str]:
        heard: list[str] = []
        engine = make(heard.append)
        engine.serve(Lines(io.BytesIO("".join(line + "\n" for line in said).encode())))  # type: ignore[attr-defined]
        return heard

    return talk
