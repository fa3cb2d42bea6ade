"""GT-CFR alone: how close one search from a game's root comes to the solution as s grows, with c = 1.

SoG, Theorem 1. With exact leaf values the search's value must reach the game's, and with any leaves (here: 0
everywhere) exploitability must fall once the tree holds the whole game. A policy for the whole game is the search's
average policy where its tree reaches, completed beyond it in one of two ways: uniform play, or, for exact leaves, the
solution of what lies below from the ranges that the search ends with. No completion re-solves with a gadget: this
measures one search, not the agent that searches again at its next move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from sog.arrays import Float64
from sog.games.base import TERMINAL
from sog.games.catalog import make_game
from sog.play.resolver import derive_generator
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import DCFR
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from soglab.plots import Mark, Panel, Picture, line_through, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, by_key

EXACT, ZERO = "exact", "zero"


@dataclass(frozen=True)
class Case:
    """A game, from its root or from the public state that the edges `opening` lead to.

    exact: the most expansions with exact leaves, which are solved below at every iteration: more would take hours.
    """

    name: str
    game: str
    opening: tuple[int, ...] = ()
    exact: int = 10_000


CASES: Final = (
    Case("Kuhn", "kuhn_poker"),
    Case("RPS", "rps"),
    Case("Leduc", "leduc_poker"),
    Case("Liar's Dice 1x3", "liars_dice(numdice=1,dice_sides=3)"),
    Case("Liar's Dice 1x4", "liars_dice(numdice=1,dice_sides=4)"),
    Case("Goofspiel 3", "goofspiel(imp_info=True,num_cards=3,points_order=descending)"),
    Case("Goofspiel 4", "goofspiel(imp_info=True,num_cards=4,points_order=descending)"),
    Case("glasses", "scotland_yard(map=glasses)", exact=500),
    Case("tic-tac-toe from ox./.x./...", "tic_tac_toe", (4, 0, 0)),
)
SIMULATIONS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
SEEDS: Final = 3
_QUICK: Final = (1, 10, 100)
_TRUTH_ITERATIONS: Final = 3_000
_BELOW_ITERATIONS: Final = 200
# Ranges from which a completion is solved have this much of every infostate, so that no policy stays undefined.
_TREMBLE: Final = 1e-6


def plan(options: Options, note: Note) -> list[Key]:
    """Every case, both kinds of leaves, every s and seed."""
    return [
        {"game": case.game, "opening": list(case.opening), "leaves": leaves, "simulations": s, "seed": seed}
        for case in (CASES[:4] if options.quick else CASES)
        for leaves in (EXACT, ZERO)
        for s in (_QUICK if options.quick else SIMULATIONS)
        if leaves == ZERO or s <= case.exact
        for seed in range(options.num_seeds(SEEDS))
    ]


@dataclass(frozen=True, eq=False)
class _WholeGame:
    """A case's whole game, its listed tree's start, and its value for player 0."""

    tree: Lookahead
    start: int
    ranges: tuple[Float64, Float64]
    value: float
    states: int


@lru_cache(maxsize=2)
def _whole(game: str, opening: tuple[int, ...]) -> _WholeGame:
    public, start = PublicTree(make_game(game)), 0
    for edge in opening:
        public.list_fan(start)
        start = public.child(start, edge)
    ranges = _root_ranges(public, start)
    tree = Lookahead(public, start, ranges).expand_all()
    tree.iterate(DCFR, _TRUTH_ITERATIONS)
    tree.update_average_policy()
    states = sum(tree.actor(n) != TERMINAL for n in range(tree.size))
    return _WholeGame(tree, start, ranges, exact.measure(tree).value, states)


def _root_ranges(public: PublicTree, start: int) -> tuple[Float64, Float64]:
    """The game's own at its root; later there is only perfect information here, with nothing to weigh."""
    if start == 0:
        return public.game.root_ranges()
    assert public.game.perfect_information
    return np.ones(1), np.ones(1)


def compute(key: Key) -> Result:
    """One search. Utilities: its value's error, and exploitability with both completions.

    covered: the share of the game's public states that its tree holds, terminal ones aside.  below: None with zero
    leaves, which have no solution to offer.
    """
    whole = _whole(key["game"], tuple(key["opening"]))
    public = whole.tree.public
    tree = Lookahead(public, whole.start, whole.ranges)
    evaluator = exact.ExactEvaluator() if key["leaves"] == EXACT else zero_evaluator
    rng = derive_generator(key["seed"], 0, whole.start)
    run(search(tree, 0, Budget(key["simulations"]), SearchSettings(), rng), evaluator)
    opened = sum(tree.is_open(n) for n in range(tree.size))
    return {
        "value": _search_value(tree),
        "value_error": abs(_search_value(tree) - whole.value),
        "covered": opened / whole.states,
        "uniform": _completed(whole, tree, solve=False),
        "below": _completed(whole, tree, solve=True) if key["leaves"] == EXACT else None,
    }


