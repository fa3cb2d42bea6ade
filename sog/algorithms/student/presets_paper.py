"""PoG's Table 3, a column for each game, with SoG's search or PoG's: the presets paper and pog, of a cluster's size.

Where the text leaves a choice, docs/paper_map.md says which was made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from sog.algorithms.boards.presets import PAPER_NETWORK, PAPER_ROWS, require_papers_inputs
from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.queries import QuerySettings
from sog.algorithms.student.selfplay import SelfPlaySettings
from sog.games.base import Game
from sog.games.strings import OPENSPIEL, parse_game
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import PAPER, POG, Budget
from sog.searches.tree.whole import is_large
from sog.training.settings import LearnerSettings, TrainSettings

__all__ = ["papers_preset"]


@dataclass(frozen=True)
class _Column:
    """One game of Table 3, its network of Table 2, and the budgets (s, c) that SoG and PoG trained it with.

    queries, recursive: q_search and q_recursive.  td1: p_td1.  uniform_mix: epsilon.  temperature: T_prior.
    boards: it resigns below -0.9 but for a fifth of the games, and plays greedily after 30 moves.
    """

    learner: LearnerSettings
    replay: int
    network: tuple[int, int, str]
    sog: Budget
    pog: Budget
    queries: float
    recursive: float
    td1: float = 0.0
    uniform_mix: float = 0.0
    temperature: float = 1.0
    boards: bool = False


_CHESS: Final = _Column(
    LearnerSettings(
        batch=2048,
        optimiser="sgd",
        learning_rate=0.1,
        decay=0.8,
        decay_steps=40_000,
        value_weight=0.25,
        policy_weight=1.0,
        sum_policies=True,
        updates_per_example=1.0,
    ),
    replay=PAPER_ROWS,
    network=PAPER_NETWORK,
    sog=Budget(400, 1.0),
    pog=Budget(800, 1.0),
    queries=1.0,
    recursive=0.2,
    temperature=1.5,
    boards=True,
)
_GO: Final = replace(
    _CHESS,
    learner=replace(
        _CHESS.learner,
        learning_rate=0.02,
        decay=0.1,
        decay_steps=200_000,
        value_weight=0.5,
        updates_per_example=0.2,
    ),
    queries=0.0,
    recursive=0.0,
    td1=0.2,
)
_SCOTLAND_YARD: Final = _Column(
    LearnerSettings(
        batch=1024,
        optimiser="sgd",
        momentum=0.0,
        learning_rate=0.1,
        decay=0.5,
        decay_steps=2_000_000,
        policy_weight=0.05,
        sum_policies=True,
        updates_per_example=5.0,
    ),
    replay=1_000_000,
    network=(512, 6, "mlp"),
    sog=Budget(400, 1.0),
    pog=Budget(400, 1.0),
    queries=0.3,
    recursive=0.1,
)
_HOLDEM: Final = _Column(
    LearnerSettings(
        batch=1024,
        learning_rate=1e-4,
        decay=0.5,
        decay_steps=2_000_000,
        policy_weight=0.01,
        sum_policies=True,
        updates_per_example=10.0,
    ),
    replay=1_000_000,
    network=(2048, 6, "mlp"),
    sog=Budget(10, 0.01),
    pog=Budget(10, 0.1),
    queries=0.9,
    recursive=0.1,
    uniform_mix=0.1,
)
# What Leduc and the glasses map were trained with (SoG, Fig. 3), here any small game.
_SMALL: Final = Budget(100, 1.0)


def papers_preset(game: Game, pog: bool = False) -> TrainSettings:
    """Table 3's column for this game, with SoG's search and policy targets of the main line.

    pog: with PoG's search (alpha 0.2, selection by the current policy), its budgets, and its pseudocode's targets.
    """
    require_papers_inputs(game)
    column = _column(game)
    budget, search = column.pog if pog else column.sog, POG if pog else PAPER
    search = replace(search, prior_temperature=column.temperature)
    # SoG: alpha 0.5 and policies of the main line; PoG: alpha 0.2 and policies of solved queries and TD(1) examples.
    selfplay = SelfPlaySettings(
        ResolveSettings(budget, search, alpha=0.2 if pog else 0.5),
        # q_search and q_recursive, drawn uniformly from all queries of a search (Algorithm 2).
        queries=column.queries,
        uniform_queries=True,
        uniform_mix=column.uniform_mix,
        td1=column.td1,
        main_line_policies=not pog,
        greedy_after=30 if column.boards else 0,
        moves_max=game.longest if column.boards else 0,
        resign_below=-0.9 if column.boards else -2.0,
        no_resign=0.2,
        # Nothing of ours: a resigned game leaves no examples, each move is re-solved, each search begins anew.
        td1_resigned=False,
        resolve_positions=True,
        reuse=False,
    )
    width, depth, kind = column.network
    return TrainSettings(
        acting=SogActing(selfplay, QuerySettings(budget, search, column.recursive, uniform_recursive=True)),
        learner=column.learner,
        shape=shape_for(game, width, depth, kind, policies_apart=kind == "mlp"),
        replay=column.replay,
        games=0 if is_large(game) else 64,
        rounds=1_000_000,
    )


def _column(game: Game) -> _Column:
    """Its own; Go's for other games of planes, hold'em's for all others."""
    short, parameters = parse_game(game.name.removeprefix(OPENSPIEL))
    if short == "scotland_yard":
        small = parameters.get("map") == "glasses"
        return replace(_SCOTLAND_YARD, sog=_SMALL, pog=_SMALL) if small else _SCOTLAND_YARD
    if game.planes is not None:
        return _CHESS if short == "chess" else _GO
    return _HOLDEM if short == "holdem" else replace(_HOLDEM, sog=_SMALL, pog=_SMALL)
