"""Tournaments: schedules, records, engines at fault, kills in mid-run, and files that say nonsense."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from sog.agents.opening import open_network
from sog.algorithms.student.chain_player import ChainPlayer
from sog.algorithms.student.player import BOARDS, SogPlayer
from sog.cli.app import main
from sog.errors import SettingError
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.games.game_records import GameRecord
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.opponents.random_player import RandomPlayer
from sog.play.match import ContestantFault, Played, PlayerContestant, play_match_game, random_opening, random_openings
from sog.play.move_tree import MoveTree
from sog.play.player import Limits, Player
from sog.play.resolver import paper_settings, pog_settings
from sog.protocols import tournament_file
from sog.protocols.tournament import (
    Result,
    fixtures,
    load_results,
    openings_of,
    play_tournament,
    seed_of,
)
from sog.protocols.tournament_file import Tournament, read_tournament
from sog.training import checkpoint
from soglab.checks.go_score import compare

FAKE = f"{shlex.quote(sys.executable)} -I -S {shlex.quote(str(Path(__file__).parent / 'fake_engine.py'))}"
GO = "go(board_size=5,komi=0.5)"
STOCKFISH = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
GNUGO = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


CHANCY = """
from sog.games.base import NATURE
from sog.games.boards.tic_tac_toe import TicTacToe

class Chancy(TicTacToe):
    def __init__(self):
        super().__init__()
        self.name = "chancy"

    def actor(self, s):
        return NATURE if len(s) == 2 else super().actor(s)

GAMES = {"chancy": Chancy}
"""


def test_a_game_of_ones_own_that_breaks_a_promise_begins_no_tournament(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says deterministic, and chance acts: it would end in the middle."""
    (tmp_path / "chancy_games.py").write_text(CHANCY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SOG_GAMES", "chancy_games")
    text = 'game = "chancy"\nrounds = 1\n[agents.a]\nrandom = true\n[agents.b]\nrandom = true\n'
    with pytest.raises(SettingError, match="chancy at "):
        read_tournament(file_of(tmp_path, text))


def file_of(folder: Path, text: str) -> Path:
    path = folder / "matches.toml"
    path.write_text(text)
    return path


def randoms(folder: Path, game: str = "tic_tac_toe", rounds: int = 3, count: int = 3, more: str = "plies = 1") -> Path:
    agents = "".join(f"[agents.r{k}]\nrandom = true\n" for k in range(count))
    return file_of(folder, f'game = "{game}"\nrounds = {rounds}\nseed = 5\n{more}\n{agents}')


def test_tournaments_of_other_seeds_play_other_games(tmp_path: Path) -> None:
    """Both together must be as many games as they say: a seat's seed is its game's, or one more."""
    tournament = read_tournament(randoms(tmp_path))
    games = [(replace(tournament, seed=seed), fixture) for seed in range(12) for fixture in fixtures(tournament)]
    seats = [seed_of(one, fixture) + mover for one, fixture in games for mover in (0, 1)]
    assert len(set(seats)) == len(seats)


def test_every_pair_meets_evenly_from_both_sides(tmp_path: Path) -> None:
    tournament = read_tournament(randoms(tmp_path))
    games = fixtures(tournament)
    assert [game.number for game in games] == list(range(1, 19))
    met = Counter((*game.seats, game.round) for game in games)
    assert len(met) == 18 and set(met.values()) == {1}
    assert openings_of(tournament) == openings_of(tournament) and len(openings_of(tournament)[1].moves) == 1


def test_a_gauntlet_is_one_agent_against_all_others(tmp_path: Path) -> None:
    tournament = read_tournament(randoms(tmp_path, rounds=2, count=4, more='plies = 1\ngauntlet = "r1"'))
    assert tournament.pairs() == [("r0", "r1"), ("r1", "r2"), ("r1", "r3")]
    games = fixtures(tournament)
    assert len(games) == 12 and all("r1" in fixture.seats for fixture in games)
    assert sum(fixture.seats[0] == "r1" for fixture in games) == 6
    assert len(list(play_tournament(tournament, tmp_path / "games"))) == 12


def test_results_and_records_are_on_disk(tmp_path: Path) -> None:
    tournament = read_tournament(randoms(tmp_path))
    results = list(play_tournament(tournament, tmp_path / "games"))
    assert results == load_results(tmp_path / "games") and len(results) == 18
    assert all((tmp_path / "games" / result.record).read_text().startswith("game: tic_tac_toe") for result in results)
    assert {result.utility for result in results} <= {-1.0, 0.0, 1.0}


def test_a_game_that_is_over_where_it_begins_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="is over where it begins"):
        read_tournament(randoms(tmp_path, game="chess(fen=7k/6Q1/6K1/8/8/8/8/8 b - - 0 1)"))