def _search_value(tree: Lookahead) -> float:
    """Player 0's value at the root: the weighted mean over iterations, as searches report it."""
    own = tree.root_ranges[0]
    return float(own @ tree.cfv_sums(0)[0] / (tree.range_sums(0)[0].sum() / own.sum()))


def _completed(whole: _WholeGame, tree: Lookahead, solve: bool) -> float:
    """Exploitability of the search's average policy, completed beyond its tree by solutions or uniform play."""
    full = whole.tree
    full.restart(whole.ranges)
    full.update_average_policy()  # uniform
    tree.update_average_policy()
    exact.set_policy(full, exact.policy_of(tree))
    if solve:
        full.play_average()
        beyond = [(n, _trembling(full, n)) for n in _edge_of(tree, full)]
        for n, ranges in beyond:
            below = Lookahead(full.public, full.public_node(n), ranges).expand_all()
            below.iterate(DCFR, _BELOW_ITERATIONS)
            below.update_average_policy()
            exact.set_policy(full, exact.policy_of(below))
    return exact.measure(full).exploitability


def _edge_of(tree: Lookahead, full: Lookahead) -> Iterator[int]:
    """The nodes of the full tree that are first beyond the search's, terminal ones aside."""
    inside = {tree.public_node(n) for n in range(tree.size) if tree.is_open(n)}
    for n in range(full.size):
        s = full.public_node(n)
        above = int(full.public.parent[s])
        if s not in inside and above in inside and full.is_open(n):
            yield n


def _trembling(tree: Lookahead, n: int) -> tuple[Float64, Float64]:
    r0, r1 = tree.ranges(n)
    return r0 + _TREMBLE, r1 + _TREMBLE


# --- the figure ---


# All seeds' results by s.
Curve = dict[int, list[Result]]


def present(points: list[StudyPoint]) -> Outcome:
    """Errors against s, and for each case the figures at its largest s."""
    curves = {leaves: [_curve(points, case, leaves) for case in CASES] for leaves in (EXACT, ZERO)}
    beside = []
    for case, *both in zip(CASES, *curves.values(), strict=True):
        if all(both):
            beside += [_beside(case, leaves, curve) for leaves, curve in zip(curves, both, strict=True)]
    rows = [{**point.row, "opening": " ".join(map(str, point.key["opening"]))} for point in points]
    log = (log_scale("s"), log_scale("utility"))
    panels = [Panel(_marks(curves[leaves], measure), *log, title) for leaves, measure, title in _PANELS]
    title = "GT-CFR from the root, c = 1; dots: the tree holds the whole game"
    return Outcome(rows, {"gtcfr-growth": Picture(panels, title, 2, (13, 9), same_x=True)}, beside)


def _curve(points: list[StudyPoint], case: Case, leaves: str) -> Curve:
    about = {"game": case.game, "opening": list(case.opening), "leaves": leaves}
    own = [point for point in points if about.items() <= point.key.items()]
    return {s: [point.result for point in same] for (s,), same in by_key(own, "simulations").items()}


def _mean(results: list[Result], measure: str) -> float:
    return sum(float(result[measure]) for result in results) / len(results)


def _beside(case: Case, leaves: str, curve: Curve) -> Beside:
    most = max(curve)
    last, way = curve[most], "uniform" if leaves == ZERO else "below"
    ours = f"exploitability {_mean(last, way):.2g}, covers {_mean(last, 'covered'):.0%}"
    if way == "below":
        ours = f"value {_mean(last, 'value'):.5f}, error {_mean(last, 'value_error'):.1g}; {ours}"
    return Beside(f"{case.name}, {leaves} leaves, s = {most:,}", "", ours)


_PANELS: Final = (
    (EXACT, "value_error", "exact leaves: error of the value"),
    (EXACT, "below", "exact leaves: exploitability,\nsolved beyond the tree"),
    (EXACT, "uniform", "exact leaves: exploitability,\nuniform beyond the tree"),
    (ZERO, "uniform", "leaves of value 0: exploitability,\nuniform beyond the tree"),
)
_FLOOR: Final = 1e-7  # smaller errors are drawn here


def _marks(curves: list[Curve], measure: str) -> list[Mark]:
    """A line for each case; dots where the tree holds the whole game."""
    marks: list[Mark] = []
    for k, (case, curve) in enumerate(zip(CASES, curves, strict=True)):
        if curve:
            errors = {s: max(_mean(results, measure), _FLOOR) for s, results in curve.items()}
            whole = {s: y for s, y in errors.items() if _mean(curve[s], "covered") == 1.0}
            dots = {"color": f"C{k}", "marker": "o", "linestyle": "", "markersize": 4}
            marks += [line_through(errors, case.name, {"color": f"C{k}"}), line_through(whole, None, dots)]
    return marks


EXPERIMENT: Final = Experiment(
    id="gtcfr-growth",
    paper="SoG",
    figure="Theorem 1",
    minutes=6,
    what="One search from the root of nine small games: errors of value and policy against s, exact and zero leaves",
    study=Study(plan, compute, present, takes=("seeds",)),
)
