"""Connect four: what each technique of self-play is worth, left out or added one at a time, at equal processor time.

Every run is Student of Games' preset `demo` on one core, changed in one thing; then it is measured by the moves that
lose value in solved positions and by games against the unchanged recipe of the same seed. Runs are kept in RUNS and
resumed, so that a study can be stopped at any moment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sog.algorithms.alphazero.algorithm import ALPHAZERO
from sog.algorithms.base import SOG
from sog.algorithms.boards.actor import BoardActing
from sog.algorithms.boards.game import BoardPlay
from sog.algorithms.boards.searches import MctsSearch
from sog.algorithms.table import settings_of
from sog.games.boards.connect_four import ConnectFour
from sog.measure.elo import Ratings, points_of, rate
from sog.measure.intervals import wilson
from sog.opponents.connect_four.positions import SETS, SHIPPED
from sog.training.checkpoint import load_meta
from sog.training.loop import train
from sog.training.run import Run, Until
from sog.training.settings import TrainSettings
from soglab.checks import connect_four_mistakes
from soglab.checks.fixed_positions import file_id
from soglab.papers.elo_matches import Agent, match_keys, play_match, points_and_games, said_of
from soglab.study import Beside, Key, Note, Options, Outcome, Point, Result, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RUNS: Final = Path("runs/connect-four-ablation")
GAME: Final = "connect_four"
MINUTES: Final = 20.0
SEEDS: Final = 2
RECIPE: Final = "recipe"
TRAIN, MISTAKES, MATCH = "train", "mistakes", "match"
_STAGES: Final = (TRAIN, MISTAKES, MATCH)
_POSITIONS: Final = 1_000  # of each set, or all that it has
_OPENINGS: Final = 64
_QUICK: Final = 0.05  # minutes

Change = Callable[[TrainSettings], TrainSettings]


def _acting(settings: TrainSettings) -> BoardActing:
    assert isinstance(settings.acting, BoardActing)
    return settings.acting


def _play(settings: TrainSettings) -> BoardPlay:
    return _acting(settings).play


def _played(settings: TrainSettings, play: BoardPlay) -> TrainSettings:
    """The settings with games played in another way."""
    return replace(settings, acting=replace(_acting(settings), play=play))


def _own_policy(settings: TrainSettings) -> TrainSettings:
    play = _play(settings)
    return _played(settings, replace(play, target=replace(play.target, completed=False)))


def _prior_as_it_is(settings: TrainSettings) -> TrainSettings:
    play = _play(settings)
    return _played(settings, replace(play, target=replace(play.target, target_temperature=1.0)))


def _with_caps(settings: TrainSettings) -> TrainSettings:
    """A quarter of the moves get as many simulations as leave the others half of the mean."""
    play, caps = _play(settings), _play(settings).caps
    cheap = caps.simulations // 2
    capped = replace(caps, simulations=4 * caps.simulations - 3 * cheap, cheap=cheap, share=0.25)
    return _played(settings, replace(play, caps=capped))


def _growing(settings: TrainSettings) -> TrainSettings:
    """Half of the simulations at first, all from round 200 on, which is about a third of a run of 20 minutes."""
    play = _play(settings)
    return _played(settings, replace(play, caps=replace(play.caps, begin_share=0.5, growing_rounds=200)))


def _mcts(considered: int, settings: TrainSettings) -> TrainSettings:
    """AlphaZero's search, whose root's simulations go to so many actions by sequential halving, or 0 for PUCT there."""
    target = _play(settings).target
    return _played(settings, replace(_play(settings), search=MctsSearch(considered=considered, sigma=target)))


def _with_queries(settings: TrainSettings) -> TrainSettings:
    """A position of every fourth search is searched by itself."""
    return _played(settings, replace(_play(settings), queries=0.25))


# What is left out, added or changed, by its name in tables; the first are parts of the recipe, the last are not.
VARIANTS: Final[dict[str, Change]] = {
    RECIPE: lambda settings: settings,
    "average policy as target": _own_policy,
    "targets from the prior as it is": _prior_as_it_is,
    "no Gumbel noise": lambda settings: _played(settings, replace(_play(settings), gumbel=0.0)),
    "no random openings": lambda settings: _played(settings, replace(_play(settings), openings=0)),
    "no games from random positions": lambda settings: _played(settings, replace(_play(settings), starts=0.0)),
    "outcomes only": lambda settings: replace(settings, acting=replace(_acting(settings), value_share=0.0)),
    "fixed window": lambda settings: replace(settings, window=None),
    "no average of weights": lambda settings: replace(settings, learner=replace(settings.learner, average=0.0)),
    "no symmetries": lambda settings: replace(settings, learner=replace(settings.learner, symmetries=False)),
    "playout caps": _with_caps,
    "simulations that grow": _growing,
    "rows weighed by surprise": lambda settings: replace(settings, acting=replace(_acting(settings), surprise=0.5)),
    "queries": _with_queries,
    "learning rate warmed up": lambda settings: replace(settings, learner=replace(settings.learner, warm_up=500)),
    "AlphaZero's search": partial(_mcts, 0),
    "AlphaZero's search, sequential halving": partial(_mcts, 16),
    "4 blocks x 32": lambda settings: replace(settings, shape=replace(settings.shape, depth=4, width=32)),
}


def changed(name: str) -> TrainSettings:
    """The recipe's settings with one thing changed."""
    recipe = settings_of(ConnectFour(), "demo")
    assert isinstance(recipe, TrainSettings)
    return VARIANTS[name](recipe)