def test_results_that_are_no_file_are_refused(tmp_path: Path) -> None:
    assert load_results(tmp_path) == []
    (tmp_path / "games.jsonl").mkdir()
    with pytest.raises(SettingError, match="cannot be read"):
        load_results(tmp_path)


@pytest.mark.parametrize("fault", ["dies", "hangs", "illegal", "garbage"])
@pytest.mark.parametrize("moves", [0, 2])
def test_a_gtp_engine_at_fault_loses_and_the_tournament_goes_on(tmp_path: Path, fault: str, moves: int) -> None:
    said = f'game = "{GO}"\nrounds = 1\npatience = 1.5\n[agents.bad]\ngtp = "{FAKE} gtp {fault} {moves}"\n'
    tournament = read_tournament(file_of(tmp_path, said + "[agents.r]\nrandom = true\n"))
    results = list(play_tournament(tournament, tmp_path / "games"))
    assert len(results) == 2 and all(result.fault and result.why.startswith("bad: ") for result in results)
    assert [result.points[2] for result in results] == [0.0, 1.0]
    assert [result.moves for result in results] == [2 * moves, 2 * moves + 1]


@pytest.mark.parametrize("fault", ["dies", "hangs", "illegal"])
def test_a_uci_engine_at_fault_loses_and_the_tournament_goes_on(tmp_path: Path, fault: str) -> None:
    said = f'game = "chess"\nrounds = 1\npatience = 5\n[agents.bad]\nuci = "{FAKE} uci {fault} 1"\nnodes = 1\n'
    tournament = read_tournament(file_of(tmp_path, said + "[agents.r]\nrandom = true\n"))
    results = list(play_tournament(tournament, tmp_path / "games"))
    assert [(result.fault, result.points[2]) for result in results] == [(True, 0.0), (True, 1.0)]


def test_engines_without_fault_finish_their_games(tmp_path: Path) -> None:
    engines = [f'[agents.{name}]\ngtp = "{FAKE} gtp {fault} 3"' for name, fault in (("a", "none"), ("b", "resigns"))]
    said = "\n".join([f'game = "{GO}"', *engines])
    results = list(play_tournament(read_tournament(file_of(tmp_path, said)), tmp_path / "games"))
    assert [(r.fault, r.why, r.points[2]) for r in results] == [(False, "b resigned", 1.0), (False, "b resigned", 0.0)]


def test_an_untrained_network_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = "go(board_size=3,komi=0.5)"
    said = f'game = "{small}"\nlongest = 2\n[agents.new]\ncheckpoint = "{small}"\nsimulations = 1\n'
    path = file_of(tmp_path, said + "[agents.r]\nrandom = true\n")
    assert read_tournament(path).untrained() == ["new"]
    assert main(["tournament", str(path), "--json"]) == 0
    assert "what agent new names: its network is untrained" in capsys.readouterr().err
    shipped = said.replace(small, "connect_four")
    assert read_tournament(file_of(tmp_path, shipped + "[agents.r]\nrandom = true\n")).untrained() == []


