"""Arguments from outside: every number bounded, options that do nothing refused, outputs never lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from sog.cli.app import main
from sog.errors import CheckpointError, GameError, SettingError
from sog.games.boards.fen import checked_fen
from sog.games.catalog import make_game

Capture = pytest.CaptureFixture[str]

SHIPS = "battleship(board_width=3,board_height=3,allow_repeated_shots=False,num_shots=3,ship_sizes={},ship_values={})"
RIVER = "holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;allin)"
SPOT = "holdem(board=2s2h2d7c9c,pot=100,stacks=50,bets=allin,range0=AA,range1=KK)"
DIGITS = "9" * 23


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["solve", "kuhn_poker", "--seed", "-1"], "'--seed'"),
        (["solve", "kuhn_poker", "--algorithm", "external-mccfr", "--seed", "-1"], "'--seed'"),
        (["solve", "kuhn_poker", "--algorithm", "external-mccfr", "--seed", DIGITS], "'--seed'"),
        (["solve", "kuhn_poker", "--seed", "1"], "--seed is for external-mccfr"),
        (["solve", "kuhn_poker", "--threads", "0"], "'--threads'"),
        (["solve", "kuhn_poker", "--threads", "2"], "--threads, --bits and --lock are for hold'em spots"),
        (["solve", "kuhn_poker", "--bits", "16"], "--threads, --bits and --lock are for hold'em spots"),
        (["solve", RIVER, "--bits", "8"], "regrets and averages have 32 or 16 bits, not 8"),
        (["solve", "kuhn_poker", "--algorithm", ""], "must not be empty"),
        (["solve", "kuhn_poker", "--iterations", DIGITS], "'--iterations'"),
        (["solve", "kuhn_poker", "--limit-gb", "nan"], "'--limit-gb'"),
        (["solve", RIVER, "--threads", "0"], "'--threads'"),
        (["solve", RIVER, "--seed", "1"], "do nothing in hold'em"),
        (["play", "kuhn_poker", "--seed", "-1"], "'--seed'"),
        (["play", "kuhn_poker", "--seed", DIGITS], "'--seed'"),
        (["play", "kuhn_poker", "--hands", "0"], "'--hands'"),
        (["play", "kuhn_poker", "-c", "nan"], "'--per-update'"),
        (["play", "kuhn_poker", "--agent", "sog:UniformAgent", "--algorithm", "rebel"], "no search budget"),
        (["play", "kuhn_poker", "--algorithm", "sog(paper=both)"], "paper is sog or pog, not both"),
        (["play", "tic_tac_toe", "--algorithm", "sog(alpha=0.2)"], "alpha needs paper=sog or paper=pog on a board"),
        (["play", "leduc_poker", "--algorithm", "sog(leaves=zero)"], "leaves is a setting of `sog exploit`"),
        (["play", "kuhn_poker", "--alpha", "0.2"], "--algorithm 'sog(alpha=...)'"),
        (["play", "leduc_poker", "--algorithm", "sog(alpha=2)"], "alpha must lie in [0, 1], not 2.0"),
        (["play", "leduc_poker", "--algorithm", "sog(depth=2)"], "sog has no setting depth; `sog algorithms sog`"),
        (["exploit", "leduc_poker", "-s", "99999999999999999999"], "'--simulations'"),
        (["exploit", "leduc_poker", "--playthroughs", "3"], "--playthroughs is for --algorithm rebel"),
        (["exploit", "leduc_poker", "--limit-gb", "nan"], "'--limit-gb'"),
        (["exploit", "leduc_poker", "--limit-gb", "0.001"], "more than 0.001 GB of memory for its first"),
        (["exploit", "leduc_poker", "--agent", "sog:UniformAgent", "--limit-gb", "0.001"], "more than 0.001 GB"),
        (["play", "leduc_poker", "--limit-gb", "0.001"], "more than 0.001 GB of memory for its first"),
        (["play", "tic_tac_toe", "--limit-gb", "1"], "--limit-gb does nothing on a board"),
        (["play", "chess", "--game", "chess(fen=7k/6Q1/6K1/8/8/8/8/8 b - - 0 1)"], "is over where it begins"),
        (["play", "chess", "--agent", "sog:UniformAgent", "--limit-gb", "9"], "far more than 200,000 public states"),
        (["exploit", "leduc_poker", "--algorithm", ""], "must not be empty"),
        (["exploit", "leduc_poker", "--algorithm", "sog(alpha=nan)"], "alpha is a number, not nan"),
        (["exploit", "leduc_poker", "--algorithm", ""], "must not be empty"),
        (["exploit", "kuhn_poker", "--agent", "sog:UniformAgent", "--algorithm", "rebel"], "only --seeds"),
        (["train", "kuhn_poker", "--seed", "-1"], "'--seed'"),
        (["train", "kuhn_poker", "--minutes", "nan"], "'--minutes'"),
        (["train", "kuhn_poker", "--processor-minutes", "1", "--workers", "2"], "add --workers 1"),
        (["train", "kuhn_poker", "--processor-minutes", "1", "--workers", "1", "--asynchronous"], "in one process"),
        (["train", "kuhn_poker", "--algorithm", "sog(network=)"], "not a key=value pair"),
        (["train", "kuhn_poker", "--algorithm", "sog(network=1x99999999999)"], "hidden layers x width"),
        (["train", "kuhn_poker", "--algorithm", "sog(network=2x999999)"], "would need"),
        (["train", "kuhn_poker", "--solver", "fp"], "--algorithm 'rebel(solver=...)'"),
        (["train", "kuhn_poker", "--cluster", ""], "must not be empty"),
        (["train", "kuhn_poker", "--cluster", f"local:{DIGITS}"], "is not one of"),
        (["train", "kuhn_poker", "--cluster", "ray:2000"], "1 to 1024"),
        (["train", "kuhn_poker", "--algorithm", "rnad", "--cluster", "local:2"], "rnad learns in one process"),
        (["train", "kuhn_poker", "--algorithm", "mmd", "--asynchronous"], "mmd learns in one process"),
        (["train", "kuhn_poker", "--algorithm", "mmd", "--from", "leduc_poker"], "--from is for runs in rounds"),
        (
            ["train", "kuhn_poker", "--algorithm", "rebel(solver=cfr-ave)", "--asynchronous", "--serve", "cpu"],
            "answers by infostate, and this solver reads values by pair",
        ),
        (["train", "kuhn_poker", "--asynchronous", "--from", "leduc_poker"], "--from is for runs in rounds"),
        (["train", "kuhn_poker", "--from", "no/such/folder"], "no such checkpoint"),
        (["train", "kuhn_poker", "--from", "nothere"], "no folder nothere is here, and no game is called nothere"),
        (["exploit", "kuhn_poker", "-s", "1", "--cluster", "127.0.0.1:1"], "sog: "),  # with one seed, too
        (["tournament", "none.toml", "--cluster", "local:0"], "1 to 1024"),
        (["bench", "inference", "--batch", "0"], "'--batch'"),
        (["bench", "inference", "--batch", DIGITS], "'--batch'"),
        (["bench", "inference", "--seconds", "nan"], "'--seconds'"),
        (["bench", "inference", "--limit", "inf"], "'--limit'"),
        (["bench", "inference", "--threads", "0"], "'--threads'"),
        (["bench", "inference", "--mode", "fast"], "no mode is called fast"),
        (["bench", "inference", "--network", "nothing"], "no network's name holds"),
        (["bench", "pipeline", "--seconds", "nan"], "'--seconds'"),
        (["bench", "pipeline", "--workers", "0"], "'--workers'"),
        (["bench", "pipeline", "kuhn_poker", "--algorithm", "nashpg"], "nashpg learns in one process"),
        (["bench", "simulations", "kuhn_poker"], "no board game"),
        (["solve", "connect_four(moves=12343334213)", "--seed", "4"], "--seed"),
        (["solve", "connect_four(moves=12343334213)", "--limit-gb", "1"], "--limit-gb"),
        (["uci", "--seed", "-1"], "'--seed'"),
        (["uci", "-s", "0"], "'--simulations'"),
        (["gtp", "-c", "-0.5"], "'--per-update'"),
        (["perft", "chess", DIGITS], "'DEPTH'"),
        (["reproduce", "resolving", "--seeds", "0"], "'--seeds'"),
        (["bench", "search", "--batch-seconds", "nan"], "'--batch-seconds'"),
        (["bench", "rebel", "--seconds", "-1"], "'--seconds'"),
        (["bench", "root", "--network", "9x"], "hidden layers x width"),
        (["bench", "histories", "--network", f"1x{DIGITS}"], "hidden layers x width"),
        (["bench", "root", "-c", "1", "-c", "nan"], "'--per-update'"),
        (["show", "x.npz", "--svg", "same", "--csv", "./same"], "named for two outputs"),
        (["solve", "chess(fen=4k3/8/8/8/8/8/8/4K2R w K - 0 1)", "--check-openspiel"], "OpenSpiel does not load chess"),
        (["tournament", "/dev/full"], "not a plain file"),  # it has no end
        (["show", "/dev/zero"], "not a plain file"),
        (["show", f"{'9' * 5000}.npz"], "too long"),
        (["tournament", "x" * 300], "too long"),
        (["bench", "search", "a" * 9999], "sog: "),
        (["train", "kuhn_poker", "--out", "x" * 300, "--resume"], "too long"),
        (["solve", "\x1b[31m"], "not a game string"),
        (["solve", "a" * 200_000], "at most 100,000 letters"),
    ],
)
def test_one_line_and_code_2(
    words: list[str], why: str, capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("sog: ") and err.count("\n") == 1 and "\x1b" not in err
    assert why in err and len(err) < 3_000
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name",
    [
        SHIPS.format("[nan]", "[1]"),
        SHIPS.format("[inf]", "[1]"),
        SHIPS.format("[1.5]", "[1]"),
        SHIPS.format("[2]", "[nan]"),
        SHIPS.format("[2]", "[inf]"),
        "battleship(board_width=999999,board_height=999999,allow_repeated_shots=False)",
        "battleship(board_width=100,board_height=100,allow_repeated_shots=False)",  # was 18 seconds on 30 x 30
        "battleship(allow_repeated_shots=False,loss_multiplier=1e999)",
        "liars_dice(numdice=99999999,dice_sides=1)",
        "liars_dice(numdice=1,dice_sides=1000)",
        f"liars_dice(numdice={DIGITS})",
        "holdem(seed=-1,bets=random)",
        "holdem(noise=1e999)",
        "go(komi=1e999)",
        "scotland_yard(map=/dev/zero)",
        f"scotland_yard(rounds={'9' * 5000})",
        "openspiel:go(board_size=99)",
        "openspiel:go(board_size=0)",
        "openspiel:liars_dice(numdice=-1)",
        "openspiel:hex(board_size=0)",
        "openspiel:goofspiel(num_cards=0,imp_info=True)",
        SHIPS.format("[2;2;2;2;2;2;2;2;2;2;2;2;2]", "[1;1;1;1;1;1;1;1;1;1;1;1;1]"),
    ],
)
def test_games_with_impossible_numbers_are_refused(name: str, capfd: Capture) -> None:
    with pytest.raises(GameError) as error:
        make_game(name)
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("fen", "why"),
    [
        ("4k3/8/8/8/8/8/8/4K3 w KQkq - 0 1", "castling K without king and rook at home"),
        ("4k3/8/8/8/8/8/8/4K2R b Q - 0 1", "castling Q"),
        ("4k3/8/8/8/8/8/8/4KR2 w K - 0 1", "castling K"),
        ("4k3/8/8/4P3/8/8/8/4K3 w - d6 0 1", "no pawn can have passed d6"),
        ("4k3/8/8/3pP3/8/8/8/4K3 b - d6 0 1", "no pawn can have passed d6"),
        ("4k3/3p4/8/3pP3/8/8/8/4K3 w - d6 0 1", "no pawn can have passed d6"),
        ("4k3/8/8/8/8/8/8/8 w - - 0 1", "each side has one king"),
        ("4k3/8/8/8/8/8/8/3KK3 w - - 0 1", "each side has one king"),
        ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "a pawn stands on"),
        ("4k3/9/8/8/8/8/8/4K3 w - - 0 1", "six fields"),
        ("4k3/88/8/8/8/8/8/4K3 w - - 0 1", "eight squares"),
        ("4k3/QQQQQQQQ/QQQQQQQQ/8/8/8/8/4K3 b - - 0 1", "more than sixteen"),
        ("4kQ2/8/8/8/8/8/8/4K3 w - - 0 1", "not to move is in check"),
        ("8/8/8/8/8/8/8/kK6 w - - 0 1", "not to move is in check"),
        ("4k3/8/5N2/8/8/8/8/4K3 w - - 0 1", "not to move is in check"),
        ("4k3/5P2/8/8/8/8/8/4K3 w - - 0 1", "not to move is in check"),
        ("4k3/8/8/8/8/8/3p4/4K3 b - - 0 1", "not to move is in check"),
        ("4k3/8/8/b7/8/8/8/4K3 b - - 0 1", "not to move is in check"),
        ("4k3/8/8/8/8/8/8/4K3 w  - 0 1", "six fields"),
    ],
)
def test_positions_that_cannot_be_are_refused_before_openspiel_sees_them(fen: str, why: str, capfd: Capture) -> None:
    with pytest.raises(GameError, match=why):
        make_game(f"chess(fen={fen})")
    assert capfd.readouterr().err == ""


def test_positions_of_random_games_are_accepted() -> None:
    """Checks, castling rights, passed pawns and promotions come up in 40 games of 120 moves."""
    import random

    import pyspiel

    chance, seen = random.Random(0), set[str]()
    for _ in range(40):
        state = pyspiel.load_game("chess").new_initial_state()
        for _ in range(120):
            if state.is_terminal():
                break
            state.apply_action(chance.choice(state.legal_actions()))
            fen = state.board().to_fen()
            assert checked_fen(fen) == fen
            seen |= {fen.split(" ")[2], fen.split(" ")[3]}
    assert len(seen) > 15


# --- outputs ---


def test_solve_leaves_a_users_part_file_alone(tmp_path: Path, capsys: Capture) -> None:
    out, part = tmp_path / "x.npz", tmp_path / "x.npz.part"
    part.write_text("mine")
    assert main(["solve", SPOT, "--iterations", "20", "--out", str(out)]) == 0
    assert part.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.npz", "x.npz.part"]
    assert out.stat().st_mode & 0o777 == part.stat().st_mode & 0o777


def test_a_spot_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sog.games.holdem.game import Holdem
    from sog.searches.holdem import saved
    from sog.searches.holdem.solver import HoldemSolver, Progress

    game = make_game(SPOT)
    assert isinstance(game, Holdem)

    def full(file: object, **arrays: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saved.np, "savez", full)
    with pytest.raises(CheckpointError, match="No space left"):
        saved.save(HoldemSolver(game, 1), Progress(0, 1.0, 0.1), tmp_path / "x.npz")
    assert not list(tmp_path.iterdir())


# --- what a person's own code raises ---

OWN = """
import sog

