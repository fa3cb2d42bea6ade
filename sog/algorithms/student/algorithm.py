"""Student of Games as an entry in the table of learning algorithms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from sog.algorithms.base import (
    SOG,
    Choices,
    Learner,
    MakeAgent,
    Measured,
    Measuring,
    Play,
    PlayBoard,
    Training,
    count_of,
)
from sog.errors import SettingError
from sog.progress import OpenBar

if TYPE_CHECKING:
    from sog.algorithms.base import Rules
    from sog.algorithms.student.measure import Subject
    from sog.games.base import Game
    from sog.nets.cvpn import CVPN
    from sog.play.player import Player
    from sog.play.resolver import ResolveSettings
    from sog.searches.gtcfr.search import Budget
    from sog.searches.leaves.evaluator import Evaluator
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.opened import Opened
    from sog.training.settings import TrainSettings, Variant

__all__ = ["ENTRY"]

_NETWORK: Final = "network"


def _preset(game: Rules, name: str) -> TrainSettings:
    from sog.algorithms.student.presets import sog_preset

    return sog_preset(cast("Game", game), name)


def _measure(public: PublicTree, network: CVPN, variant: Variant, preset: str) -> float:
    from sog.measure.exploitability import network_exploitability

    return network_exploitability(public, network)


def _agents(public: PublicTree, opened: Opened, choices: Choices) -> MakeAgent:
    """By default of the budget (100, 0.1)."""
    from sog.nets.inference import network_evaluator
    from sog.play.agent import SearchAgent

    settings, evaluator = _resolving(choices, _budget(choices, 100, 0.1)), network_evaluator(opened.network)
    return lambda player, seed: SearchAgent(public, player, settings, evaluator, seed)


def _player(evaluator: Evaluator, choices: Choices, seed: int) -> Player:
    """By default of the budget (400, 10): the position itself is searched; as a paper has it each move is re-solved."""
    from sog.algorithms.student.chain_player import ChainPlayer
    from sog.algorithms.student.player import BOARDS, SogPlayer

    name, budget = _label(choices), _budget(choices, 400, 10.0)
    if choices.paper is None:
        return SogPlayer(name, evaluator, budget, seed=seed)
    settings = _resolving(choices, budget)
    search = replace(settings.search, prior_temperature=BOARDS.prior_temperature)
    return ChainPlayer(name, evaluator, replace(settings, search=search), seed)


def _label(choices: Choices) -> str:
    papers = {None: "", "sog": " --paper", "pog": " --pog"}[choices.paper]
    return f"SoG{_budget(choices, 400, 10.0)}{papers}"


def _budget(choices: Choices, simulations: int, per_update: float) -> Budget:
    """The chosen budget, with defaults for what was not chosen."""
    from sog.searches.gtcfr.search import Budget

    s, c = choices.simulations, choices.per_update
    return Budget(simulations if s is None else s, per_update if c is None else c)


def _exploit(checkpoint: str, choices: Choices, bar: OpenBar) -> Measured:
    """Every public state searched as in play, for each seed; by default (100, 1) and one seed."""
    from sog.algorithms.student.measure import measure_seeds
    from sog.cluster.where import where_of
    from sog.games.catalog import make_game
    from sog.measure.listed import listed_with_bar

    seeds = count_of("seeds", choices.seeds, 1)
    subject = _subject(checkpoint, choices)
    listed_with_bar(subject.game, choices.limit_gb, bar)
    where = where_of(choices.cluster, choices.workers)
    found: dict[int, float] = {}
    with bar(f"exploit {subject.game}", seeds, "seeds") as report:
        unsaid = choices.cluster is None and choices.workers is None
        for seed, value in measure_seeds(subject, list(range(seeds)), where, if_worth_it=unsaid):
            found[seed] = value
            report(len(found), f"mean {sum(found.values()) / len(found):.4g}")
    settings, values = subject.settings, tuple(found[k] for k in sorted(found))
    leaves = _NETWORK if choices.leaves is None else choices.leaves
    return Measured(
        subject.game,
        make_game(subject.game).unit.name,
        values,
        f"SoG{settings.budget} with {settings.search.rule.name}, alpha {settings.alpha:g}, {leaves} leaves",
        {
            "algorithm": SOG,
            "simulations": settings.budget.simulations,
            "per_update": settings.budget.per_update,
            "rule": settings.search.rule.name,
            "paper": choices.paper or "",
            "alpha": settings.alpha,
            "leaves": leaves,
            "seeds": len(values),
        },
        {},
        spread=f"min {min(values):.4g}, max {max(values):.4g}, {len(values)} seed{'s' * (len(values) > 1)}, ",
    )


def _resolving(choices: Choices, budget: Budget) -> ResolveSettings:
    """How a decision is searched: ours, SoG's or PoG's, with the gadget's share that was chosen."""
    from sog.play.resolver import ResolveSettings, paper_settings, pog_settings

    known = {None: ResolveSettings, "sog": paper_settings, "pog": pog_settings}
    settings = known[choices.paper](budget)
    if choices.alpha is None:
        return settings
    if not 0.0 <= choices.alpha <= 1.0:
        raise SettingError(f"--alpha must lie in [0, 1], not {choices.alpha}")
    return replace(settings, alpha=choices.alpha)


def _subject(checkpoint: str, choices: Choices) -> Subject:
    from sog.algorithms.student.measure import EXACT_LEAVES, ZERO_LEAVES, Subject, network_leaves
    from sog.games.catalog import make_game
    from sog.training.shipped import find_checkpoint

    settings = _resolving(choices, _budget(choices, 100, 1.0))
    leaves = _NETWORK if choices.leaves is None else choices.leaves
    if leaves == _NETWORK:
        game, network = network_leaves(find_checkpoint(checkpoint))
        return Subject(game, network, settings, choices.limit_gb)
    if leaves not in (EXACT_LEAVES, ZERO_LEAVES):
        raise SettingError(f"--leaves is {_NETWORK}, {EXACT_LEAVES} or {ZERO_LEAVES}, not {leaves}")
    return Subject(make_game(checkpoint).name, leaves, settings, choices.limit_gb)


_BUDGET: Final = ("simulations", "per_update")

ENTRY: Final = Learner(
    SOG,
    "Student of Games",
    Training(_preset, _measure, "search at (100,1), one seed", presets=("demo", "full", "paper", "pog")),
    Play(_agents, (*_BUDGET, "paper", "alpha")),
    PlayBoard(_player, (*_BUDGET, "paper"), _label),
    Measuring(_exploit, (*_BUDGET, "seeds", "paper", "alpha", "leaves", "workers", "cluster", "limit_gb")),
)
