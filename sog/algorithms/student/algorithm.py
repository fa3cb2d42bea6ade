"""Student of Games as a learning algorithm: what can be set, how it trains, plays and is measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from sog.algorithms.base import SOG, Algorithm, Asked, MakeAgent, Measured, Rules, count_of, seeds_text
from sog.algorithms.boards.actor import BoardActing
from sog.algorithms.boards.searches import GtcfrSearch
from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.budgets import BOARDS_BUDGET, usual_budget
from sog.algorithms.student.chain_player import ChainPlayer
from sog.algorithms.student.measure import (
    EXACT_LEAVES,
    ZERO_LEAVES,
    Subject,
    evaluator_of,
    measure_seeds,
    network_leaves,
)
from sog.algorithms.student.player import BOARDS, SogPlayer
from sog.algorithms.student.presets import sog_preset
from sog.algorithms.student.turn_spots import RiverSolving, measure_turn_spot
from sog.cluster.placement import placement_of
from sog.errors import SettingError
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.games.holdem.game import Holdem
from sog.measure.endgame import is_turn_spot
from sog.measure.exploitability import network_exploitability
from sog.measure.listed import listed_with_bar
from sog.nets.inference import network_evaluator
from sog.nets.shape import NetworkShape, shape_on
from sog.play.agent import SearchAgent
from sog.play.resolver import ResolveSettings, paper_settings, pog_settings
from sog.progress import OpenBar
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.training.opened import played_game
from sog.training.settings import TrainSettings
from sog.training.shipped import find_checkpoint

if TYPE_CHECKING:
    from sog.nets.network import Network
    from sog.play.player import Player
    from sog.searches.leaves.evaluator import Evaluator
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.opened import Opened

__all__ = ["Student"]

_NETWORK: Final = "network"
_LEAVES: Final = (_NETWORK, EXACT_LEAVES, ZERO_LEAVES)
# By `paper`: how a decision is searched, and the mark in a player's name.
_PAPERS: Final = {"": (ResolveSettings, ""), "sog": (paper_settings, " paper=sog"), "pog": (pog_settings, " paper=pog")}


@dataclass(frozen=True, kw_only=True)
class Student(Algorithm):
    """Student of Games: GT-CFR with a counterfactual value-and-policy network at its leaves (SoG, 2023).

    simulations: s of the budget (s, c): expansions a search. Presets are of training; in play 400 or fewer.
    per_update: c of the budget (s, c): expansions per regret update; below 1, several updates per expansion. In play
    1, on boards 10, in hold'em before the turn 0.1, where nothing else is said.
    paper: sog or pog: plays with that paper's regret rule and search settings; by default with ours.
    alpha: the gadget's share of the opponent's range, in [0, 1].
    leaves: what values leaves where exploitability is measured: network, exact (solved) or zero.
    chance_leaves: a leaf where chance is to move is never opened, in play and in training. In play this is the default
    for a network over hands, which learns the values of such leaves.
    every_decision: in play a search is made at each of the opponent's decisions too (PoG, B.5), by default for a
    network over hands. Otherwise a player's first search trusts the network's values of the opponent's other actions.
    purify: in play where information is hidden, actions less likely than this share of the likeliest one are not
    played: 0 plays the average policy, as the papers do, and is the default; 1 the likeliest action alone. It wins more
    from opponents that do not adapt, and is easier to exploit.
    paths: on a board an iteration updates only the nodes that were just passed, which is the default: a search's time
    grows with s. With paths=false it sweeps over the whole tree, as the paper does: time grows with the square of s.
    tolerance: where information is hidden, a leaf's values are kept until its ranges, weighed by how much of one comes
    there, have moved by more than this, in play and in training; by default 0. Such searches are faster.
    """

    name: ClassVar[str] = SOG
    title: ClassVar[str] = "Student of Games"
    measure_is: ClassVar[str] = "search at (100,1), one seed"
    presets: ClassVar[tuple[str, ...]] = ("demo", "full", "paper", "pog")
    learns_with: ClassVar[tuple[type, ...]] = (TrainSettings, SogActing, BoardActing, GtcfrSearch)
    of_play: ClassVar[tuple[str, ...]] = ("every_decision", "paths", "purify")
    measured_with: ClassVar[tuple[str, ...]] = ("seeds", "river", "workers", "cluster", "limit_gb", "game")
    plays_hidden: ClassVar[bool] = True
    plays_boards: ClassVar[bool] = True
    plays_unlisted: ClassVar[bool] = True

    simulations: int | None = None
    per_update: float | None = None
    paper: str = ""
    alpha: float | None = None
    leaves: str = ""
    chance_leaves: bool | None = None
    every_decision: bool | None = None
    purify: float | None = None
    paths: bool | None = None
    tolerance: float | None = None

    def __post_init__(self) -> None:
        self._budget(BOARDS_BUDGET)  # refuses numbers that are not a budget
        if self.paper not in _PAPERS:
            raise SettingError(f"paper is sog or pog, not {self.paper}")
        if self.alpha is not None and not 0.0 <= self.alpha <= 1.0:
            raise SettingError(f"alpha must lie in [0, 1], not {self.alpha}")
        if self.purify is not None and not 0.0 <= self.purify <= 1.0:
            raise SettingError(f"purify must lie in [0, 1], not {self.purify}")
        SearchSettings(tolerance=self.tolerance or 0.0)  # refuses numbers that are no tolerance
        if self.leaves and self.leaves not in _LEAVES:
            raise SettingError(f"leaves is {', '.join(_LEAVES[:-1])} or {_LEAVES[-1]}, not {self.leaves}")

    def preset(self, game: Rules, name: str) -> TrainSettings:
        assert isinstance(game, Game)
        return sog_preset(game, name)

    def measure(self, public: PublicTree, network: Network, preset: str) -> float:
        """Exploitability of search at (100, 1), for one seed; in turn spots of hold'em with rivers solved anew."""
        if is_turn_spot(game := public.game):
            settings, evaluator = self._resolving(Budget(100, 1.0), network.shape), network_evaluator(network)
            spot = measure_turn_spot(game, settings, evaluator, 0, RiverSolving(), lambda: public)
            return spot.measure.exploitability
        return network_exploitability(public, network)

    def agents(self, public: PublicTree, opened: Opened) -> MakeAgent:
        """Agents that search with the usual budget (budgets.py) where none is set."""
        self._refuse_leaves()
        shape, evaluator = opened.network.shape, opened.evaluator
        settings = self._resolving(self._budget(usual_budget(public.game)), shape)
        return lambda player, seed: SearchAgent(public, player, settings, evaluator, seed)

    def player(self, evaluator: Evaluator, seed: int) -> Player:
        """A player with the budget (400, 10) by default: it searches the position; with `paper` it re-solves."""
        self._refuse_leaves()
        if self.tolerance:
            raise SettingError("tolerance is for hidden information: on a board each leaf is evaluated once")
        if self.purify:
            raise SettingError("purify is for hidden information: on a board the likeliest move is played")
        budget = self._budget(BOARDS_BUDGET)
        if not self.paper:
            if self.alpha is not None:
                raise SettingError("alpha needs paper=sog or paper=pog on a board: else nothing is re-solved there")
            return SogPlayer(self.label, evaluator, budget, replace(BOARDS, paths=self.paths is not False), seed)
        if self.paths:
            raise SettingError("paths is a setting of our search; with paper=sog or paper=pog there is none")
        settings = self._resolving(budget)
        search = replace(settings.search, prior_temperature=BOARDS.prior_temperature)
        return ChainPlayer(self.label, evaluator, replace(settings, search=search), seed)

    @property
    def label(self) -> str:
        return f"SoG{self._budget(BOARDS_BUDGET)}{_PAPERS[self.paper][1]}"

    def exploit(self, checkpoint: str | Path, asked: Asked, bar: OpenBar) -> Measured:
        """Every public state searched as in play, for each seed; by default of the usual budget and one seed.

        In a turn spot of hold'em the turn's alone, with the rivers below solved anew (turn_spots.py).
        """
        seeds = count_of("seeds", asked.seeds, 1)
        subject = self._subject(str(checkpoint), asked)
        if is_turn_spot(game := make_game(subject.game)):
            return self._exploit_turn_spot(game, subject, asked, seeds, bar)
        if asked.river is not None:
            raise SettingError("--river is for hold'em that begins on the turn")
        listed_with_bar(subject.game, asked.limit_gb, bar)
        placement = placement_of(asked.cluster, asked.workers)
        by_seed: dict[int, float] = {}
        with bar(f"exploit {subject.game}", seeds, "seeds") as report:
            # Without --cluster and --workers the first seed's time decides whether processes are worth it.
            unsaid = asked.cluster is None and asked.workers is None
            for seed, value in measure_seeds(subject, list(range(seeds)), placement, if_worth_it=unsaid):
                by_seed[seed] = value
                report(len(by_seed), f"mean {sum(by_seed.values()) / len(by_seed):.4g}")
        settings, values = subject.settings, tuple(by_seed[k] for k in sorted(by_seed))
        leaves = self.leaves or _NETWORK
        return Measured(
            subject.game,
            make_game(subject.game).unit.name,
            values,
            f"SoG{settings.budget} with {settings.search.rule.name}, alpha {settings.alpha:g}, {leaves} leaves"
            + self._further(),
            {**self._searched(settings, leaves), "seeds": len(values)},
            {},
            spread=seeds_text(values),
        )

    def _exploit_turn_spot(self, game: Holdem, subject: Subject, asked: Asked, seeds: int, bar: OpenBar) -> Measured:
        """A turn spot's figures, in chips."""
        river, settings, by_seed = RiverSolving.read(asked.river), subject.settings, []
        evaluator = evaluator_of(subject.leaves)

        def whole() -> PublicTree:
            return listed_with_bar(subject.game, asked.limit_gb, bar)

        with bar(f"exploit {subject.game}", seeds, "seeds") as report:
            for seed in range(seeds):
                by_seed.append(measure_turn_spot(game, settings, evaluator, seed, river, whole, asked.workers))
                report(len(by_seed), f"{by_seed[-1].measure.exploitability:.4g} chips")
        measures, leaves = [result.measure for result in by_seed], self.leaves or _NETWORK
        values = tuple(m.exploitability for m in measures)
        percent = 100 * sum(m.of_pot for m in measures) / seeds
        value = sum(m.value for m in measures) / seeds
        return Measured(
            subject.game,
            "chips",
            values,
            f"SoG{settings.budget} with {settings.search.rule.name}, alpha {settings.alpha:g}, {leaves} leaves"
            f"{self._further()}; rivers {river}",
            {**self._searched(settings, leaves), "river": str(river), "seeds": seeds},
            {
                "percent_of_pot": percent,
                "value": value,
                "best_response_0": sum(m.best[0] for m in measures) / seeds,
                "best_response_1": sum(m.best[1] for m in measures) / seeds,
                "search_seconds": sum(result.search_seconds for result in by_seed),
                "river_seconds": sum(m.seconds[0] for m in measures),
                "best_response_seconds": sum(m.seconds[1] for m in measures),
            },
            spread=f"value of player 0 {value:.4g}, {seeds_text(values)}",
            further=f", {percent:.3g}% of the pot",
        )

    def _searched(self, settings: ResolveSettings, leaves: str) -> dict[str, str | int | float]:
        """How decisions were searched, for machines."""
        return {
            "algorithm": SOG,
            "simulations": settings.budget.simulations,
            "per_update": settings.budget.per_update,
            "rule": settings.search.rule.name,
            "paper": self.paper,
            "alpha": settings.alpha,
            "tolerance": settings.search.tolerance,
            "purify": settings.purify,
            "chance_leaves": settings.search.chance_leaves,
            "every_decision": settings.every_decision,
            "leaves": leaves,
        }

    def _further(self) -> str:
        """What else was set of the play, in words."""
        given = {"purify": self.purify, "tolerance": self.tolerance}
        flags = {"chance_leaves": self.chance_leaves, "every_decision": self.every_decision}
        words = [f", {name} {value:g}" for name, value in given.items() if value]
        return "".join(words + [f", {name} {str(value).lower()}" for name, value in flags.items() if value is not None])

    def _refuse_leaves(self) -> None:
        """SettingError in play, where a network values leaves."""
        if self.leaves:
            raise SettingError("leaves is a setting of `sog exploit`: in play the network values leaves")

    def _budget(self, usual: Budget) -> Budget:
        """The budget that was set, with the usual one's numbers for those that were not."""
        s, c = self.simulations, self.per_update
        return Budget(usual.simulations if s is None else s, usual.per_update if c is None else c)

    def _resolving(self, budget: Budget, shape: NetworkShape | None = None) -> ResolveSettings:
        """How a decision is searched: ours, SoG's or PoG's, with the gadget's share and the leaves that were set.

        shape: of the network that values leaves; None for other values.
        """
        settings, hands = _PAPERS[self.paper][0](budget), shape is not None and shape.kind == "hands"
        closed = hands if self.chance_leaves is None else self.chance_leaves
        every = settings.every_decision or hands if self.every_decision is None else self.every_decision
        alpha = settings.alpha if self.alpha is None else self.alpha
        purify = settings.purify if self.purify is None else self.purify
        search = replace(settings.search, chance_leaves=closed, tolerance=self.tolerance or 0.0)
        return replace(settings, alpha=alpha, every_decision=every, purify=purify, search=search)

    def _subject(self, checkpoint: str, asked: Asked) -> Subject:
        """What is measured: a checkpoint's network, or a game with other leaves."""
        if self.leaves in ("", _NETWORK):
            trained_on, network = network_leaves(find_checkpoint(checkpoint))
            game = played_game(checkpoint, network.shape, make_game(trained_on), asked.game)
            network = replace(network, shape=shape_on(network.shape, make_game(game)))
            budget = self._budget(usual_budget(make_game(game)))
            return Subject(game, network, self._resolving(budget, network.shape), asked.limit_gb)
        if asked.game is not None:
            raise SettingError("--game is for a checkpoint's network")
        rules = make_game(checkpoint)
        return Subject(rules.name, self.leaves, self._resolving(self._budget(usual_budget(rules))), asked.limit_gb)
