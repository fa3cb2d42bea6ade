"""`sog match`, tournaments of hands and `sog play` where trees grow: figures, faults, kills, other matches' records."""

from __future__ import annotations

import builtins
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sog.cli.app import main
from sog.cli.match import decided
from sog.cli.tournament_hands import _answer
from sog.games.catalog import make_game
from sog.play.hand_match import read_match, read_records
from sog.play.hand_record import HandDecision
from sog.protocols.tournament_hands import PairResult
from tests.cli.answers import answer

Capture = pytest.CaptureFixture[str]

# Agents and bots of a person's own.
OWN = """
import numpy as np
import pyspiel
import sog

class Good(sog.Agent):
    def policy(self, node):
        legal = self.legal(node)
        return legal / legal.sum(axis=0)

class Raises(Good):
    def policy(self, node):
        return {}[3]

class Nothing(Good):
    def policy(self, node):
        return super().policy(node) * np.nan

class Illegal(Good):
    def act(self, node, infostate, rng):
        return 99

def even(game, player, seed):
    return pyspiel.make_uniform_random_bot(player, seed)

shown = []

class Looks(pyspiel.Bot):
    def __init__(self, player):
        pyspiel.Bot.__init__(self)
        self.player = player
    def restart(self): pass
    def step(self, state):
        shown.append((self.player, state.history()[:2]))
        return state.legal_actions()[0]

def looks(game, player, seed):
    return Looks(player)

class Wrong(Looks):
    def step(self, state):
        return 77

def wrong(game, player, seed):
    return Wrong(player)

def none(game, player, seed):
    return None
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a module of agents and two policies of Kuhn poker."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_agents.py").write_text(OWN)
    for name, iterations in (("a.json", "40"), ("b.json", "1")):
        assert main(["solve", "kuhn_poker", "--iterations", iterations, "--out", name, "--json"]) == 0
    return tmp_path


def kuhn(a: str, b: str, hands: int = 40, *more: str) -> list[str]:
    return ["match", a, b, "--game", "kuhn_poker", "--hands", str(hands), *more]


def test_what_is_printed(folder: Path, capsys: Capture) -> None:
    found = answer(capsys, *kuhn("a.json", "random", 400))
    low, high = found["interval95"]  # type: ignore[misc]
    mean = found["mean"]
    assert isinstance(mean, float) and 0 < low < mean < high and mean - low == pytest.approx(high - mean)
    assert found["hands"] == 400 and found["unit"] == "utility"
    back = answer(capsys, *kuhn("random", "a.json", 400))
    assert back["mean"] != mean  # other seats: other draws
    assert main(["match", "random", "own_agents:even", "--game", "leduc_poker", "--hands", "20"]) == 0
    printed = capsys.readouterr().out
    assert "A wins a hand" in printed and "mbb/h" in printed and "±" in printed
    assert answer(capsys, *kuhn("random", "random", 2))["interval95"] is None


OPPONENTS = [
    ("scotland_yard(map=glasses)", "pimbot", "shortest-path"),
    ("leduc_poker", "always-call", "always-fold"),
    ("holdem", "equity", "always-call"),
]


@pytest.mark.parametrize(("game", "a", "b"), OPPONENTS)
def test_opponents_by_name(folder: Path, capsys: Capture, game: str, a: str, b: str) -> None:
    budget = ["-s", "20"] if a == "pimbot" else []
    assert answer(capsys, "match", a, b, "--game", game, "--hands", "4", *budget)["hands"] == 4


YARD = "scotland_yard(map=ring12,rounds=2)"


def test_pimbots_of_two_strengths_and_both_roles(folder: Path, capsys: Capture) -> None:
    """Each has its own simulations; what A won as Mr X and as the detectives is that of the records."""
    words = ["match", "pimbot(simulations=40)", "pimbot(simulations=1)", "--game", YARD, "--hands", "40"]
    found = answer(capsys, *words, "--records", "hands.jsonl")
    match = read_match(folder / "hands.jsonl")
    assert "simulations=40," in match["a"] and "simulations=1," in match["b"]
    seats: list[dict[str, object]] = found["seats"]  # type: ignore[assignment]
    assert [seat["name"] for seat in seats] == ["Mr X", "the detectives"]
    for player, seat in enumerate(seats):
        own = [hand.won for hand in read_records(folder / "hands.jsonl") if hand.a == player]
        assert (seat["hands"], seat["mean"]) == (20, pytest.approx(np.mean(own)))
        wins: dict[str, object] = seat["wins"]  # type: ignore[assignment]
        assert wins["share"] == pytest.approx(np.mean([one > 0 for one in own]))
        low, high = wins["interval95"]  # type: ignore[misc]
        assert 0 <= low <= wins["share"] <= high <= 1
    both: dict[str, float] = found["wins"]  # type: ignore[assignment]
    assert both["share"] == pytest.approx((found["mean"] + 1) / 2)  # type: ignore[operator]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert printed.count("% [") == printed.count("] of the hands") == 3
    for seat in seats:
        (line,) = (line for line in printed.splitlines() if f"as {seat['name']}" in line)
        assert f" {100 * seat['wins']['share']:.3g}% [" in line  # type: ignore[index]


def test_chips_are_no_wins(folder: Path, capsys: Capture) -> None:
    found = answer(capsys, *kuhn("a.json", "random", 40))
    assert "wins" not in found and len(found["seats"]) == 2  # type: ignore[arg-type]


def test_simulations_in_brackets_are_the_opponents_own(folder: Path, capsys: Capture) -> None:
    answer(
        capsys,
        "match",
        "is-mcts(simulations=3)",
        "pimbot",
        "--game",
        YARD,
        "--hands",
        "2",
        "-s",
        "5",
        "--records",
        "r.jsonl",
    )
    match = read_match(folder / "r.jsonl")
    assert match["a"] == "is-mcts simulations=3 exploration=0.5" and "simulations=5," in match["b"]


@pytest.mark.parametrize(
    ("who", "why"),
    [
        ("pimbot(simulations=0)", "B: simulations must be at least 1"),
        ("pimbot(simulations=1.5)", "B: simulations is a whole number, not 1.5"),
        ("pimbot(colour=3)", "B: pimbot has no setting colour; known: simulations,"),
        ("pimbot(table=1;2)", "B: table is a list of 5 numbers"),
        ("pimbot(simulations=3", "not a game string"),
        ("shortest-path(simulations=3)", "B: shortest-path has no setting simulations; it takes none"),
        ("random(simulations=3)", "B: random takes no settings"),
    ],
)
def test_opponents_settings_that_make_no_match(folder: Path, capsys: Capture, who: str, why: str) -> None:
    assert main(["match", "random", who, "--game", YARD, "--hands", "2"]) == 2
    err = capsys.readouterr().err
    assert why in err and err.count("\n") == 1


def test_a_tournament_of_strengths(folder: Path, capsys: Capture) -> None:
    (folder / "yard.toml").write_text(
        f'game = "{YARD}"\nrounds = 2\n[agents.strong]\npimbot = 20\n[agents.weak]\npimbot = 1\n'
        '[agents.other]\nis_mcts = 4\n[agents.last]\nopponent = "pimbot(simulations=2)"\n'
    )
    found = answer(capsys, "tournament", "yard.toml", "--out", "games")
    pairs: list[dict[str, object]] = found["pairs"]  # type: ignore[assignment]
    assert len(pairs) == 6 and all("wins" in pair for pair in pairs)
    match = read_match(folder / "games" / "pair-001.jsonl")
    assert "simulations=20," in match["a"] and "simulations=1," in match["b"]


def test_a_solved_spot_plays(folder: Path, capsys: Capture) -> None:
    spot = "holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=1;allin)"
    assert main(["solve", spot, "--iterations", "30", "--out", "spot.npz"]) == 0
    found = answer(capsys, "match", "spot.npz", "always-fold", "--game", spot, "--hands", "40")
    assert isinstance(found["mean"], float) and found["mean"] > 0
    assert main(["match", "spot.npz", "random", "--game", "holdem", "--hands", "2"]) == 2
    assert "is a solution of holdem(board=2s2h2d7c9c" in capsys.readouterr().err


@pytest.mark.parametrize(
    "who", ["leduc_poker", "own_agents:Good", "own_agents:even", "sog.agents.uniform:UniformAgent"]
)
def test_anybody_plays(folder: Path, capsys: Capture, who: str) -> None:
    words = ["match", who, "random", "--game", "leduc_poker", "--hands", "6"]
    found = answer(capsys, *words, *(["-s", "3", "-c", "1"] if who == "leduc_poker" else []))
    assert found["hands"] == 6


def test_more_than_can_be_won_is_no_record(folder: Path, capsys: Capture) -> None:
    words = kuhn("a.json", "random", 4, "--records", "hands.jsonl")
    answer(capsys, *words)
    lines = (folder / "hands.jsonl").read_text().splitlines()
    edited = json.loads(lines[2]) | {"won": 1000.0}
    (folder / "hands.jsonl").write_text("\n".join([*lines[:2], json.dumps(edited), *lines[3:], ""]))
    assert main(words) == 2
    assert "hands.jsonl is damaged at hand 1" in capsys.readouterr().err


def test_records_hold_what_was_drawn_from(folder: Path, capsys: Capture) -> None:
    answer(capsys, *kuhn("a.json", "random", 20, "--records", "hands.jsonl", "--policies", "--seed", "3"))
    assert read_match(folder / "hands.jsonl")["seed"] == 3
    hands = list(read_records(folder / "hands.jsonl"))
    decisions = [step for hand in hands for step in hand.steps if isinstance(step, HandDecision)]
    assert len(hands) == 20 and all(step.policy is not None and step.policy.shape == (2, 3) for step in decisions)


def test_a_bot_is_not_shown_the_opponents_card(folder: Path, capsys: Capture) -> None:
    words = kuhn("own_agents:looks", "random", 200, "--records", "hands.jsonl")
    answer(capsys, *words)
    shown = iter(sys.modules["own_agents"].shown)
    right = count = 0
    for hand in read_records(folder / "hands.jsonl"):
        for step in hand.steps:
            if isinstance(step, HandDecision) and step.player == hand.a:
                player, cards = next(shown)
                assert cards[player] == hand.pair[player] == step.infostate
                right, count = right + (cards[1 - player] == hand.pair[1 - player]), count + 1
    assert next(shown, None) is None and 0.3 < right / count < 0.7  # one of two cards, evenly


@pytest.mark.parametrize(
    ("who", "why"),
    [
        ("own_agents:Raises", "B: the agent Raises raised KeyError: 3 (own_agents.py, line"),
        ("own_agents:Nothing", "B: Nothing at"),
        ("own_agents:Illegal", "act returned 99, not the index of a legal action"),
        ("own_agents:wrong", "B: Wrong played 77, not one of the actions [0, 1]"),
        ("own_agents:none", "B: own_agents:none returned no pyspiel.Bot but NoneType"),
        ("own_agents:shown", "neither a class derived from sog.Agent nor a function"),
        ("own_agents:missing", "the module own_agents has no missing"),
        ("none.json", "none.json cannot be read: No such file"),
        ("own_agents.json", "own_agents.json holds no policy of `sog solve --out`"),
        ("leduc.json", "leduc.json is a policy of leduc_poker, not of kuhn_poker"),
        ("short.json", "B: short.json has no policy for"),
        ("always-cal", "B: nobody is called always-cal; did you mean always-call?"),
        ("nothere", "no folder nothere is here"),
        ("pimbot", "B: pimbot plays scotland_yard, not kuhn_poker"),
        ("equity", "B: equities against any two cards are hold'em's"),
        ("leduc_poker", "leduc_poker is a network of leduc_poker, which cannot play kuhn_poker"),
    ],
)
def test_agents_at_fault_are_named_in_one_line(folder: Path, capsys: Capture, who: str, why: str) -> None:
    written = json.loads((folder / "a.json").read_text())
    (folder / "own_agents.json").write_text(OWN)
    (folder / "leduc.json").write_text(json.dumps({**written, "game": "leduc_poker"}))
    (folder / "short.json").write_text(json.dumps({**written, "policy": written["policy"][:1]}))
    capsys.readouterr()
    assert main(kuhn("random", who)) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("sog: ") and err.count("\n") == 1 and why in err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (kuhn("random", "random", 3), "--hands is an even number, not 3"),
        (kuhn("random", "random", 2, "--policies"), "name a file with --records"),
        (kuhn("random", "random", 2, "-s", "3"), "neither A nor B searches: --simulations changes nothing"),
        (kuhn("random", "random", 2, "--algorithm-a", "sog"), "A: random has no network"),
        (kuhn("random", "random", 2, "--records", "no/such/folder"), "cannot write no/such/folder: No such file"),
        (kuhn("random", "random", 2, "--records", "/dev/full"), "is not a plain file"),
        (["match", "random", "random", "--game", "chess", "--hands", "2"], "`sog tournament` plays it from openings"),
        (["match", "holdem", "random", "--game", "holdem", "--hands", "2", "--algorithm-a", "rebel"], "which A needs"),
    ],
)
def test_arguments_that_make_no_match(folder: Path, capsys: Capture, words: list[str], why: str) -> None:
    capsys.readouterr()
    assert main(words) == 2
    assert why in capsys.readouterr().err


def test_a_match_continues_and_another_is_refused(folder: Path, capsys: Capture) -> None:
    records = ("--records", "hands.jsonl")
    whole = answer(capsys, *kuhn("a.json", "random", 60, "--records", "whole.jsonl"))
    answer(capsys, *kuhn("a.json", "random", 20, *records))
    path = folder / "hands.jsonl"
    path.write_bytes(path.read_bytes()[:-9])  # a line that a kill cut short
    assert answer(capsys, *kuhn("a.json", "random", 60, *records)) == whole
    assert path.read_bytes() == (folder / "whole.jsonl").read_bytes()
    assert answer(capsys, *kuhn("a.json", "random", 60, *records)) == whole
    for other, what in (
        (kuhn("b.json", "random", 60, *records), "its a is"),
        (kuhn("a.json", "own_agents:Good", 60, *records), "its b is"),
        (kuhn("a.json", "random", 60, *records, "--seed", "1"), "its seed is 0, not 1"),
        (kuhn("a.json", "random", 60, *records, "--policies"), "its policies is False, not True"),
    ):
        assert main(other) == 2
        assert f"hands.jsonl is of another match: {what}" in capsys.readouterr().err
    assert path.read_bytes() == (folder / "whole.jsonl").read_bytes()


@pytest.mark.parametrize("text", ["a person's own notes", "notes\n", '{"match": 1}\nnotes\n'])
def test_other_files_are_left_as_they_are(folder: Path, capsys: Capture, text: str) -> None:
    (folder / "notes").write_text(text)
    assert main(kuhn("random", "random", 2, "--records", "notes")) == 2
    assert "notes" in capsys.readouterr().err and (folder / "notes").read_text() == text


def test_a_killed_match_ends_as_if_it_had_not_been(folder: Path, capsys: Capture) -> None:
    words = ["match", "leduc_poker", "own_agents:Good", "--game", "leduc_poker", "--hands", "60", "-s", "4", "-c", "1"]
    whole = answer(capsys, *words, "--records", "whole.jsonl")
    killed = folder / "killed.jsonl"
    command = [sys.executable, "-m", "sog.cli.app", *words, "--records", str(killed)]
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": root})
    while process.poll() is None and (not killed.exists() or killed.read_bytes().count(b"\n") < 15):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = killed.read_bytes()
    assert 15 <= before.count(b"\n") < 61
    assert answer(capsys, *words, "--records", str(killed)) == whole
    assert killed.read_bytes() == (folder / "whole.jsonl").read_bytes()
    assert killed.read_bytes().startswith(before.rpartition(b"\n")[0])


def test_a_second_process_is_refused(folder: Path, capsys: Capture) -> None:
    import fcntl

    with (folder / "hands.jsonl").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert main(kuhn("random", "random", 2, "--records", "hands.jsonl")) == 2
    assert "another match is adding hands to hands.jsonl" in capsys.readouterr().err


FILE = """
game = "{game}"
rounds = {rounds}
[agents.solved]
{solved}
[agents.even]
random = true
[agents.own]
code = "own_agents:even"
"""


def test_the_unit_is_what_the_mean_counts_in(folder: Path, capsys: Capture) -> None:
    hands = "hands.jsonl"
    match = answer(
        capsys,
        "match",
        "always-call",
        "random",
        "--game",
        "leduc_poker",
        "--hands",
        "20",
        "--records",
        hands,
        "--policies",
    )
    won = [json.loads(line)["won"] for line in (folder / hands).read_text().splitlines()[1:]]
    assert match["mean"] == pytest.approx(np.mean(won)) and match["unit"] == "utility"
    corrected = answer(capsys, "aivat", hands)
    assert corrected["unit"] == "utility" and corrected["raw"]["mean"] == match["mean"]  # type: ignore[index]
    (folder / "leduc.toml").write_text(
        'game = "leduc_poker"\nrounds = 10\n[agents.a]\nrandom = true\n[agents.b]\ncode = "own_agents:even"\n'
    )
    assert answer(capsys, "tournament", "leduc.toml", "--out", "leduc")["unit"] == "utility"


def test_a_tournament_of_hands(folder: Path, capsys: Capture) -> None:
    (folder / "kuhn.toml").write_text(FILE.format(game="kuhn_poker", rounds=60, solved='policy = "a.json"'))
    found = answer(capsys, "tournament", "kuhn.toml", "--out", "games")
    agents, pairs = found["agents"], found["pairs"]
    assert isinstance(agents, list) and isinstance(pairs, list)
    assert agents[0]["name"] == "solved" and agents[0]["mean"] > 0 and "elo" not in agents[0]
    assert [agent["hands"] for agent in agents] == [240, 240, 240]
    assert [(pair["a"], pair["b"], pair["hands"]) for pair in pairs] == [
        ("solved", "even", 120),
        ("solved", "own", 120),
        ("even", "own", 120),
    ]
    single = answer(capsys, *kuhn("a.json", "random", 120))
    assert (pairs[0]["mean"], pairs[0]["interval95"]) == (single["mean"], single["interval95"])
    assert agents[0]["mean"] == pytest.approx((pairs[0]["mean"] + pairs[1]["mean"]) / 2)
    assert sum(agent["mean"] for agent in agents) == pytest.approx(0)
    kept = {path.name: path.read_bytes() for path in (folder / "games").glob("*.jsonl")}
    assert len(kept) == 3 and answer(capsys, "tournament", "kuhn.toml", "--out", "games") == found
    assert main(["tournament", "kuhn.toml", "--out", "games"]) == 0
    assert "what an agent wins a hand" in capsys.readouterr().out


def test_hands_that_are_won_or_lost_are_rated(folder: Path, capsys: Capture) -> None:
    dice = "liars_dice(numdice=1,dice_sides=4)"
    (folder / "dice.toml").write_text(
        FILE.format(game=dice, rounds=20, solved=f'checkpoint = "{dice}"\nsimulations = 3')
    )
    found = answer(capsys, "tournament", "dice.toml", "--out", "games")
    agents = found["agents"]
    assert isinstance(agents, list)
    assert {agent["name"] for agent in agents} == {"solved", "even", "own"} and all("elo" in one for one in agents)


@pytest.mark.parametrize(
    ("agent", "more", "why"),
    [
        ('uci = "stockfish"\nnodes = 1', "", "agent a: kuhn_poker has chance or hidden information"),
        ('policy = "a.json"\nseconds = 1', "", "seconds"),
        ("random = true", "plies = 2", "plies: kuhn_poker is played by deals, without openings"),
        ('checkpoint = "leduc_poker"', "", "which cannot play kuhn_poker"),
        ('code = "own_agents:Raises"', "", "a: the agent Raises raised KeyError"),
    ],
)
def test_files_that_make_no_tournament_of_hands(folder: Path, capsys: Capture, agent: str, more: str, why: str) -> None:
    text = f'game = "kuhn_poker"\n{more}\n[agents.a]\n{agent}\n[agents.r]\nrandom = true\n'
    (folder / "kuhn.toml").write_text(text)
    capsys.readouterr()
    assert main(["tournament", "kuhn.toml", "--out", "games"]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ("holdem", ["-s", "2", "-c", "1"]),
        ("scotland_yard(map=london)", ["-s", "2", "-c", "1"]),
        ("scotland_yard(map=london)", ["--agent", "sog:UniformAgent"]),
        ("leduc_poker", ["--agent", "own_agents:even"]),
    ],
)
def test_a_person_plays_games_that_cannot_be_listed(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, game: str, words: list[str]
) -> None:
    """Whole hands, by the first action of each list."""
    asked: list[str] = []
    monkeypatch.setattr(builtins, "input", lambda question: asked.append(question) or first(question))
    assert main(["play", game, "--hands", "1", "--seat", "1", "--seed", "1", *words]) == 0
    printed = capsys.readouterr().out
    assert asked and "after 1 hand" in printed and "agent held" in printed


def first(question: str) -> str:
    """The name of the first action that is offered, no fold."""
    names = question.strip().removesuffix(">").strip().split("  ")
    return "1" if "fold" not in names[0] else "2"


def test_ratings_that_would_be_infinite_are_called_bounds() -> None:
    """Who wins every hand of a game that is won or lost; hands that were all drawn say nothing of the game."""
    game = make_game("rps")
    result = _answer(game, ["a", "b"], [PairResult("a", "b", (game.u_max,) * 4)], Path("folder"))
    (first, second) = result["agents"]
    assert result["virtual_draws"] > 0 and first["elo"] > 0 > second["elo"]
    low, high = first["elo95"]
    assert high - low == pytest.approx(2 * first["interval"])
    assert decided([game.u_max, 0.0], game) and not decided([0.0, 0.0], game) and not decided([0.5], game)
    assert decided([(1 - 1e-15) * game.u_max, -game.u_max], game)  # a payoff's chance, divided out, leaves rounding