def plan(options: Options, note: Note) -> list[Key]:
    """A run of each variant and seed, its mistakes, and its games against the recipe of the same seed."""
    minutes = options.minutes or (_QUICK if options.quick else MINUTES)
    seeds = options.seeds or (1 if options.quick else SEEDS)
    names = list(VARIANTS)[:2] if options.quick else list(VARIANTS)
    note(f"{len(names)} variants, {seeds} seeds, {minutes:g} minutes of one core each; runs are kept in {RUNS}")
    runs = [{**_said(name), "seed": seed, "minutes": minutes} for seed in range(seeds) for name in names]
    file = file_id(SHIPPED)
    few = {"positions": 4, "openings": 1, "simulations": 8}
    size = few if options.quick else {"positions": _POSITIONS, "openings": _OPENINGS, "simulations": 100}
    return [
        *({"what": TRAIN, **run} for run in runs),
        *({"what": MISTAKES, **run, "set": of, **size, "file": file} for run in runs for of in SETS),
        *({"what": MATCH, **run, **size, "recipe": _said(RECIPE)["made_of"]} for run in runs if _changes(run)),
    ]


def _said(name: str) -> Key:
    return {"variant": name, "made_of": hashlib.sha256(repr(changed(name)).encode()).hexdigest()[:12]}


def _changes(run: Key) -> bool:
    return bool(run["variant"] != RECIPE)


def compute(key: Key) -> Result:
    """A run trained, or measured."""
    if key["what"] == TRAIN:
        return _trained(key)
    return _mistakes(key) if key["what"] == MISTAKES else _match(key)


def _folder(key: Key, made_of: str | None = None) -> Path:
    """Where a run lies; another recipe, seed or length is another run."""
    return RUNS / f"{made_of or key['made_of']}-{key['seed']}-{key['minutes']:g}"


def _trained(key: Key) -> Result:
    settings = replace(changed(key["variant"]), rounds=2**30)
    run = Run(GAME, f"demo, {key['variant']}", key["seed"], 1)
    point = train(run, settings, _folder(key), Until(processor=key["minutes"]), resume=True)
    return {"rounds": point.round, "rows": point.rows, "steps": point.steps}


def _agent(folder: Path, simulations: int) -> Agent:
    checkpoint = folder / "checkpoint"
    return Agent(SOG, str(checkpoint), load_meta(checkpoint).network_id, simulations)


def _mistakes(key: Key) -> Result:
    """Of Student of Games' search, and of AlphaZero's with the same network."""
    found: Result = {}
    for algorithm in (SOG, ALPHAZERO):
        agent = _agent(_folder(key), key["simulations"])
        player = {"agent": algorithm, "checkpoint": agent.checkpoint, "network": agent.network}
        batch = {"simulations": key["simulations"], "set": key["set"], "first": 0, "last": key["positions"]}
        counts = connect_four_mistakes.compute({**player, **batch})
        found |= {f"{algorithm}_{name}": counts[name] for name in ("can_lose_value", "lose_value")}
    return found


def _match(key: Key) -> Result:
    first, second = (_agent(_folder(key, of), key["simulations"]) for of in (key["made_of"], key["recipe"]))
    (match,) = match_keys(GAME, [(first, second)], 1, key["openings"])
    return play_match({**match, "batch": key["seed"]})


