"""PimBot in Scotland Yard on London's map: each part on against off, more simulations, other players, its categories.

The recipe, `PimBotSettings` at 1,000 simulations, plays both roles on each deal of the start cards. A share above one
half says that the recipe is better than what it plays against. The papers' abstracts give signs and no figures: one
tree beats separate ones, categories help the detectives, reduction and greedy playouts help.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from sog.arrays import Int64
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import ScotlandYard
from sog.measure.intervals import share_interval
from sog.opponents.scotland_yard.categories import KINDS, PUBLISHED
from sog.opponents.scotland_yard.is_mcts import ISMCTSChase
from sog.opponents.scotland_yard.matches import ChaseMatches, play_chases
from sog.opponents.scotland_yard.player import ChasePlayer, PimBot
from sog.opponents.scotland_yard.settings import OWN_MINIMUM, PimBotSettings
from sog.opponents.scotland_yard.shortest_path import RandomChase, ShortestPath
from soglab.plots import Level, Line, Panel, Picture, Scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, by_key

GAME: Final = "scotland_yard(map=london)"
ITSELF: Final = "itself"
SIMULATIONS: Final = 1_000
_DEALS: Final = 25  # of a batch, two games each
_BATCHES: Final = 20
_QUICK_SIMULATIONS, _QUICK_DEALS = 50, 2
_TREES: Final = 20  # separate ones, ours

# What the recipe plays against: the same with one part off or changed.
VARIANTS: Final[Mapping[str, Mapping[str, Any]]] = {
    ITSELF: {},
    "no progressive history": {"history": 0.0},
    "no coalition reduction": {"reduction": 0.0},
    "separate trees": {"trees": _TREES},
    "stations narrowed by tickets alone": {"narrow": False},
    "no categories": {"categories": "none"},
    "categories by average distance": {"categories": "average"},
    "categories by type": {"categories": "type"},
    "categories with our own table": {"table": OWN_MINIMUM},
    "class drawn first, then a station": {"draw": "class"},
    "no filter of moves": {"filtered": False},
    "random playouts": {"x_playout": "random", "detective_playout": "random", "hidden_playout": "random"},
    "detectives' playouts chase the drawn station": {"detective_playout": "drawn"},
    "detectives' playouts by total distance": {"detective_playout": "total"},
    "Mr X's playouts by total distance": {"x_playout": "total"},
    "no double cards in playouts": {"playout_double": 0.0},
}
PLAYERS: Final[Mapping[str, Callable[[ScotlandYard, int], ChasePlayer]]] = {
    "ten times the simulations": lambda game, simulations: PimBot(game, PimBotSettings(10 * simulations)),
    "IS-MCTS": lambda game, simulations: ISMCTSChase(game, simulations),
    "shortest path": lambda game, simulations: ShortestPath(game),
    "random moves": lambda game, simulations: RandomChase(game),
}


def opponent(name: str, game: ScotlandYard, simulations: int) -> ChasePlayer:
    """The player of this name."""
    if name in PLAYERS:
        return PLAYERS[name](game, simulations)
    return PimBot(game, replace(PimBotSettings(simulations), **VARIANTS[name]))


def plan(options: Options, note: Note) -> list[Key]:
    """Batches of deals against each opponent; --seeds is the number of batches."""
    size: dict[str, Any] = {"simulations": SIMULATIONS, "deals": _DEALS}
    if options.quick:
        size = {"simulations": _QUICK_SIMULATIONS, "deals": _QUICK_DEALS}
    batches = range(options.num_seeds(_BATCHES))
    return [{"against": name, "batch": k, **size} for k in batches for name in (*VARIANTS, *PLAYERS)]


def compute(key: Key) -> Result:
    """Who won each game, and what the categories' counts are."""
    game = make_game(GAME)
    assert isinstance(game, ScotlandYard)
    own = PimBot(game, PimBotSettings(key["simulations"]))
    deals = range(key["batch"] * key["deals"], (key["batch"] + 1) * key["deals"])
    match = play_chases(game, own, opponent(key["against"], game, key["simulations"]), deals)
    return {"wins": match.wins.astype(int).tolist(), "counts": match.counts.tolist()}


def present(points: list[StudyPoint]) -> Outcome:
    """A row an opponent, and the table of categories from the recipe's games with itself."""
    rows, beside = [], []
    for (name,), own in by_key(points, "against").items():
        match = matches(own)
        row: dict[str, Any] = {"against": name, "games": match.wins.size}
        for role, wins in (("pooled", match.wins), ("as_x", match.wins[:, :1]), ("as_detectives", match.wins[:, 1:])):
            low, high = share_interval((float(deal.sum()), len(deal)) for deal in wins)
            row |= {role: float(wins.mean()), f"{role}_low": low, f"{role}_high": high}
        rows.append(row)
        both, as_x, as_detectives = (_share(row, role) for role in ("pooled", "as_x", "as_detectives"))
        words = f"{both} (Mr X {as_x}, detectives {as_detectives}), {row['games']} games"
        beside.append(Beside(f"against {name}", "", words))
    counts = sum((np.array(p.result["counts"]) for p in points if p.key["against"] == ITSELF), np.zeros((3, 2, 5)))
    published = {"minimum": ", ".join(f"{weight:.3f}" for weight in PUBLISHED)}
    for kind, own_counts in zip(KINDS[1:], counts, strict=True):
        beside.append(Beside(f"categories by {kind}, a / n", published.get(kind, ""), table_of(own_counts)))
    return Outcome(rows, {"pimbot-ablation": Picture(_panels(rows))}, beside)


def matches(points: list[StudyPoint]) -> ChaseMatches:
    """The games of several batches as one."""
    wins = np.concatenate([np.array(point.result["wins"], dtype=np.bool_) for point in points])
    return ChaseMatches(wins, sum((np.array(p.result["counts"]) for p in points), np.zeros((3, 2, 5), dtype=np.int64)))


def table_of(counts: Int64) -> str:
    """a / n of each class, as text."""
    return ", ".join(f"{a / n:.3f}" if n else "-" for a, n in counts.T.tolist())


def _share(row: Mapping[str, Any], role: str) -> str:
    return f"{100 * row[role]:.1f}% [{100 * row[f'{role}_low']:.1f}, {100 * row[f'{role}_high']:.1f}]"


def _panels(rows: list[dict[str, Any]]) -> list[Panel]:
    """The share of games won against each opponent, all together and by role."""
    places = list(range(len(rows)))
    names = {"yticks": places, "yticklabels": [row["against"] for row in rows], "ylim": (len(rows) - 0.5, -0.5)}
    lines: list[Line | Level] = [Level(50.0, None, {"color": "grey", "linewidth": 0.8}, upright=True)]
    for offset, role, label in ((-0.2, "pooled", "all"), (0.0, "as_x", "Mr X"), (0.2, "as_detectives", "detectives")):
        share = [100 * row[role] for row in rows]
        error = [[100 * abs(row[role] - row[f"{role}_{end}"]) for row in rows] for end in ("low", "high")]
        lines.append(Line(share, [place + offset for place in places], label, {"fmt": "o"}, error, sideways=True))
    return [Panel(lines, Scale("games won by the recipe, %"), title="PimBot, 95% intervals by deal", axes=names)]


EXPERIMENT: Final = Experiment(
    id="pimbot-ablation",
    paper="PimBot",
    figure="",
    minutes=600,
    what="PimBot on London's map: each part on against off, ten times the simulations, categories; --seeds batches",
    study=Study(plan, compute, present, takes=("seeds",)),
)
