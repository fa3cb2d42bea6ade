"""The functions of `import sog`: solve, exploitability, search, train and PettingZoo environments, each in one call."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast, overload

import numpy as np

from sog.agents.loaded import LoadedAgent
from sog.agents.opening import open_network
from sog.agents.own import checked_policies, seats_of
from sog.agents.solved import Policy, Solution, noted
from sog.algorithms.student.budgets import usual_budget
from sog.algorithms.table import checked_settings, read
from sog.arrays import Float64
from sog.errors import GameError, SettingError, check_whole
from sog.games.base import NATURE, Game
from sog.games.catalog import GAMES, as_game, make_game, make_history_game
from sog.games.checks.own import checked_game
from sog.games.histories.base import HistoryGame
from sog.games.own import lend, lent_games
from sog.games.policy_picture import likely, policy_drawn
from sog.measure.exploitability import composed_policy
from sog.nets.inference import network_evaluator
from sog.nets.network import network_on
from sog.play.agent import Agent
from sog.play.resolver import ResolveSettings, Resolving
from sog.searches.cfr import exact
from sog.searches.cfr.algorithms import named, of_rule
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import Rule
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.drive import run as run_alone
from sog.searches.leaves.evaluator import Evaluator, zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import whole_tree
from sog.training.curve import Point
from sog.training.opened import refuse_other, value_network
from sog.training.run import Hooks, Run, Until
from sog.training.shipped import find_checkpoint

if TYPE_CHECKING:
    from sog.games.histories.aec import HistoryEnv

__all__ = [
    "Policy",
    "SearchResult",
    "SeedFigures",
    "Solution",
    "aec_env",
    "exploitability",
    "search",
    "solve",
    "train",
]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What `search` found at the root.

    policy: float64[A, I], the average policy of the player who acts.  values: float64[I0] and float64[I1], each
    player's value with each infostate, in utilities.  tree: the tree that the search grew, whose node 0 is the root.
    To read a node n: `tree.children(n)`, `tree.policy(n)`, `tree.visits(n)`, `tree.values(n)`. Its public state is
    `tree.public.states[tree.public_node(n)]`.
    """

    policy: Float64
    values: tuple[Float64, Float64]
    tree: Lookahead

    def __repr__(self) -> str:
        return f"SearchResult({self.tree.public.game.name!r}, states={self.states})"

    @property
    def states(self) -> int:
        """How many public states are in the search's tree."""
        return self.tree.size

    def _repr_html_(self) -> str:
        """In a notebook: the policy, and both players' values with each likely infostate."""
        public, ranges = self.tree.public, self.tree.range_sums(0)
        game, state = public.game, public.states[self.tree.public_node(0)]
        lines = [f"{game.name}: {self.states:,} public states in the tree"]
        for p, values in enumerate(self.values):
            each = (f"{game.infostate_name(state, p, i)} {values[i]:+.3f}" for i in likely(ranges[p]))
            lines.append(f"values of {game.player_names[p]}: {', '.join(each)}")
        return noted(lines, policy_drawn("Policy", game, state, self.policy, ranges[game.actor(state)]).svg)


@dataclass(frozen=True)
class SeedFigures:
    """Exploitability of an agent for each of several seeds.

    by_seed: one figure for each seed, in the order of the seeds, in utilities.
    The spread is that of searches with one network; it does not include how networks of other trainings differ.
    """

    by_seed: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.by_seed))

    @property
    def deviation(self) -> float:
        """The standard deviation of one seed's figure."""
        return float(np.std(self.by_seed, ddof=1))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / math.sqrt(len(self.by_seed))


def solve(game: Game | str, algorithm: str | Rule = "cfr+", iterations: int = 1000, seed: int = 0) -> Solution:
    """Solve a game on its whole public tree by an iterative solver, as `sog solve` does.

    algorithm: cfr, cfr+, lcfr, dcfr, pcfr+, sog, fp, linear-fp, flop, external-mccfr or outcome-mccfr; or a rule of
    your own, such as sog.Rule("mine", alpha=1.5, beta=0.5, gamma=2).  seed: for the two MCCFRs, which draw.
    Value and exploitability are in the game's utilities (in Leduc poker chips, not mbb/h).
    Raises GameError for a game too large to list and SettingError for an unknown algorithm.

        solution = sog.solve("leduc_poker", algorithm="dcfr", iterations=1000)
        solution.value, solution.exploitability           # -0.0856, 0.0002
    """
    check_whole("iterations", iterations, 1)
    if isinstance(algorithm, Rule) and algorithm.delay >= iterations:
        raise SettingError(f"after {iterations} iterations a delay of {algorithm.delay} leaves no policy to average")
    check_whole("seed", seed, 0)
    solver = of_rule(algorithm) if isinstance(algorithm, Rule) else named(algorithm, seed=seed)
    public = whole_tree(checked_game(game))
    tree = exact.full_tree(public)
    solver.iterate(tree, iterations)
    tree.update_average_policy()
    measure = exact.measure(tree)
    return Solution(public, exact.policy_of(tree), measure.value, measure.exploitability, iterations)


