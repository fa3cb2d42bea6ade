"""The table of learning algorithms: what each takes, refusals by the table, and no branch on a name elsewhere."""

from __future__ import annotations

import ast
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sog.algorithms.base import Choices
from sog.algorithms.rebel.agent import RebelAgent
from sog.algorithms.student import algorithm as sog
from sog.algorithms.student.chain_player import ChainPlayer
from sog.algorithms.student.measure import (
    EXACT_LEAVES,
    ZERO_LEAVES,
    NetworkLeaves,
    Subject,
    measure_seeds,
    network_leaves,
)
from sog.algorithms.student.player import SogPlayer
from sog.algorithms.table import (
    LEARNERS,
    agents_of,
    board_player_of,
    boards_of,
    learner,
    measuring_of,
    player_of,
    preset,
    taken_by,
    variant_from,
)
from sog.cli.app import main
from sog.cluster.where import Where
from sog.errors import CheckpointError, GameError, SettingError
from sog.games.catalog import make_game
from sog.games.rules.kuhn import Kuhn
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.search import PAPER, POG, Budget, SearchSettings
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.training import checkpoint
from sog.training.opened import Opened
from sog.training.settings import PLAIN
from sog.training.shipped import shipped_checkpoints

ROOT = Path(__file__).parents[2]


def test_names_differ_and_what_an_entry_takes_are_choices() -> None:
    names = [entry.name for entry in LEARNERS]
    assert len(set(names)) == len(names) and all(learner(name).name == name for name in names)
    known = set(Choices.__dataclass_fields__)
    for entry in LEARNERS:
        parts = (entry.training, entry.play, entry.board, entry.measuring)
        assert all(set(part.takes) <= known for part in parts if part is not None)


@pytest.mark.parametrize("entry", [e for e in LEARNERS if e.training.alone is None], ids=lambda entry: entry.name)
def test_settings_travel_to_workers_and_make_the_actor_there(entry: object) -> None:
    name = entry.name  # type: ignore[attr-defined]
    game = make_game("tic_tac_toe")
    settings = pickle.loads(pickle.dumps(preset(game, "demo", name)))
    assert settings == preset(game, "demo", name)
    assert hasattr(settings.acting.make(game, settings.shape), "round")


