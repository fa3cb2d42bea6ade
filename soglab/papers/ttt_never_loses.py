"""Tic-tac-toe: a trained agent, playing greedily, meets every possible line of play from both sides and never loses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Final

from sog.algorithms.student.player import SogPlayer
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.nets.inference import network_evaluator
from sog.play.player import Limits, think
from sog.searches.gtcfr.settings import Budget
from sog.training.checkpoint import load_meta
from sog.training.opened import value_network
from sog.training.shipped import find_checkpoint
from soglab.plots import Panel, Picture, Scale, line_of, log_scale
from soglab.runs import check_unchanged
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, one_run

GAME: Final = "tic_tac_toe"
BUDGETS: Final = ((10, 1.0), (100, 1.0), (400, 1.0))

# The action of the agent after these actions.
Choose = Callable[[list[int]], int]


@dataclass
class Met:
    """How many of an agent's decisions were met, and how its games ended."""

    decisions: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    lost: list[list[int]] = field(default_factory=list)


def every_play(side: int, choose: Choose) -> Met:
    """Play the agent as `side` against every line of the opponent's moves."""
    game, met = TicTacToe(), Met()

    def follow(moves: list[int]) -> None:
        actor = game.actor(tuple(moves))
        if actor not in (0, 1):
            won = float(game.payoff(tuple(moves)).dense()[0, 0]) * (1.0 if side == 0 else -1.0)
            met.wins, met.draws, met.losses = met.wins + (won > 0), met.draws + (won == 0), met.losses + (won < 0)
            if won < 0:
                met.lost.append(moves)
        elif actor == side:
            met.decisions += 1
            follow([*moves, choose(moves)])
        else:
            for action in game.actions(tuple(moves)).tolist():
                follow([*moves, action])

    follow([])
    return met


def plan(options: Options, note: Note) -> list[Key]:
    """The network of --run, or the shipped one, with each budget."""
    checkpoint = one_run(options) or GAME
    meta = load_meta(find_checkpoint(checkpoint))
    budgets = BUDGETS[:1] if options.quick else BUDGETS
    network = {"checkpoint": checkpoint, "network": meta.network_id, "step": meta.step}
    return [{**network, "s": s, "c": c} for s, c in budgets]


def compute(key: Key) -> Result:
    """The agent's record from both sides."""
    folder = find_checkpoint(key["checkpoint"])
    check_unchanged(folder, key["network"])
    _, network = value_network(folder, GAME)
    player = SogPlayer("agent", network_evaluator(network), Budget(key["s"], key["c"]), reuse=False)
    player.new_game(TicTacToe())
    choose = partial(greedy, player)
    return {"records": [{"side": "xo"[side], **asdict(every_play(side, choose))} for side in (0, 1)]}


def greedy(player: SogPlayer, moves: list[int]) -> int:
    """The action that the player likes best after these actions."""
    return think(player, moves, Limits()).action


def present(points: list[StudyPoint]) -> Outcome:
    """Wins, draws and losses over all lines, for each budget and side."""
    rows = [{**point.key, **record} for point in points for record in point.result["records"]]
    beside = []
    for row in rows:
        lines = row["wins"] + row["draws"] + row["losses"]
        counts = f"{row['wins']} won, {row['draws']} drawn, {row['losses']} lost of {lines} lines"
        beside.append(Beside(f"SoG({row['s']},{row['c']:g}) as {row['side']}", "", counts))
    lines = [line_of((row for row in rows if row["side"] == side), "s", "losses", side) for side in "xo"]
    axes = (log_scale("s, simulations a move"), Scale("lines lost"))
    picture = Picture([Panel(lines, *axes, "Tic-tac-toe, every line of play", grid=None)])
    return Outcome(rows, {"ttt-never-loses": picture}, beside)


EXPERIMENT: Final = Experiment(
    id="ttt-never-loses",
    paper="SoG",
    figure="Methods",
    minutes=1,
    what="Tic-tac-toe: the shipped agent (or --run) meets every line of play from both sides",
    study=Study(plan, compute, present, takes=("runs",)),
)