def present(points: list[Point]) -> Outcome:
    """A row a variant: mistakes of both searches over all seeds, in all sets and each, and Elo against the recipe.

    The intervals are of the measuring alone, over positions and games. How much trainings differ is seen in
    `less_recipe`, a difference for each seed, beside how far the recipe's own seeds are apart.
    """
    names = list(dict.fromkeys(point.key["variant"] for point in points))
    ratings = _ratings(points, names)
    rows = list(_rows(points, names, ratings))
    beside = [
        Beside(
            row["variant"],
            "",
            f"{row['sog_share']:.1%} [{row['sog_low']:.1%}, {row['sog_high']:.1%}] of moves lose value "
            f"(MCTS {row['alphazero_share']:.1%}){_less_recipe(row)}; Elo {row['elo']:+.0f} ± {row['interval']:.0f}",
        )
        for row in rows
    ]
    beside += said_of(ratings)
    return Outcome(rows, {"connect-four-ablation": lambda figure: _draw(figure, rows)}, beside)


def _less_recipe(row: dict[str, Any]) -> str:
    """How much more often the variant's moves lose value than those of the recipe's runs of the same seeds."""
    if row["variant"] == RECIPE:
        return ""
    seeds = ", ".join(f"{100 * difference:+.1f}" for difference in row["less_recipe"])
    return f", {seeds} points from the recipe's by seed"


def _rows(points: list[Point], names: list[str], ratings: Ratings) -> Iterator[dict[str, Any]]:
    recipe = dict[int, float]()
    for k, name in enumerate(names):
        own = [point for point in points if point.key["variant"] == name]
        trained = [point.result for point in own if point.key["what"] == TRAIN]
        row = {"variant": name, "runs": len(trained), "rows": int(np.mean([run["rows"] for run in trained]))}
        measured = [point for point in own if point.key["what"] == MISTAKES]
        for algorithm in (SOG, ALPHAZERO):
            share, low, high = _share(measured, algorithm)
            row |= {f"{algorithm}_share": share, f"{algorithm}_low": low, f"{algorithm}_high": high}
        for of in SETS:
            row[of] = _share([point for point in measured if point.key["set"] == of], SOG)[0]
        by_seed = _share_by_seed(measured)
        recipe = by_seed if name == RECIPE else recipe
        row["by_seed"] = list(by_seed.values())
        row["less_recipe"] = [share - recipe[seed] for seed, share in by_seed.items() if seed in recipe]
        elo, half = ratings.difference(k, names.index(RECIPE))
        yield row | {"elo": elo, "interval": half}


def _share_by_seed(measured: list[Point]) -> dict[int, float]:
    """The share of Student of Games' mistakes in each seed's run."""
    seeds = dict.fromkeys(point.key["seed"] for point in measured)
    return {seed: _share([point for point in measured if point.key["seed"] == seed], SOG)[0] for seed in seeds}


def _share(points: list[Point], algorithm: str) -> tuple[float, float, float]:
    """The share of mistakes with its 95% interval."""
    count = sum(point.result[f"{algorithm}_can_lose_value"] for point in points)
    hits = sum(point.result[f"{algorithm}_lose_value"] for point in points)
    return hits / count if count else 0.0, *wilson(hits, count)


def _ratings(points: list[Point], names: list[str]) -> Ratings:
    """Elo of the variants by their games against the recipe."""
    met = [point for point in points if point.key["what"] == MATCH]
    return rate(points_of(names, [(p.key["variant"], RECIPE, *points_and_games(p.result)) for p in met]))


def _draw(figure: Figure, rows: list[dict[str, Any]]) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    names, places = [row["variant"] for row in rows], np.arange(len(rows))
    for offset, algorithm, label in ((-0.15, SOG, "GT-CFR"), (0.15, ALPHAZERO, "MCTS")):
        shares = np.array([row[f"{algorithm}_share"] for row in rows])
        ends = np.array([[row[f"{algorithm}_{end}"] for row in rows] for end in ("low", "high")])
        left.errorbar(100 * shares, places + offset, xerr=100 * np.abs(ends - shares), fmt="o", capsize=3, label=label)
    left.set(xlabel="moves that lose value, %", yticks=places, yticklabels=names, title="Connect four, 95% intervals")
    left.invert_yaxis()
    left.legend()
    elo, half = ([row[name] for row in rows] for name in ("elo", "interval"))
    right.errorbar(elo, places, xerr=half, fmt="o", capsize=3)
    right.axvline(0.0, color="grey", linewidth=0.8)
    right.set(xlabel="Elo over the recipe")
    for axis in (left, right):
        axis.grid(alpha=0.3)


def describe(key: Key) -> str:
    """What a point is, for progress."""
    return f"{key['what']} {key['variant']}, seed {key['seed']}"


def stage(key: Key) -> int:
    """Runs are trained before they are measured."""
    return _STAGES.index(key["what"])


STUDY: Final = Study(plan, compute, present, takes=("seeds", "minutes"), describe=describe, stage=stage)
