"""The table of learning algorithms: what each takes, refusals by the table, and no branch on a name elsewhere."""

from __future__ import annotations

import ast
import math
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sog.algorithms.base import Algorithm, Asked, Measured, seeds_text
from sog.algorithms.rebel.agent import RebelAgent
from sog.algorithms.rebel.algorithm import Rebel
from sog.algorithms.student.algorithm import Student
from sog.algorithms.student.chain_player import ChainPlayer
from sog.algorithms.student.measure import (
    EXACT_LEAVES,
    ZERO_LEAVES,
    NetworkLeaves,
    Subject,
    measure_seed,
    measure_seeds,
    network_leaves,
)
from sog.algorithms.student.player import SogPlayer
from sog.algorithms.table import ALGORITHMS, find, player_of, playing, read, refuse_unfit, says_who_plays, settings_of
from sog.cli.app import main
from sog.cluster.placement import Placement
from sog.errors import CheckpointError, GameError, SettingError
from sog.games.catalog import make_game
from sog.games.rules.kuhn import Kuhn
from sog.measure.exploitability import exploitability
from sog.measure.listed import listed
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.play.agent import SearchAgent
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import PAPER, POG, Budget, SearchSettings
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.training import checkpoint
from sog.training.opened import Opened
from sog.training.shipped_folders import shipped_checkpoints

ROOT = Path(__file__).parents[2]


def test_names_differ_and_what_they_are_measured_with_can_be_asked() -> None:
    names = [kind.name for kind in ALGORITHMS]
    assert len(set(names)) == len(names) and all(find(name).name == name for name in names)
    known = set(Asked.__dataclass_fields__)
    for kind in ALGORITHMS:
        assert set(kind.measured_with) <= known and set(kind.carried) <= set(kind.own())


@pytest.mark.parametrize("kind", [kind for kind in ALGORITHMS if not kind.alone], ids=lambda kind: kind.name)
def test_settings_travel_to_workers_and_make_the_actor_there(kind: type[Algorithm]) -> None:
    game = make_game("kuhn_poker" if kind.plays_hidden or kind.alone else "tic_tac_toe")
    settings = pickle.loads(pickle.dumps(settings_of(game, "demo", kind.name)))
    assert settings == settings_of(game, "demo", kind.name)
    assert hasattr(settings.acting.make(game, settings.shape), "round")


@pytest.mark.parametrize(
    "text",
    [
        "sog(uniform_mix=2)",  # would play what the search does not
        "sog(td1=7)",
        "sog(no_resign=-0.5)",
        "sog(queries=-3)",
        "sog(recursive=-1)",
        "sog(outcomes=-2)",
        "sog(exact_iterations=-2)",
        "sog(searched=1.5)",
        "sog(moves_max=-1)",
        "sog(greedy_after=-1)",
        "sog(side_by_side=0)",  # would play no games
        "sog(rounds=-1)",
        "sog(replay_bytes=-1)",
        "rebel(epsilon=3)",
        "rebel(exact=-1)",
        "rebel(hold=-1)",
        "alphazero(sampled_moves=-1)",
        "alphazero(no_resign=3)",
        "alphazero(moves_max=-3)",
        "alphazero(resign_below=2)",
        "sog(resign_below=1.5)",
        "alphazero(considered=-1)",
    ],
)
def test_settings_out_of_range_are_refused_before_anything_begins(text: str) -> None:
    name, algorithm = text[text.index("(") + 1 : text.index("=")], read(text)
    board = "connect_four" if name == "considered" else "tic_tac_toe"
    game = make_game("kuhn_poker" if algorithm.plays_hidden else board)
    with pytest.raises(SettingError, match=f"^{name} "):
        algorithm.settings(game, "demo")