# What `exploitability` measures.
_Measured: TypeAlias = Solution | LoadedAgent | Policy | Callable[[PublicTree, int, int], Agent]


@overload
def exploitability(of: _Measured, game: Game | str | None = None, seed: int = 0, seeds: None = None) -> float: ...
@overload
def exploitability(of: _Measured, game: Game | str | None = None, seed: int = 0, *, seeds: int) -> SeedFigures: ...
def exploitability(
    of: _Measured, game: Game | str | None = None, seed: int = 0, seeds: int | None = None
) -> float | SeedFigures:
    """How much a policy can lose: (best response of 0 + best response of 1) / 2, in utilities; 0 is an equilibrium.

    of: a solution or a loaded agent; or, with `game`, a policy by public node or a class derived from `Agent`, whose
    policy is taken at every public state as in play.  seed: decides the draws of the agents that a class makes.
    seeds: how many seeds to measure an agent with, from its own seed (of a class from `seed`) on; the result is then
    SeedFigures.
    Raises SettingError for anything else, for a policy or a class without `game`, and for a policy with `seeds`.

        sog.exploitability(sog.load_agent("leduc_poker"))            # about 0.0026 chips a hand
        sog.exploitability(sog.load_agent("leduc_poker"), seeds=30).mean
        sog.exploitability(sog.UniformAgent, "leduc_poker")          # 2.37 chips a hand
    """
    check_whole("seed", seed, 0)
    if seeds is None:
        return _exploitability(of, game, seed)
    check_whole("seeds", seeds, 2)
    if isinstance(of, LoadedAgent):
        return SeedFigures(tuple(_exploitability(agent, game, seed) for agent in of.by_seed(seeds)))
    if isinstance(of, Solution | dict):
        raise SettingError("a policy is the same for every seed: seeds are for agents that search")
    return SeedFigures(tuple(_exploitability(of, game, each) for each in range(seed, seed + seeds)))


def _exploitability(of: _Measured, game: Game | str | None, seed: int) -> float:
    if isinstance(of, Solution | LoadedAgent):
        if game is not None and as_game(game).name != of.game.name:
            raise SettingError(f"this policy plays {of.game.name}, not {as_game(game).name}")
        if isinstance(of, Solution) and isinstance(game, Game) and game is not of.game:
            return _exploitability(dict(of.policy), game, seed)  # rules that the name does not say may differ
        return exact.measure_policy(of.public, dict(of.policies())).exploitability
    if isinstance(of, str):
        raise SettingError(f"exploitability measures an agent, not a name; sog.load_agent({of!r}) opens one")
    if not isinstance(of, dict) and not callable(of):
        raise SettingError(f"a policy is float64[A, I] by public node, as in Solution.policy, not {type(of).__name__}")
    if game is None:
        raise SettingError("which game is it? exploitability(policy_or_agent, game)")
    public = whole_tree(checked_game(game))
    if not isinstance(of, dict):
        make = seats_of(cast("type[Agent]", of), public)
        of = composed_policy((make(0, seed), make(1, seed)), read=checked_policies)
    missing = set(public.decisions()) - set(of)
    if missing:
        example = public.game.state_name(public.states[min(missing)])
        raise SettingError(f"{len(missing)} public states have no policy, such as {example}")
    return exact.measure_policy(public, of).exploitability


def search(
    game: Game | str, budget: Budget | None = None, leaves: Evaluator | Path | str | None = None, seed: int = 0
) -> SearchResult:
    """Growing-tree CFR from the first decision of a game; to begin later, give the game another root (`Rooted`).

    budget: (s, c), by default (400, 1), on boards (400, 10); where networks are slow, as in hold'em, smaller.
    leaves: what evaluates the leaves: a checkpoint, a game (its shipped network), an evaluator, or None, where every
    leaf is worth 0.  seed: of the search's draws.
    Raises GameError where no player is to move at the root, SettingError for another game's network and for an
    evaluator whose answers are not finite or have other shapes.

        found = sog.search("leduc_poker", sog.Budget(1000, 1.0), leaves="leduc_poker")
        found.policy[:, 0]                 # with the first card in hand

    An evaluator of your own answers a list of Beliefs with a list of Evaluations (docs/extending.md, "Leaves").
    """
    check_whole("seed", seed, 0)
    rules = checked_game(game)
    player = rules.actor(rules.root())
    if player >= NATURE:
        problem = f"{rules.name}: no player is to move in {rules.state_name(rules.root())}"
        raise GameError(f"{problem}; to search from a later state, give sog.Rooted(game, state)")
    if isinstance(leaves, type) or not (leaves is None or isinstance(leaves, str | Path) or callable(leaves)):
        raise SettingError(f"leaves are a checkpoint, a game or a function, not {type(leaves).__name__}")
    evaluator = _network_of(leaves, rules) if isinstance(leaves, str | Path) else leaves
    if not isinstance(budget, Budget | None):
        raise SettingError(f"a search budget is sog.Budget(s, c), such as sog.Budget(100, 1.0), not {budget!r}")
    settings = ResolveSettings(budget or usual_budget(rules))
    resolving = Resolving(PublicTree(rules), player, 0, None, settings, seed)
    run_alone(resolving, evaluator or zero_evaluator)
    solved = resolving.solved()
    return SearchResult(solved.policy(), solved.root_values(), solved.tree)