def test_choices_of_another_algorithm_are_refused() -> None:
    with pytest.raises(SettingError, match="--warm is for --algorithm rebel, not sog"):
        variant_from(PLAIN, "sog", Choices(warm=3))
    with pytest.raises(SettingError, match="--playthroughs is for --algorithm rebel, not sog"):
        measuring_of("sog", Choices(playthroughs=3))
    with pytest.raises(SettingError, match="--per-update is for --algorithm sog, not alphazero"):
        boards_of("alphazero", Choices(5, 2.0))
    with pytest.raises(SettingError, match="perfect information only"):
        agents_of("alphazero", Choices())
    with pytest.raises(SettingError, match="no player on a board is called rebel; known: sog, alphazero"):
        boards_of("rebel", Choices())
    known = "sog or rebel or rnad or mmd or nashpg or sepot"
    with pytest.raises(SettingError, match=f"--algorithm is {known}, not alphazero"):
        measuring_of("alphazero", Choices())
    assert taken_by("alphazero", Choices(5, 2.0)) == Choices(5)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("exploit leduc_poker --playthroughs 3", "--playthroughs is for --algorithm rebel, not sog"),
        ("exploit leduc_poker --algorithm rebel -s 3", "--simulations is for --algorithm sog, not rebel"),
        ("exploit leduc_poker --algorithm alphazero", "--algorithm is sog or rebel"),
        ("exploit leduc_poker --seeds 0", "Invalid value for '--seeds'"),
        ("play kuhn_poker --updates 3", "--updates is for --algorithm rebel or sepot, not sog"),
        ("uci chess --algorithm alphazero -c 3", "--per-update is for --algorithm sog, not alphazero"),
    ],
)
def test_the_command_line_refuses_them_in_one_line(line: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert why in " ".join(capsys.readouterr().err.split())


def test_nothing_else_compares_an_algorithms_name() -> None:
    """No `algorithm == "rebel"` in the package: whatever depends on the algorithm is in its entry."""
    named = {entry.name for entry in LEARNERS}
    words = {*(repr(name) for name in named), *(name.upper() for name in named)}
    found = []
    for path in sorted((ROOT / "sog").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
                sides = {ast.unparse(side).split(".")[-1] for side in (node.left, *node.comparators)}
                if sides & words:
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not found


def test_the_table_needs_neither_numba_nor_pytorch() -> None:
    code = "import sys, sog.algorithms.table; sys.exit(bool({'torch', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize(("name", "settings"), [("sog", PAPER), ("pog", POG)])
def test_the_papers_search_can_be_played_against(name: str, settings: SearchSettings) -> None:
    """On a board every move is re-solved from scratch (PoG, B.5) at Table 3's temperature; ours keeps its tree."""
    entry = learner("sog")
    assert entry.board is not None and entry.play is not None
    player, own = (entry.board.make(zero_evaluator, Choices(paper=paper), 0) for paper in (name, None))
    assert isinstance(player, ChainPlayer) and isinstance(own, SogPlayer) and own.reuse
    search = player.settings.search
    assert replace(search, prior_temperature=1.0) == settings and search.prior_temperature == 1.5
    assert player.settings.gadget and player.settings.every_decision
    assert entry.board.label(Choices(paper=name)) != entry.board.label(Choices())
    assert "paper" in entry.play.takes and "paper" in entry.board.takes


@pytest.mark.parametrize(("name", "correct"), [("paper", False), ("full", True)])
def test_rebels_network_is_played_as_its_preset_solves(name: str, correct: bool) -> None:
    game = Kuhn()
    opened = Opened(game, CVPN(shape_for(game, 8, 1)), True, preset=name)
    play = learner("rebel").play
    assert play is not None
    agent = play.make(PublicTree(game).list_all(), opened, Choices())(0, 0)
    assert isinstance(agent, RebelAgent) and agent.settings.solve.correct == correct


def test_a_checkpoint_is_played_as_it_was_trained() -> None:
    """ReBeL's networks by ReBeL; of a game that both trained, and without a checkpoint, by Student of Games."""
    shipped = {folder.name: str(folder) for folder in shipped_checkpoints()}
    assert player_of(shipped["liars_dice_1x5_rebel"]) == "rebel"
    assert player_of(shipped["liars_dice_1x5_rebel"], "sog") == "sog"
    for name in ("liars_dice(numdice=1,dice_sides=6)", "connect_four", "kuhn_poker"):
        assert player_of(name) == "sog"
    with pytest.raises(CheckpointError, match="no such checkpoint"):
        player_of("no/such")
    with pytest.raises(GameError, match="no game is called no_such_game"):
        player_of("no_such_game")


def test_a_network_plays_boards_by_its_own_algorithm_or_by_student_of_games() -> None:
    assert [board_player_of(name) for name in ("sog", "alphazero", "rebel")] == ["sog", "alphazero", "sog"]
    with pytest.raises(SettingError, match="a policy network by rnad plays no boards"):
        board_player_of("rnad")


def test_a_checkpoint_may_be_called_what_leaves_are_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its network is measured, not exact leaves or zero ones."""
    folder = next(folder for folder in shipped_checkpoints() if folder.name == "leduc_poker")
    monkeypatch.chdir(tmp_path)
    for name in (EXACT_LEAVES, ZERO_LEAVES):
        shutil.copytree(folder, tmp_path / name)
        assert sog._subject(name, Choices()).leaves == network_leaves(folder)[1]
        assert sog._subject("kuhn_poker", Choices(leaves=name)).leaves == name


def test_seeds_are_of_one_network_whatever_the_folder_comes_to_hold(tmp_path: Path) -> None:
    """A run that is measured may go on training meanwhile."""

    def found(leaves: NetworkLeaves) -> list[tuple[int, float]]:
        subject = Subject("kuhn_poker", leaves, ResolveSettings(Budget(5, 1.0)))
        return list(measure_seeds(subject, [0, 1], Where("local", 1)))

    def trained(step: int) -> NetworkLeaves:
        network = CVPN(shape_for(Kuhn(), 8, 1), step)
        torch.nn.init.normal_(network.head.weight, generator=torch.Generator().manual_seed(step))
        checkpoint.save(tmp_path, network, "kuhn_poker", "run", step, {})
        return network_leaves(tmp_path)[1]

    opened = trained(0)
    before = found(opened)
    assert found(trained(1)) != before == found(opened)