@pytest.mark.parametrize(("key", "algorithm"), [("checkpoint", "sog"), ("alphazero", "alphazero")])
def test_an_agent_plays_with_the_network_that_its_algorithm_trained(
    key: str, algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = f'game = "connect_four"\n[agents.a]\n{key} = "connect_four"\n[agents.r]\nrandom = true\n'
    named: list[tuple[str, ...]] = []
    monkeypatch.setattr(tournament_file, "open_network", lambda *words: named.append(words) or open_network(*words))
    read_tournament(file_of(tmp_path, said)).contestant("a")
    assert named == [("connect_four", algorithm)]


@pytest.mark.parametrize(
    ("game", "agent", "why"),
    [
        (GO, 'gtp = "/no/such/engine"', "agent a: gtp = '/no/such/engine' is no program that can be started"),
        ("tic_tac_toe", f'uci = "{FAKE} uci none 1"\nnodes = 1', "agent a: engines that speak UCI play chess, not tic"),
        (
            "chess",
            f'gtp = "{FAKE} gtp none 1"',
            "agent a: engines that speak GTP play Go and OpenSpiel's boards, not chess",
        ),
        ("leduc_poker", "alphabeta = 2", "agent a: leduc_poker has chance or hidden information"),
    ],
)
def test_agents_that_cannot_play_lose_no_game(tmp_path: Path, game: str, agent: str, why: str) -> None:
    said = f'game = "{game}"\n[agents.a]\n{agent}\n[agents.r]\nrandom = true\n'
    with pytest.raises(SettingError, match=re.escape(why)):
        list(play_tournament(read_tournament(file_of(tmp_path, said)), tmp_path / "games"))
    assert not (tmp_path / "games").exists()


def test_a_killed_tournament_goes_on_and_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    """kill -9 while games are played; the same games come out."""
    path = randoms(tmp_path, "chess", rounds=8, count=2, more="plies = 2\nlongest = 60")
    whole = list(play_tournament(read_tournament(path), tmp_path / "whole"))
    out = str(tmp_path / "killed")
    command = [sys.executable, "-m", "sog.cli.app", "tournament", str(path), "--out", out, "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None and len(load_results(tmp_path / "killed")) < 2:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    with (tmp_path / "killed" / "games.jsonl").open("a") as file:
        file.write('{"number": 16, "sea')
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    resumed = sorted(load_results(tmp_path / "killed"), key=lambda result: result.number)
    assert resumed == whole
    for result in whole:
        same = [re.sub(r"Date.*", "", (tmp_path / where / result.record).read_text()) for where in ("whole", "killed")]
        assert same[0] == same[1]
    answer = json.loads(done.stdout)
    assert answer["games"] == 16 and sum(agent["wins"] + agent["losses"] for agent in answer["agents"]) % 2 == 0
    assert (tmp_path / "killed" / "elo.png").read_bytes().startswith(b"\x89PNG")


def test_two_tournaments_in_one_folder(tmp_path: Path) -> None:
    """The second is refused and names the first, whose games go on; afterwards the folder is free."""
    tournament, folder = read_tournament(randoms(tmp_path, rounds=2, count=2)), tmp_path / "games"
    first = play_tournament(tournament, folder)
    begun = next(first)
    with pytest.raises(SettingError, match=f"process {os.getpid()} on .* is playing there already"):
        next(play_tournament(tournament, folder))
    results = [begun, *first]
    assert len(results) == 4 and list(play_tournament(tournament, folder)) == results == load_results(folder)
    assert not (folder / "lock").exists()


def test_games_of_another_file_are_not_mixed_in(tmp_path: Path) -> None:
    list(play_tournament(read_tournament(randoms(tmp_path, rounds=1, count=2)), tmp_path / "games"))
    other = read_tournament(randoms(tmp_path, rounds=2, count=2))
    with pytest.raises(SettingError, match="another tournament"):
        list(play_tournament(other, tmp_path / "games"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("")
    with pytest.raises(SettingError, match="other files"):
        list(play_tournament(other, tmp_path / "mine"))
    assert os.listdir(tmp_path / "mine") == ["thesis.txt"]


REFUSED = [
    ("checkpoint = 'no/such/run'", "no such checkpoint"),
    ("checkpoint = 'connect_four'", "a plays connect_four, not tic_tac_toe"),
]


@pytest.mark.parametrize(("agent", "why"), REFUSED)
@pytest.mark.parametrize("cluster", [[], ["--cluster", "local:1"]], ids=["", "cluster"])
def test_a_refused_tournament_leaves_nothing(
    agent: str, why: str, cluster: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither its folder, nor folders around it that were not there, nor a file in one that was."""
    file = file_of(tmp_path, f'game = "tic_tac_toe"\n[agents.a]\n{agent}\n[agents.r]\nrandom = true\n')
    (tmp_path / "mine").mkdir()
    new, mine = ["--out", str(tmp_path / "new" / "folder")], ["--out", str(tmp_path / "mine")]
    for out in [new] if cluster else [[], new, mine]:
        assert main(["tournament", str(file), *out, *cluster]) == 2
        assert why in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["matches.toml", "mine"]


def test_a_tournament_refused_later_keeps_its_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a checkpoint is gone when the tournament is to go on."""
    tournament, folder = read_tournament(randoms(tmp_path, rounds=2, count=2)), tmp_path / "new" / "games"
    first = play_tournament(tournament, folder)
    begun = next(first)
    first.close()

    def gone(tournament: Tournament, name: str) -> PlayerContestant:
        raise SettingError("it is gone")

    with monkeypatch.context() as patched, pytest.raises(SettingError, match="it is gone"):
        patched.setattr(Tournament, "contestant", gone)
        list(play_tournament(tournament, folder))
    assert load_results(folder) == [begun] and len(list(play_tournament(tournament, folder))) == 4


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "game is missing"), ('game = "chess', "matches.toml: "), ('game = "chss"', "no game"),
        ('game = "chess"', "agents is missing"), ('game = "chess"\n[agents.a]\nrandom=true', "two"),
        ('game = "chess"\ngames = 3\n[agents.a]\nrandom=true\n[agents.b]\nrandom=true', "no key games"),
        ('game = "chess"\nrounds = 0\n[agents.a]\nrandom=true\n[agents.b]\nrandom=true', "rounds must be"),
        ('game = "chess"\ngauntlet="c"\n[agents.a]\nrandom=true\n[agents.b]\nrandom=true', "gauntlet names no agent"),
        ('game = "chess"\nrounds = true\n[agents.a]\nrandom=true\n[agents.b]\nrandom=true', "rounds cannot be"),
        ('game = "chess"\n[agents.a]\nrandom=true\n[agents.b]\nnodes=1', "exactly one"),
        ('game = "chess"\n[agents.a]\nrandom=true\n[agents.b]\nuci="x"\nnods=1', "no key nods"),
        ('game = "chess"\n[agents.a]\nrandom=true\n[agents.b]\ncheckpiont="x"', "b has checkpiont; it needs"),
        ('game = "chess"\n[agents.a]\nrandom=true\n[agents.b]', "agent b has no keys; it needs exactly one"),
        ('game = "chess"\nopenings=["e2e4 e2e4"]\n[agents.a]\nrandom=true\n[agents.b]\nrandom=true', "no legal move"),
    ],
)  # fmt: skip
def test_files_that_say_nonsense(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(SettingError, match=told):
        read_tournament(file_of(tmp_path, text))


def test_a_gauntlet_has_fewer_games_than_all_against_all(tmp_path: Path) -> None:
    """40 agents, 700 openings both ways: 54,600 games of one against the others, too many of each against each."""
    agents = "".join(f"[agents.a{k}]\nrandom = true\n" for k in range(40))
    read = read_tournament(file_of(tmp_path, f'game = "chess"\nrounds = 700\ngauntlet = "a0"\n{agents}'))
    assert 2 * read.rounds * len(read.pairs()) == 54_600
    with pytest.raises(SettingError, match="1,092,000 games"):
        read_tournament(file_of(tmp_path, f'game = "chess"\nrounds = 700\n{agents}'))


TWO = "[agents.a]\nrandom = true\n[agents.b]\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f'game = "chess"\n{TWO}gtp = "\'x"', "no closing quotation"),
        (f'game = "chess"\n{TWO}uci = "x \\""', "no closing"),
        (f'game = "chess"\n{TWO}gtp = ""', "names no program"),
        (f'game = "chess"\n{TWO}uci = "  "', "names no program"),
        (f'game = "chess"\n{TWO}gtp = 5', "gtp cannot be 5"), (f'game = "chess"\n{TWO}uci = ["x"]', "uci cannot be"),
        (f'game = "chess"\npatience = inf\n{TWO}random = true', "patience must be"),
        (f'game = "chess"\npatience = nan\n{TWO}random = true', "patience must be"),
        (f'game = "chess"\npatience = 1e300\n{TWO}random = true', "patience must be"),
        (f'game = "chess"\n{TWO}gtp = "x"\nseconds = -1', "seconds must be"),
        (f'game = "chess"\n{TWO}gtp = "x"\nseconds = nan', "seconds must be"),
        (f'game = "chess"\n{TWO}uci = "x"\nnodes = 0', "nodes must be"),
        (f'game = "chess"\n{TWO}uci = "x"', "needs nodes or seconds"),
        (f'game = "chess"\n{TWO}gtp = "x"\nseconds = 0.5', "whole seconds"),
        (f'game = "chess"\nplies = 2\nopenings = ["e2e4"]\n{TWO}random = true', "not both"),
        (f'game = "chess"\n{TWO}uci = "x"\noptions = {{ Hash = [1] }}', "option Hash cannot be"),
        (f'game = "chess"\n{TWO}uci = "x"\noptions = {{ Hash = "1\\nquit" }}', "option Hash cannot be"),
        (f'game = "chess"\n{TWO}random = false', "random can only be true"),
        (f'game = "chess"\n{TWO}random = 7', "only be true"),
        (f'game = "chess"\n{TWO}checkpoint = 3', "checkpoint cannot be"),
        (f'game = "chess"\n{TWO}checkpoint = "chess"\nper_update = nan', "per_update must be"),
        (f'game = "chess"\n{TWO}checkpoint = "chess"\nsimulations = 99999999999999', "simulations must be"),
        ('game = "chess"\n[agents.a]\nrandom = true\n[agents.""]\nrandom = true', "an agent's name"),
        ('game = "chess"\n[agents.a]\nrandom = true\n[agents." "]\nrandom = true', "an agent's name"),
        ('game = "chess"\n[agents.a]\nrandom = true\n[agents."x\\ny"]\nrandom = true', "an agent's name"),
        (f'game = "chess"\n[agents.a]\nrandom = true\n[agents.{"x" * 100_000}]\nrandom = true', "an agent's name"),
        (f'game = "chess"\nrounds = 1000000000000000000\n{TWO}random = true', "rounds must be"),
        (f'game = "chess"\nrounds = 900000\n{TWO}random = true', "1,800,000 games"),
        (f'game = "chess"\nrounds = {"9" * 5000}\n{TWO}random = true', "matches.toml: "),
        (f'game = "chess"\nseed = {"9" * 23}\n{TWO}random = true', "seed must be"),
        (f'game = "chess"\nplies = 99999999999\n{TWO}random = true', "plies must be"),
        (f"x = {'[' * 100_000}", "too deep"), ("#" * 2_000_000, "larger than"), ('game = "\xff', "matches.toml: "),
    ],
)  # fmt: skip
def test_files_that_would_break_something_later(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "matches.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingError, match=told) as raised:
        read_tournament(path)
    assert len(str(raised.value)) < 1000 and "\n" not in str(raised.value)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", Path("/dev/zero")):
        with pytest.raises(SettingError, match="is no file"):
            read_tournament(path)


def test_names_are_shown_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the terminal's markup nor a plot's formulas."""
    names = ("[/bold]", "[red]", "$\\\\frac{$")
    agents = "".join(f'[agents."{name}"]\nrandom = true\n' for name in names)
    path = file_of(tmp_path, f'game = "tic_tac_toe"\n{agents}')
    assert main(["tournament", str(path), "--out", str(tmp_path / "games")]) == 0
    shown = capsys.readouterr().out
    assert "[/bold]" in shown and "[red]" in shown and "$\\frac{$" in shown


def test_results_on_disk_may_be_damaged(tmp_path: Path) -> None:
    tournament = read_tournament(randoms(tmp_path))
    whole = list(play_tournament(tournament, tmp_path / "games"))
    with (tmp_path / "games" / "games.jsonl").open("ab") as file:
        file.write(b"\xff\xfe\n" + b"[" * 100_000 + b"\n{}\n[]\n5\n")
    assert load_results(tmp_path / "games") == whole


def test_listed_openings_are_played(tmp_path: Path) -> None:
    path = randoms(tmp_path, "chess", 2, 2, 'longest = 6\nopenings = ["e2e4 e7e5", "d2d4"]')
    results = list(play_tournament(read_tournament(path), tmp_path / "games"))
    records = [(tmp_path / "games" / result.record).read_text() for result in results]
    assert ["1. e4 e5" in record for record in records] == [True, True, False, False]


BOOK = """[Event "one"]

1. e4 {best by test} e5 (1... c5) 2. Nf3 Nc6 1-0

[Event "two; {no comment}"]

1. d4 d5 *

1. e4 e5 2. Bc4 1/2-1/2
"""
COLLECTION = "(;SZ[5];B[cc]C[a \\] ( in a comment];W[cd](;B[aa])(;B[bb]))\n(;SZ[5];B[aa];W[])"


@pytest.mark.parametrize(
    ("name", "file", "text", "plies", "lines"),
    [
        ("chess", "book.pgn", BOOK, None, ["e2e4 e7e5 g1f3 b8c6", "d2d4 d7d5", "e2e4 e7e5 f1c4"]),
        ("chess", "book.pgn", BOOK, 2, ["e2e4 e7e5", "d2d4 d7d5"]),
        ("chess", "games", "1. f3 e5 2. g4 Qh4# 0-1", 3, ["f2f3 e7e5 g2g4"]),
        ("go(board_size=5,komi=0.5)", "book.sgf", COLLECTION, None, ["c3 c2 a5", "a5 pass"]),
        ("go(board_size=5,komi=0.5)", "book.sgf", COLLECTION, 1, ["c3", "a5"]),
    ],
)
def test_openings_come_from_a_file_beside_the_tournament_s(
    tmp_path: Path, name: str, file: str, text: str, plies: int | None, lines: list[str]
) -> None:
    (tmp_path / file).write_text(text)
    more = f'openings = "{file}"' + ("" if plies is None else f"\nplies = {plies}")
    agents = "[agents.a]\nrandom = true\n[agents.b]\nrandom = true\n"
    path = tmp_path / "matches.toml"
    path.write_text(f'game = "{name}"\n{more}\n{agents}')
    tournament, game = read_tournament(path), make_game(name)
    assert tournament.rounds == len(lines)
    named = []
    for opening in openings_of(tournament):
        words, state = [], game.root()
        for action in opening.moves:
            words.append(game.action_name(state, action).lower())
            state = game.child(state, game.actions(state).tolist().index(action))
        named.append(" ".join(words))
    assert named == lines
    # Another book is another tournament: its games are not continued.
    (tmp_path / file).write_text("1. a3 *" if name == "chess" else "(;SZ[5];B[dd])")
    assert read_tournament(path).digest != tournament.digest


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("chess", "1. e4 e5 2. Ke3 *", "game 1: Ke3 is no legal move"),
        ("chess", "1. e4 *\n1. f3 e5 2. g4 Qh4# 0-1", "game 2: the opening ends the game; `plies`"),
        ("chess", "", "has no games"),
        ("chess", "\0\udcff", "is no text"),
        ("chess", None, "cannot be read: No such file"),
        ("go(board_size=5,komi=0.5)", "(;SZ[9];B[aa])", "on a board of 9, not 5"),
        ("go(board_size=5,komi=0.5)", "(;SZ[5];W[aa])", "do not take turns"),
        ("go(board_size=5,komi=0.5)", "(;SZ[5];B[aa]", "no SGF"),
        ("go(board_size=5,komi=0.5)", "1. e4", "no SGF"),
        ("go(board_size=5,komi=0.5)", "(;SZ[5];B[aa];W[aa])", "game 1: "),
        ("connect_four", "1. e4", "PGN, FEN or EPD of chess or SGF of Go"),
    ],
)
def test_a_book_that_cannot_be_played_is_refused(tmp_path: Path, name: str, text: str | None, told: str) -> None:
    if text is not None:
        (tmp_path / "book").write_bytes(text.encode(errors="surrogateescape"))
    path = tmp_path / "matches.toml"
    path.write_text(f'game = "{name}"\nopenings = "book"\n[agents.a]\nrandom = true\n[agents.b]\nrandom = true\n')
    with pytest.raises(SettingError) as refused:
        read_tournament(path)
    assert told in str(refused.value) and "\n" not in str(refused.value) and "book" in str(refused.value)


def test_pgn_is_read_back_by_python_chess() -> None:
    """Castling, promotion, en passant, checks and mates, from the start and from a FEN."""
    pgn = pytest.importorskip("chess.pgn")
    endings = 'chess(fen="r3k2r/1P4pp/8/8/2pP4/8/PP3PPP/R3K2R b KQkq d3 0 7")'
    for name in ("chess", endings):
        game = make_game(name)
        for seed in range(12):
            players = [PlayerContestant(RandomPlayer(side), Limits()) for side in ("a", "b")]
            played = play_match_game(game, (players[0], players[1]), seed=seed, longest=150)
            said = GameRecord(("a", "b"), "2026-01-02", "e", "1", played.moves, played.utility, played.why)
            record = game.write_record(said)
            read = pgn.read_game(io.StringIO(record))
            assert not read.errors and read.headers["White"] == "b" and read.headers["Black"] == "a"
            tree = MoveTree(game)
            ours = tree.name(tree.node_after(played.moves))
            assert read.end().board().fen(en_passant="fen").split()[:2] == ours.split()[:2]
            assert read.headers["Result"] == {1.0: "0-1", 0.0: "1/2-1/2", -1.0: "1-0"}[played.utility]


def test_sgf_has_points_from_the_top_left() -> None:
    game = make_game(GO)
    record = game.write_record(GameRecord(("a]", "b"), "2026-01-02", "e", "1", (0, 24, 4, 25, 25), 1.0, "rules"))
    assert record.endswith(";B[ae];W[ea];B[ee];W[];B[])\n")
    assert "PB[a\\]]PW[b]" in record and "SZ[5]KM[0.5]RU[Chinese]" in record and "RE[B+]" in record


@pytest.mark.parametrize(("name", "said"), [("chess", '[Result "*"]'), (GO, "RE[?]"), ("tic_tac_toe", "not known yet")])
def test_a_game_that_is_not_over_has_no_result(name: str, said: str) -> None:
    assert said in make_game(name).write_record(GameRecord(("a", "b"), "2026-01-02", "e", "1", (), None, "not over"))


def test_openings_never_end_the_game() -> None:
    game = make_game("tic_tac_toe")
    tree = MoveTree(game)
    for seed in range(30):
        assert tree.result(tree.node_after(random_opening(game, 9, (seed,)))) is None


def test_openings_differ_while_there_are_others() -> None:
    """Connect four has 49 openings of two plies: fifty draws of which none is looked at again find 35 of them."""
    game = make_game("connect_four")
    found = random_openings(game, 49, 2, 0)
    assert len(set(found)) == 49 and len(set(random_openings(game, 60, 2, 0))) == 49
    assert len({random_opening(game, 2, (0, k)) for k in range(50)}) == 35
    assert random_openings(game, 3, 0, 0) == ((), (), ())
    assert found[0] == random_opening(game, 2, (0, 0)) and found[:5] == random_openings(game, 5, 2, 0)


def test_whoever_is_at_fault_loses_whatever_the_seat() -> None:
    class Bad(PlayerContestant):
        def move(self, moves: object) -> int:
            raise ContestantFault("no")

    good, bad = PlayerContestant(RandomPlayer(), Limits()), Bad(RandomPlayer("bad"), Limits())
    game = make_game("tic_tac_toe")
    assert play_match_game(game, (bad, good)) == Played((), -1.0, "bad: no", fault=True)
    assert play_match_game(game, (good, bad)).utility == 1.0
    assert Result(1, ("a", "b"), 1.0, "", False, 3, "").points == ("a", "b", 1.0, 1)
    # A win is a win where it pays a tenth of what the largest does: Elo says how often, as the table does.
    assert [Result(1, ("a", "b"), u, "", False, 3, "").points[2] for u in (0.1, 0.0, -1.0)] == [1.0, 0.5, 0.0]


@pytest.mark.skipif(STOCKFISH is None, reason="Stockfish is not installed (apt-get install stockfish)")
def test_stockfish_beats_random_play_by_the_rules(tmp_path: Path) -> None:
    said = f'game = "chess"\n[agents.stockfish]\nuci = "{STOCKFISH}"\nnodes = 200\n[agents.r]\nrandom = true\n'
    results = list(play_tournament(read_tournament(file_of(tmp_path, said)), tmp_path / "games"))
    assert [(result.why, result.points[2]) for result in results] == [("rules", 1.0), ("rules", 0.0)]


@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed (apt-get install gnugo)")
def test_our_area_is_gnugos_where_no_dead_stones_are_left() -> None:
    for seed in range(2):
        compared = compare(5, 0.5, seed, plies=2)
        assert compared is None or compared.agree


@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed (apt-get install gnugo)")
def test_gnugo_beats_random_play(tmp_path: Path) -> None:
    gnugo = f"{GNUGO} --mode gtp --level 1 --chinese-rules --capture-all-dead"
    said = f'game = "{GO}"\nplies = 1\n[agents.gnugo]\ngtp = "{gnugo}"\n[agents.r]\nrandom = true\n'
    results = list(play_tournament(read_tournament(file_of(tmp_path, said)), tmp_path / "games"))
    assert not any(result.fault for result in results)
    assert sum(result.points[2] if result.seats[0] == "gnugo" else 1 - result.points[2] for result in results) >= 1


def test_games_of_another_network_are_not_mixed_in(tmp_path: Path) -> None:
    """A checkpoint's folder may hold another network the next time, by training on or by another run."""
    said = f'game = "tic_tac_toe"\n[agents.a]\ncheckpoint = "{tmp_path / "net"}"\nsimulations = 1\n'
    path, game = file_of(tmp_path, said + "[agents.r]\nrandom = true\n"), TicTacToe()
    for seed in (0, 1):
        checkpoint.save(tmp_path / "net", CVPN(shape_for(game, 8, 1), seed), game.name, "a run", seed, {})
        if seed == 0:
            list(play_tournament(read_tournament(path), tmp_path / "games"))
            assert len(list(play_tournament(read_tournament(path), tmp_path / "games"))) == 2
    with pytest.raises(SettingError, match="another tournament file or network"):
        list(play_tournament(read_tournament(path), tmp_path / "games"))


def test_an_agent_may_search_as_the_papers_do(tmp_path: Path) -> None:
    said = 'game = "tic_tac_toe"\n[agents.a]\ncheckpoint = "tic_tac_toe"\n{}\n[agents.r]\nrandom = true\n'

    def player(line: str) -> Player:
        agent = read_tournament(file_of(tmp_path, said.format(line))).contestant("a")
        assert isinstance(agent, PlayerContestant)
        return agent.player

    ours = player("")
    assert isinstance(ours, SogPlayer) and ours.settings == BOARDS and ours.reuse
    for name, settings in (("sog", paper_settings), ("pog", pog_settings)):
        papers = player(f'paper = "{name}"')
        assert isinstance(papers, ChainPlayer) and papers.settings.search.prior_temperature == 1.5
        own = settings(papers.settings.budget)
        assert papers.settings == replace(own, search=replace(own.search, prior_temperature=1.5))
    for line in ("paper = 17", 'paper = "ours"', 'paper = "sog"\nseconds = 1'):
        with pytest.raises(SettingError, match="paper"):
            player(line)


@pytest.mark.parametrize(("more", "found"), [("plies = 1", 9), ("", 1), ('openings = ["b2", "a1"]', 2)])
def test_openings_that_come_again_are_counted(
    more: str, found: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = 20 if found == 9 else found + 1
    path = randoms(tmp_path, rounds=rounds, count=2, more=more)
    assert len(set(openings_of(read_tournament(path)))) == found
    assert main(["tournament", str(path), "--json"]) == 0
    said, said_at_first = capsys.readouterr()
    assert f"{rounds} rounds have {found} different opening" in said_at_first
    assert (json.loads(said)["rounds"], json.loads(said)["openings"]) == (rounds, found)
    assert main(["tournament", str(path)]) == 0
    assert f"{rounds} rounds have {found} different opening" in capsys.readouterr().out
    assert main(["tournament", str(randoms(tmp_path, rounds=2)), "--out", str(tmp_path / "o"), "--json"]) == 0
    assert "different opening" not in capsys.readouterr().err