def train(
    run: Run | Game | str,
    out: Path | str,
    minutes: float | None = None,
    rounds: int | None = None,
    resume: bool = False,
    hooks: Hooks | None = None,
    device: str = "cpu",
    game: Game | HistoryGame | None = None,
) -> Point:
    """Learn a game by self-play, as `sog train` does; returns the last point of the learning curve.

    run: a game string or a game (then Student of Games' preset "demo"), or a `Run`, which also names algorithm, preset
    and seed.  out: the run's folder, which `load_agent` opens.  minutes: stops the run before its preset ends.  rounds:
    how many rounds in all, instead of the preset's.  resume: continue the run in `out`.  hooks: what is measured and
    reported.  game: the game of your own that the run's game string means, where no module of SOG_GAMES has it; this
    program knows it by that name from then on, and another one does not.
    With more than one worker, call it under `if __name__ == "__main__":`, since workers are processes.
    Raises SettingError for settings that make no sense, GameError for a game of your own that breaks a promise of its
    interface, CheckpointError where `out` holds another run.

        sog.train("kuhn_poker", "runs/kuhn", minutes=1)
        sog.train(sog.Run("kuhn_poker", seed=1, algorithm="rebel"), "runs/rebel", rounds=5)
    """
    if isinstance(run, Game):
        game, run = run, Run(run.name)
    if not isinstance(run, Run | str):
        raise SettingError(f"train takes a game string, a game by public states or a Run, not {run!r}")
    if not isinstance(out, Path | str) or out == "":
        raise SettingError(f"out is a folder's name, not {out!r}")
    if game is not None:
        _lend_to(run, game)
    run = run if isinstance(run, Run) else Run(make_game(run).name)
    if not run.rounds:
        raise SettingError("only `sog train --asynchronous` trains without rounds")
    if rounds is not None:
        check_whole("rounds", rounds, 1)
    until = Until(minutes, rounds)
    algorithm = read(run.algorithm)
    run = replace(run, algorithm=str(algorithm))
    settings = checked_settings(algorithm.rules(run.game), run)
    return algorithm.loop()(run, settings, Path(out), until, resume, hooks, device)


def _lend_to(run: Run | str, game: Game | HistoryGame) -> None:
    """Have the run's game string mean this game; SettingError where it cannot."""
    if not isinstance(game, Game | HistoryGame):
        raise SettingError(f"game is derived from sog.Game or sog.HistoryGame, not {game!r}")
    if (run if isinstance(run, str) else run.game) != game.name:
        raise SettingError(f"the run is of {run if isinstance(run, str) else run.game}, and the game is {game.name}")
    table = "GAMES" if isinstance(game, Game) else "HISTORY_GAMES"
    make = make_game if isinstance(game, Game) else make_history_game
    with suppress(GameError):
        if game.name not in lent_games(table) and type(make(game.name)) is type(game):
            return  # a game of this program or of a module makes itself
    if (short := game.name.partition("(")[0]) in GAMES:
        raise GameError(f"{short} is a game of this program; give yours another name")
    if isinstance(run, Run) and run.workers > 1:
        raise SettingError(
            "several workers are processes that make the game themselves: a game of your own gets a game string by the "
            "environment variable SOG_GAMES (docs/extending.md), or the run has one worker"
        )
    lend(game, table)


def aec_env(game: HistoryGame | str) -> HistoryEnv:
    """A game as a PettingZoo environment, in which agents act in turn (AEC); needs the extra `pettingzoo`.

    game: a game string with rules by histories (`sog games`), openspiel:GAME, or an object. Raises GameError for a game
    that is given by public states alone, SettingError where PettingZoo is not installed.

        env = sog.aec_env("leduc_poker")
        env.reset(seed=0)
        for agent in env.agent_iter():
            observation, reward, ended, cut, _ = env.last()
            env.step(None if ended else env.action_space(agent).sample(observation["action_mask"]))
    """
    try:
        from sog.games.histories.aec import HistoryEnv
    except ImportError as error:
        raise SettingError("PettingZoo is not installed: pip install 'sog[pettingzoo]'") from error
    rules = make_history_game(game) if isinstance(game, str) else game
    if not isinstance(rules, HistoryGame):
        raise SettingError(f"a game here is a game string or derived from sog.HistoryGame, not {type(rules).__name__}")
    return HistoryEnv(rules)


def _network_of(leaves: str | Path, rules: Game) -> Evaluator:
    """The evaluator of a checkpoint's network or a shipped one; SettingError for another game's."""
    value_network(find_checkpoint(str(leaves)))  # refuses policy networks; and for no checkpoint none is made
    opened = open_network(str(leaves))
    refuse_other(opened.network.shape, opened.game, rules)
    return network_evaluator(network_on(opened.network, rules))