def test_what_is_another_algorithms_is_refused() -> None:
    with pytest.raises(SettingError, match="sog has no setting warm; `sog algorithms sog` lists them"):
        read("sog(warm=3)")
    with pytest.raises(SettingError, match="--playthroughs is for --algorithm rebel, not sog"):
        refuse_unfit(Student(), Asked(playthroughs=3))
    with pytest.raises(SettingError, match="alphazero has no setting per_update"):
        find("alphazero")().varied(simulations=5, per_update=2.0)
    with pytest.raises(SettingError, match="perfect information only, not kuhn_poker"):
        find("alphazero")().agents(PublicTree(Kuhn()), None)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="rebel plays no games of perfect information"):
        Rebel().player(zero_evaluator, 0)
    known = "sog or rebel or rnad or mmd or nashpg or sepot"
    with pytest.raises(SettingError, match=f"--algorithm is {known}, not alphazero"):
        refuse_unfit(find("alphazero")(), Asked())


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("exploit leduc_poker --playthroughs 3", "--playthroughs is for --algorithm rebel, not sog"),
        ("exploit leduc_poker --algorithm rebel -s 3", "rebel has no setting simulations"),
        ("exploit leduc_poker --algorithm alphazero", "--algorithm is sog or rebel"),
        ("exploit leduc_poker --seeds 0", "Invalid value for '--seeds'"),
        ("exploit leduc_poker -s 3 --algorithm sog(simulations=5)", "simulations is given twice, as 5 in"),
        ("exploit leduc_poker --paper --algorithm sog(paper=pog)", "paper is given twice, as pog in"),
        ("match leduc_poker random --game leduc_poker --hands 2 -s 3 --algorithm-a sog(simulations=5)", "given twice"),
        ("train kuhn_poker --algorithm sog(decay=3.0)", "decay is a share of at most 1, not 3"),
        (
            "train kuhn_poker --algorithm sog(updates_per_example=inf)",
            "updates_per_example must be positive and finite",
        ),
        ("train kuhn_poker --algorithm rnad(games=0)", "games is a whole number of at least 1, not 0"),
        ("train kuhn_poker --out .", "must name a folder, and not the current one"),
        ("play kuhn_poker --updates 3", "--algorithm 'rebel(updates=...)'"),
        ("uci chess --algorithm alphazero -c 3", "alphazero has no setting per_update"),
    ],
)
def test_the_command_line_refuses_them_in_one_line(line: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert why in " ".join(capsys.readouterr().err.split())


def test_an_exploited_run_says_whose_search_plays(tmp_path: Path) -> None:
    """Exploitability is not measured by AlphaZero's search: by Student of Games'."""
    game = make_game("tic_tac_toe")
    for name in ("alphazero", "sog"):
        checkpoint.save(tmp_path / name, CVPN(shape_for(game, 8, 1)), game.name, "run", 0, {"algorithm": name})
    said = says_who_plays(tmp_path / "alphazero", player_of(tmp_path / "alphazero"))
    assert said == "sog exploit has no search of alphazero's: this is sog's search with its network"
    assert says_who_plays(tmp_path / "sog", player_of(tmp_path / "sog")) == says_who_plays("chess", Student()) == ""
    # With dice and nothing hidden it plays what it trained.
    assert player_of(tmp_path / "alphazero") == Student()
    assert player_of(tmp_path / "alphazero", open_dice=True) == find("alphazero")()


def test_one_search_with_the_network_of_another_says_so(tmp_path: Path) -> None:
    game = make_game("leduc_poker")
    for name in ("rebel", "sog"):
        checkpoint.save(tmp_path / name, CVPN(shape_for(game, 8, 1)), game.name, "run", 0, {"algorithm": name})
    said = says_who_plays(tmp_path / "rebel", Student())
    assert said == "rebel trained it and searches otherwise: this is sog's search with its network"
    assert says_who_plays(tmp_path / "sog", find("rebel")).startswith("sog trained it")
    # A game string means the network that the algorithm itself trained.
    assert says_who_plays("liars_dice(numdice=1,dice_sides=4)", find("rebel")) == ""
    assert says_who_plays("liars_dice(numdice=1,dice_sides=4)", Student()) == ""


def test_nothing_else_compares_an_algorithms_name() -> None:
    """No `algorithm == "rebel"` in the package: whatever depends on the algorithm is in its entry."""
    named = {kind.name for kind in ALGORITHMS}
    words = {*(repr(name) for name in named), *(name.upper() for name in named)}
    found = []
    for path in sorted((ROOT / "sog").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
                sides = {ast.unparse(side).split(".")[-1] for side in (node.left, *node.comparators)}
                if sides & words:
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not found


@pytest.mark.parametrize("code", ["import sog", "from sog.cli.app import main; main(['--help'])"])
def test_the_front_door_needs_neither_numba_nor_pytorch(code: str) -> None:
    """The table of algorithms imports all of them, so only commands that use it do."""
    line = f"import sys; {code}; sys.exit(bool({{'torch', 'numba'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", line], cwd=ROOT, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize(("name", "settings"), [("sog", PAPER), ("pog", POG)])
def test_the_papers_search_can_be_played_against(name: str, settings: SearchSettings) -> None:
    """On a board every move is re-solved from scratch (PoG, B.5) at Table 3's temperature; ours keeps its tree."""
    player, own = (Student(paper=paper).player(zero_evaluator, 0) for paper in (name, ""))
    assert isinstance(player, ChainPlayer) and isinstance(own, SogPlayer) and own.reuse
    search = player.settings.search
    assert replace(search, prior_temperature=1.0) == settings and search.prior_temperature == 1.5
    assert player.settings.gadget and player.settings.every_decision
    assert Student(paper=name).label != Student().label


def test_a_tolerance_reaches_the_search_where_information_is_hidden() -> None:
    game = Kuhn()
    opened = Opened(game, CVPN(shape_for(game, 8, 1)), True)
    agent = Student(tolerance=0.5).agents(PublicTree(game).list_all(), opened)(0, 0)
    assert isinstance(agent, SearchAgent) and agent.settings.search.tolerance == 0.5
    with pytest.raises(SettingError, match="on a board"):
        Student(tolerance=0.5).player(zero_evaluator, 0)
    with pytest.raises(SettingError, match="from 0 to 2"):
        Student(tolerance=3.0)


def test_purified_play_reaches_the_agent_where_information_is_hidden() -> None:
    game = Kuhn()
    opened = Opened(game, CVPN(shape_for(game, 8, 1)), True)
    for given, plays in ((0.5, 0.5), (None, 0.0)):
        agent = Student(purify=given).agents(PublicTree(game).list_all(), opened)(0, 0)
        assert isinstance(agent, SearchAgent) and agent.settings.purify == plays
    with pytest.raises(SettingError, match="on a board"):
        Student(purify=0.5).player(zero_evaluator, 0)


@pytest.mark.parametrize(("name", "correct"), [("paper", False), ("full", True)])
def test_rebels_network_is_played_as_its_preset_solves(name: str, correct: bool) -> None:
    game = Kuhn()
    opened = Opened(game, CVPN(shape_for(game, 8, 1)), True, preset=name)
    agent = Rebel().agents(PublicTree(game).list_all(), opened)(0, 0)
    assert isinstance(agent, RebelAgent) and agent.settings.solve.correct == correct


def test_a_checkpoint_is_played_as_it_was_trained() -> None:
    """ReBeL's networks by ReBeL; of a game that both trained, and without a checkpoint, by Student of Games."""
    shipped = {folder.name: str(folder) for folder in shipped_checkpoints()}
    assert player_of(shipped["liars_dice_1x5_rebel"]) == Rebel()
    assert player_of(shipped["liars_dice_1x5_rebel"], open_dice=True) == Rebel()
    assert player_of(shipped["liars_dice_1x5_rebel"], "sog") == Student()
    for name in ("liars_dice(numdice=1,dice_sides=6)", "connect_four", "kuhn_poker"):
        assert player_of(name) == Student()
    with pytest.raises(CheckpointError, match="no such checkpoint"):
        player_of("no/such")
    with pytest.raises(GameError, match="no game is called no_such_game"):
        player_of("no_such_game")


def test_settings_that_are_carried_are_those_of_training_unless_they_are_set() -> None:
    trained = read("rebel(solver=fp,warm=5,replay=1000,updates=64)")
    assert playing(trained, None) == Rebel(solver="fp", warm=5)
    assert playing(trained, Rebel(warm=0, updates=16)) == Rebel(solver="fp", warm=0, updates=16)
    assert playing(trained, Student()) == Student()


def test_a_network_plays_boards_by_its_own_algorithm_or_by_student_of_games() -> None:
    names = [playing(find(name)(), None, boards=True).name for name in ("sog", "alphazero", "rebel")]
    assert names == ["sog", "alphazero", "sog"]
    with pytest.raises(SettingError, match="a policy network by rnad plays no boards"):
        playing(find("rnad")(), None, boards=True)
    with pytest.raises(SettingError, match="sog cannot search with a policy network, which rnad trained"):
        playing(find("rnad")(), Student())


def test_a_checkpoint_may_be_called_what_leaves_are_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its network is measured, not exact leaves or zero ones."""
    folder = next(folder for folder in shipped_checkpoints() if folder.name == "leduc_poker")
    monkeypatch.chdir(tmp_path)
    for name in (EXACT_LEAVES, ZERO_LEAVES):
        shutil.copytree(folder, tmp_path / name)
        assert Student()._subject(name, Asked()).leaves == network_leaves(folder)[1]
        assert Student(leaves=name)._subject("kuhn_poker", Asked()).leaves == name


def test_seeds_are_of_one_network_whatever_the_folder_comes_to_hold(tmp_path: Path) -> None:
    """A run that is measured may go on training meanwhile."""

    def found(leaves: NetworkLeaves) -> list[tuple[int, float]]:
        subject = Subject("kuhn_poker", leaves, ResolveSettings(Budget(5, 1.0)))
        return list(measure_seeds(subject, [0, 1], Placement("local", 1)))

    def trained(step: int) -> NetworkLeaves:
        network = CVPN(shape_for(Kuhn(), 8, 1), step)
        torch.nn.init.normal_(network.head.weight, generator=torch.Generator().manual_seed(step))
        checkpoint.save(tmp_path, network, "kuhn_poker", "run", step, {})
        return network_leaves(tmp_path)[1]

    opened = trained(0)
    before = found(opened)
    assert found(trained(1)) != before == found(opened)


def test_a_seeds_exploitability_is_in_the_games_unit() -> None:
    """Leduc's is a thousandth of a chip."""
    settings, public = ResolveSettings(Budget(2, 1.0)), listed("leduc_poker")
    found = measure_seed(Subject("leduc_poker", ZERO_LEAVES, settings), 3)
    assert found == pytest.approx(1000.0 * exploitability(public, settings, zero_evaluator, 3), rel=1e-12)


def test_several_seeds_are_said_with_the_deviation_of_a_sample() -> None:
    found = Measured("kuhn_poker", "chips", (1.0, 3.0, 5.0, 7.0), "", {}, {}).over_values
    apart = {"deviation": pytest.approx(math.sqrt(20.0 / 3.0)), "standard_error": pytest.approx(math.sqrt(5.0 / 3.0))}
    assert found == {"min": 1.0, "mean": 4.0, "max": 7.0, "by_seed": (1.0, 3.0, 5.0, 7.0), **apart}
    assert seeds_text((1.0, 3.0, 5.0, 7.0)) == "min 1, max 7, deviation 2.6, standard error 1.3, 4 seeds, "
    assert Measured("kuhn_poker", "chips", (2.0,), "", {}, {}).over_values == {"min": 2.0, "mean": 2.0, "max": 2.0}
    assert seeds_text((2.0,)) == "min 2, max 2, 1 seed, "
