"""SePoT Table 1: the policy network with search against networks without, seats swapped; and their own strength."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from sog.algorithms.policy.matches import UniformPolicy, play_pairs
from sog.algorithms.policy.own_policy import NetworkPolicy
from sog.algorithms.sepot.agent import papers_limit
from sog.algorithms.sepot.search import SepotSearch, SepotSearchSettings
from sog.arrays import Float64, Int32
from sog.games.strings import parse_game
from sog.measure.intervals import mean_interval, plus_minus
from soglab.bench.histories import BATTLESHIPS
from soglab.papers.sepot_runs import PolicyAndCritic, opened, quick_runs, search_effort
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, by_key

_GOOFSPIEL: Final = "goofspiel(imp_info=True,num_cards={},points_order={})"
# Reward x 100 of network and search against a network, by game and largest subgame; with 95% intervals.
PAPER: Final = {
    _GOOFSPIEL.format(8, "random"): {25_000: "2.70 ± .05", 100_000: "3.10 ± .19"},
    _GOOFSPIEL.format(13, "descending"): {25_000: "3.44 ± .05", 100_000: "3.51 ± .10"},
    _GOOFSPIEL.format(13, "random"): {25_000: "1.12 ± .05", 100_000: "1.43 ± .3"},
    BATTLESHIPS[0]: {25_000: "6.2 ± .06", 100_000: "6.5 ± .07"},
    BATTLESHIPS[1]: {25_000: "81.9 ± .3", 100_000: "83.5 ± .5"},
    BATTLESHIPS[2]: {25_000: "24.1 ± .7", 100_000: "42.1 ± .9"},
}

SIZES: Final = {25_000: 1, 100_000: 4}  # and of how many points of the smaller size it has one
PAIRS: Final = {"goofspiel": (100, 100), "battleship 3": (25, 100)}  # of games in a point, and points
_PAIRS: Final = (5, 50)  # in games that take longer
_NETWORK: Final = 0  # the size of points without search: two runs' networks against each other
_UNIFORM: Final = -1  # the network against uniform play
_RUNS: Final = tuple(Path(f"runs/sepot-{name}") for name in ("goofspiel8", "battleship3", "battleship5"))
_SMALL: Final = "goofspiel(imp_info=True,num_cards=4,points_order=random)"


def plan(options: Options, note: Note) -> list[Key]:
    """Each run searching against every other run of its game, or itself where there is one alone.

    `part` seeds a point's games: no two points of a run have the same.
    """
    runs = quick_runs(options, _RUNS, (_SMALL,))
    keys: list[Key] = []
    for run in runs:
        others = [one for one in runs if one["game"] == run["game"] and one is not run] or [run]
        known = [count for name, count in PAIRS.items() if _name(run["game"]).startswith(name)]
        pairs, parts = (3, 1) if options.quick else [*known, _PAIRS][0]
        sizes = {2_000: 1} if options.quick else {size: parts // fewer for size, fewer in SIZES.items()}
        for j, other in enumerate(others):
            about = {"game": run["game"], "run": run["folder"], "against": other["folder"], "pairs": pairs}
            about["networks"] = [run["network"], other["network"]]
            plain = ({} if j else {_UNIFORM: 1}) | ({} if other is run else {_NETWORK: 1})  # against itself it wins 0
            for size, points in (plain | sizes).items():
                many = pairs if size > 0 or options.quick else 2_000
                of = {**about, "pairs": many, "histories": size, **search_effort(options)}
                keys += [{**of, "part": part * len(others) + j} for part in range(points)]
        note(f"{run['folder']}: {run['game']}, against {len(others)}")
    return keys


@dataclass
class _CountingSearch:
    """A search as an `OwnPolicy` that counts.  moves: made by it.  searched: of these, not left to the network."""

    search: SepotSearch
    moves: int = 0
    searched: int = 0

    def __call__(self, states: Int32, player: int) -> Float64:
        self.moves += len(states)
        if self.search.search(self.search.game.public(states[:1])[0], player) is not None:
            self.searched += len(states)
        return self.search.policy(states, player)


@lru_cache(maxsize=2)  # both sizes of a run, against one network after the other
def _searching(own: PolicyAndCritic, iterations: int, histories: int, alpha: float) -> SepotSearch:
    """One search for all points, since what it finds depends on the public state alone, and points share states."""
    settings = SepotSearchSettings(iterations, papers_limit(own.game), histories, "critic", alpha)
    return own.search(settings)


def compute(key: Key) -> Result:
    """What the first wins in each pair of games, the mean over both seats, in utilities; moves, and those searched."""
    folders = key["run"], key["against"]
    own, other = (opened(folder, key["game"], id_) for folder, id_ in zip(folders, key["networks"], strict=True))
    started, size, game = time.process_time(), key["histories"], own.game
    second = UniformPolicy(game) if size == _UNIFORM else NetworkPolicy(game, other.network)
    if size > 0:
        watched = _CountingSearch(_searching(own, key["iterations"], size, key["alpha"]))
        won = play_pairs(game, watched, second, key["pairs"], key["part"])
        counts = {"moves": watched.moves, "searched": watched.searched}
    else:
        won = play_pairs(game, NetworkPolicy(game, own.network), second, key["pairs"], key["part"])
        counts = {"moves": 0, "searched": 0}
    return {"won": won.mean(axis=1).tolist(), **counts, "seconds": time.process_time() - started}


def _paper(game: str) -> dict[int, str]:
    """The paper's rewards by largest subgame: of this very game, whose ships and order are the paper's too."""
    return next((figures for name, figures in PAPER.items() if parse_game(name) == parse_game(game)), {})


def _name(game: str) -> str:
    """The game in a few words, without what all of a kind have alike."""
    short, _, parameters = game.partition("(")
    given = dict(part.split("=") for part in parameters.rstrip(")").split(",") if "=" in part)
    if short == "goofspiel":
        return f"goofspiel {given.get('num_cards')} {given.get('points_order')}"
    return f"{short} {given.get('board_width', '')}".strip()


def present(points: list[StudyPoint]) -> Outcome:
    """Rewards of each run a game x 100 with 95% intervals over pairs of games, beside the paper's."""
    groups = by_key(points, "game", "run", "histories")
    runs = {game: {run for other, run, _ in groups if other == game} for game, _, _ in groups}
    rows, beside = [], []
    for (game, run, size), own in groups.items():
        won = [100 * value for point in own for value in point.result["won"]]
        mean, half = mean_interval(won)
        players = {_UNIFORM: "network against uniform play", _NETWORK: "network against network"}.get(
            size, f"search below {size:,} histories against network"
        )
        names = ("moves", "searched", "seconds")
        moves, searched, seconds = (sum(point.result[name] for point in own) for name in names)
        row = {"game": game, "run": run, "what": players, "games": 2 * len(won), "reward x 100": mean, "interval": half}
        rows.append({**row, "moves": moves, "moves searched": searched, "processor seconds": seconds})
        theirs = _paper(game).get(size, "")
        share = f", {searched / moves:.0%} of moves searched" if moves else ""
        who = f"{_name(game)}, {Path(run).name}" if len(runs[game]) > 1 else _name(game)
        label = f"{who}: {players}, {2 * len(won):,} games{share}"
        beside.append(Beside(label, theirs, plus_minus(mean, half, "+.2f")))
    return Outcome(rows, {}, beside)


def describe(key: Key) -> str:
    return f"{_name(key['game'])}, {key['histories']} histories, part {key['part']}"


EXPERIMENT: Final = Experiment(
    id="sepot-table1",
    paper="SePoT",
    figure="Table 1",
    minutes=300,
    what="Network with search against network, below 25,000 and 100,000 histories: --run or runs/sepot-GAME",
    study=Study(plan, compute, present, takes=("runs", "paper"), describe=describe),
)
