"""Chess on scales that do not move: mates in one and two found, and king and queen or rook against king won.

A mate counts as found where the agent's move is one that keeps it. An endgame counts as won where the agent mates
within 50 moves of its own, from a random position that it could win, against the longest resistance that there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sog.algorithms.alphazero.algorithm import ALPHAZERO
from sog.algorithms.base import SOG
from sog.games.boards.chess import Chess
from sog.opponents.alpha_beta import alpha_beta, material
from sog.opponents.chess.best_play import best_play, random_wins, standing
from sog.opponents.chess.mates import SETS, SHIPPED, Mate, read_mates
from sog.opponents.random_player import RandomPlayer
from sog.opponents.rating import RatingPlayer
from sog.play.match import PlayerContestant, play_match_game
from sog.play.player import Limits, Player, think
from soglab.checks.fixed_positions import NETWORK, agent_name, file_id, inputs_of, network_player, share_line, share_of
from soglab.plots import Panel, Picture, Scale
from soglab.runs import networks_on, short_names
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped, totals

GAME: Final = "chess"
MATERIAL: Final = "material"
RANDOM: Final = "random"
PERFECT: Final = "perfect"
SIMULATIONS: Final = 100
MANY: Final = 800
ENDGAMES: Final = {"KQK": "Q", "KRK": "R"}
MATES: Final = {f"mate in {moves}": moves for moves in SETS}
STARTS: Final = 100
MOVES: Final = 50  # of the agent
_SEED: Final = 0
_QUICK: Final = 4
_BATCH: Final = {**dict.fromkeys(MATES, 100), **dict.fromkeys(ENDGAMES, 10)}  # positions a point


def plan(options: Options, note: Note) -> list[Key]:
    """Both searches with each --run's network (or the shipped one), the network alone, material counted, random moves.

    --full adds both searches at 800 simulations.
    """
    agents: list[Key] = []
    for network in networks_on(GAME, options.runs):
        for effort in (SIMULATIONS, MANY) if options.full else (SIMULATIONS,):
            agents += [{"agent": name, "effort": effort, **network} for name in (SOG, ALPHAZERO)]
        agents.append({"agent": NETWORK, "effort": 0, **network})
    alone = {"checkpoint": "", "network": ""}
    agents += [{"agent": MATERIAL, "effort": depth, **alone} for depth in (1, 2)]
    agents += [{"agent": name, "effort": 0, **alone} for name in (RANDOM, PERFECT)]
    file = file_id(SHIPPED)
    return [
        {**agent, "scale": scale, "first": first, "last": min(first + _BATCH[scale], count), "file": file}
        for scale, count in _sizes(options.quick).items()
        for first in range(0, count, _BATCH[scale])
        for agent in agents
        if agent["agent"] != PERFECT or scale in ENDGAMES
    ]


def _sizes(quick: bool) -> dict[str, int]:
    """How many positions each scale has."""
    whole = {**{name: SETS[moves] for name, moves in MATES.items()}, **dict.fromkeys(ENDGAMES, STARTS)}
    return dict.fromkeys(whole, _QUICK) if quick else whole


def compute(key: Key) -> Result:
    """How many positions there were, and in how many the agent found the mate or won.

    moves: of the agent until mate, over the endgames won.  fewest: those that perfect play needs there.
    """
    if key["scale"] in MATES:
        mates = [mate for mate in read_mates() if mate.moves == MATES[key["scale"]]][key["first"] : key["last"]]
        hits = sum(_finds(key, mate) for mate in mates)
        return {"positions": len(mates), "hits": hits, "moves": 0, "fewest": 0}
    starts = random_wins(ENDGAMES[key["scale"]], STARTS, _SEED)[key["first"] : key["last"]]
    won = [_wins(key, fen) for fen in starts]
    lengths = [pair for pair in won if pair is not None]
    moves, fewest = (sum(pair[k] for pair in lengths) for k in (0, 1))
    return {"positions": len(starts), "hits": len(lengths), "moves": moves, "fewest": fewest}


def _finds(key: Key, mate: Mate) -> bool:
    """Whether the agent's move keeps the mate."""
    game, player = Chess(mate.fen, **inputs_of(key)), _player(key)
    player.new_game(game)
    return game.action_name(game.root(), think(player, [], Limits()).action) in mate.solutions


def _wins(key: Key, fen: str) -> tuple[int, int] | None:
    """The agent's moves until mate and the fewest there are; None where it does not mate in time."""
    game = Chess(fen, **inputs_of(key))
    start = standing(game, game.root())
    agent = PlayerContestant(_player(key), Limits())
    defence = PlayerContestant(RatingPlayer("longest resistance", best_play), Limits())
    seats = (defence, agent) if start.strong == 1 else (agent, defence)
    played = play_match_game(game, seats, seed=_SEED, longest=2 * MOVES)
    won = played.utility == (1.0 if start.strong == 0 else -1.0)
    return ((len(played.moves) + 1) // 2, (start.plies + 1) // 2) if won else None


def _player(key: Key) -> Player:
    if key["agent"] == RANDOM:
        return RandomPlayer()
    if key["agent"] == PERFECT:
        return RatingPlayer(PERFECT, best_play)
    if key["agent"] == MATERIAL:
        return RatingPlayer(MATERIAL, alpha_beta(key["effort"], material))
    return network_player(key, key["effort"])


def present(points: list[StudyPoint]) -> Outcome:
    """A row for each agent and scale: the share, with its interval, and how long the endgames took."""
    rows = list(_rows(points))
    beside = [Beside(f"{row['scale']}, {_name(row)}", "", _share_text(row)) for row in rows]
    lines = [
        share_line(own, [row["scale"] for row in own], _name(own[0]))
        for own in grouped(rows, lambda row: (_name(row), row["checkpoint"])).values()
    ]
    panel = Panel(lines, y=Scale("mates found, endgames won, %"), title="Chess, 95% intervals")
    return Outcome(rows, {"chess-scales": Picture([panel])}, beside)


def _share_text(row: Key) -> str:
    share = f"{row['hits']} of {row['positions']}: {row['share']:.1%} [{row['low']:.1%}, {row['high']:.1%}]"
    if row["scale"] in MATES or not row["hits"]:
        return share
    return f"{share}, in {row['moves'] / row['hits']:.1f} moves, {row['fewest'] / row['hits']:.1f} at best"


def _name(row: Key) -> str:
    return agent_name(row, row["effort"])


def _rows(points: list[StudyPoint]) -> Iterator[dict[str, Any]]:
    several = short_names(point.key["checkpoint"] for point in points)
    for row in totals(points, "agent", "effort", "checkpoint", "network", "scale"):
        of = several.get(row["checkpoint"], "")
        yield {**row, "of": of, **share_of(row["hits"], row["positions"])}


EXPERIMENT: Final = Experiment(
    id="chess-scales",
    paper="SoG",
    figure="Chess, absolute strength",
    minutes=60,
    what="Mates in 1 and 2, KQK and KRK won from 100 starts: searches with the network of --run (--full: also at 800)",
    study=Study(plan, compute, present, takes=("full", "runs")),
)