class Raises(sog.UniformAgent):
    def __init__(self, public, player, seed=0):
        raise ValueError("two\\nlines")

class RaisesLater(sog.UniformAgent):
    def policy(self, node):
        return 1 / 0

class NoArray(sog.UniformAgent):
    def policy(self, node):
        return "no array"

class TakesNothing(sog.UniformAgent):
    def __init__(self):
        pass
"""


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        ("own_agents:Raises", "the agent Raises raised ValueError: two lines (own_agents.py, line 6)"),
        ("own_agents:RaisesLater", "the agent RaisesLater raised ZeroDivisionError: division by zero (own_agents.py"),
        ("own_agents:NoArray", "a policy that is no array of numbers but str"),
        ("own_agents:Missing", "has no Missing"),
        ("own_agents:TakesNothing", "the agent TakesNothing is made with (public, player, seed): too many positional"),
        ("own_agents.py:NoArray", "is named MODULE:CLASS, such as own_agents:NoArray, not own_agents.py:NoArray"),
        ("own_broken:Agent", "the module own_broken raised SyntaxError"),
        ("own_leaving:Agent", "the module own_leaving ended the program"),
        ("..:x", "MODULE:CLASS"),
        (":", "MODULE:CLASS"),
        ("os:path:x", "MODULE:CLASS"),
    ],
)
@pytest.mark.parametrize("command", ["exploit", "play"])
def test_what_an_agent_raises_is_one_line(
    command: str, agent: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "own_agents.py").write_text(OWN)
    (tmp_path / "own_broken.py").write_text("def")
    (tmp_path / "own_leaving.py").write_text("import sys\nsys.exit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    seat = ["--seat", "1", "--hands", "1"] if command == "play" else []
    assert main([command, "kuhn_poker", "--agent", agent, *seat]) == 2
    err = capsys.readouterr().err
    assert err.startswith("sog: ") and err.count("\n") == 1 and why in err


@pytest.mark.parametrize("command", ["play", "exploit"])
def test_a_file_in_place_of_a_runs_folder_is_called_one(command: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "policy.json").write_text("{}")
    assert main([command, str(tmp_path / "policy.json")]) == 2
    assert "not a checkpoint (it is a file, not a run's folder)" in capsys.readouterr().err
    assert main([command, str(tmp_path)]) == 2
    assert "not a checkpoint (it has no meta.json)" in capsys.readouterr().err


def test_what_a_game_raises_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    from sog.games import catalog
    from sog.games.rules.kuhn import Kuhn

    class Mine(Kuhn):
        def weights(self, s: object) -> object:  # type: ignore[override]
            raise TypeError("mine")

    monkeypatch.setattr(catalog, "make_game", lambda name: Mine())
    assert main(["solve", "kuhn_poker"]) == 2
    assert capsys.readouterr().err == "sog: Mine's code raised TypeError: mine\n"


@pytest.mark.parametrize(
    ("words", "way_out"),
    [
        ([RIVER.replace(")", ",inputs=paper)")], "the setting batch=270 would fit"),
        (
            ["scotland_yard(map=london)", "--algorithm", "sog(network=6x2048)"],
            "the setting network=3x256, or one like it, makes a smaller network",
        ),
    ],
)
def test_training_that_cannot_fit_says_what_would(
    words: list[str], way_out: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from sog.training import memory as needs

    monkeypatch.setattr(needs, "machine_bytes", lambda: 2e8)
    monkeypatch.chdir(tmp_path)
    assert main(["train", *words, "--workers", "1"]) == 2
    said = capsys.readouterr().err
    assert "GB for the network and its learner" in said and f"this machine has 0.2 GB: {way_out}" in said
    assert not list(tmp_path.iterdir())


def test_what_training_would_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights are counted without being made, and a run that fits is not refused."""
    from sog.algorithms.table import settings_of
    from sog.nets.cvpn import CVPN
    from sog.training import memory as needs

    settings = settings_of(make_game("kuhn_poker"), "demo")
    assert needs.weights(settings.shape) == sum(w.numel() for w in CVPN(settings.shape).parameters())
    needs.check_memory(settings.needed_memory(), "kuhn_poker")
    monkeypatch.setattr(needs, "machine_bytes", lambda: 1e6)
    with pytest.raises(SettingError, match=r"training kuhn_poker would need .* GB of memory"):
        needs.check_memory(settings.needed_memory(), "kuhn_poker")
