"""Without PyTorch, shipped networks play and are measured, and what needs it says so in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sog.games.catalog import make_history_game
from sog.nets.network import untrained
from sog.nets.shape import policy_shape
from sog.training import checkpoint

ROOT = Path(__file__).parents[1]


def without(folder: Path, *said: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Python with these words, where importing PyTorch fails, also in processes that it starts."""
    (folder / "none").mkdir()
    (folder / "none" / "sitecustomize.py").write_text('import sys\nsys.modules["torch"] = None\n')
    path = os.pathsep.join((str(folder / "none"), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": path}
    words = [sys.executable, *said]
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, input=typed, timeout=600, env=environment, check=False
    )


@pytest.mark.parametrize(
    "said",
    [
        "-m sog games",
        "-m sog play tic_tac_toe",
        "-m sog play scotland_yard(map=london) --seat 1 -s 2",
        "-m sog exploit leduc_poker -s 2 --json",
        "-m sog exploit liars_dice(numdice=1,dice_sides=4) --algorithm rebel(updates=8) --playthroughs 1",
    ],
)
def test_shipped_networks_need_none(said: str, tmp_path: Path) -> None:
    found = without(tmp_path, *said.split(), typed="quit\n")
    assert found.returncode == 0, found.stderr


def test_nor_does_a_program_that_searches_and_measures(tmp_path: Path) -> None:
    program = (
        "import sog; agent = sog.load_agent('kuhn_poker', 2, 1.0);"
        "found = sog.search('leduc_poker', sog.Budget(2, 1.0), leaves='leduc_poker');"
        "assert found.states > 1 and sog.exploitability(agent) > 0"
    )
    found = without(tmp_path, "-c", program)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("-m sog train kuhn_poker --out run", "sog train needs"),
        ("-m sog exploit policy", "a policy network needs"),
        ("-c import#sog;sog.train('kuhn_poker','run')", "sog.errors.SettingError: training needs"),
    ],
)
def test_what_needs_it_says_so(said: str, what: str, tmp_path: Path) -> None:
    game = make_history_game("kuhn_poker")
    policy = untrained(policy_shape(game, 8, 1))
    checkpoint.save(tmp_path / "policy", policy, game.name, "run", 0, {"algorithm": "rnad"})
    found = without(tmp_path, *(word.replace("#", " ") for word in said.split()))
    assert found.returncode
    assert f"{what} PyTorch, which is not installed: pip install torch" in found.stderr.splitlines()[-1]
    assert not (tmp_path / "run").exists()
