"""Connect four: what each technique of self-play is worth, left out or added one at a time, at equal processor time.

Every run is Student of Games' preset `demo` on one core, changed in one thing; then it is measured by the moves that
lose value in solved positions and by games against the unchanged recipe of the same seed. Runs are kept in RUNS and
resumed, so that a study can be stopped at any moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from sog.algorithms.alphazero.algorithm import ALPHAZERO
from sog.algorithms.base import SOG
from sog.algorithms.boards.actor import BoardActing
from sog.algorithms.boards.game import BoardPlay
from sog.algorithms.boards.searches import MctsSearch
from sog.algorithms.table import settings_of
from sog.games.boards.connect_four import ConnectFour
from sog.measure.elo import Ratings, by_units, points_of, rate
from sog.opponents.connect_four.positions import SETS, SHIPPED
from sog.training.checkpoint import load_meta
from sog.training.run import Run, Until
from sog.training.self_play import train
from sog.training.settings import LearnerSettings, TrainSettings
from soglab.checks import connect_four_mistakes
from soglab.checks.fixed_positions import file_id, share_line, share_of
from soglab.papers.elo_matches import RatedAgent, match_keys, notes_on, play_match, points_and_games, rating_text
from soglab.plots import Level, Line, Panel, Picture, Scale
from soglab.runs import made_of
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, by_key

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


def _acted(change: Callable[[BoardActing], BoardActing]) -> Change:
    """Rows are made in another way."""

    def changed_settings(settings: TrainSettings) -> TrainSettings:
        assert isinstance(settings.acting, BoardActing)
        return replace(settings, acting=change(settings.acting))

    return changed_settings


def _played(change: Callable[[BoardPlay], BoardPlay]) -> Change:
    """Games are played in another way."""
    return _acted(lambda acting: replace(acting, play=change(acting.play)))


def _learned(change: Callable[[LearnerSettings], LearnerSettings]) -> Change:
    """The learner is another."""
    return lambda settings: replace(settings, learner=change(settings.learner))


def _capped(play: BoardPlay) -> BoardPlay:
    """A quarter of the moves get as many simulations as leave the others half of the mean."""
    caps, cheap = play.caps, play.caps.simulations // 2
    more = 4 * caps.simulations - 3 * cheap
    return replace(play, caps=replace(caps, simulations=more, cheap=cheap, share=0.25))


def _growing(play: BoardPlay) -> BoardPlay:
    """Half of the simulations at first, all from round 200 on, which is about a third of a run of 20 minutes."""
    return replace(play, caps=replace(play.caps, begin_share=0.5, growing_rounds=200))


def _mcts(considered: int) -> Change:
    """AlphaZero's search, whose root considers this number of actions by sequential halving, or 0 for PUCT there."""
    return _played(lambda play: replace(play, search=MctsSearch(considered=considered, sigma=play.target)))


# What is left out, added or changed, by its name in tables; the first are parts of the recipe, the last are not.
VARIANTS: Final[dict[str, Change]] = {
    RECIPE: lambda settings: settings,
    "average policy as target": _played(lambda play: replace(play, target=replace(play.target, completed=False))),
    "targets from the prior as it is": _played(
        lambda play: replace(play, target=replace(play.target, target_temperature=1.0))
    ),
    "no Gumbel noise": _played(lambda play: replace(play, gumbel=0.0)),
    "no random openings": _played(lambda play: replace(play, openings=0)),
    "no games from random positions": _played(lambda play: replace(play, starts=0.0)),
    "outcomes only": _acted(lambda acting: replace(acting, value_share=0.0)),
    "fixed window": lambda settings: replace(settings, window=None),
    "no average of weights": _learned(lambda learner: replace(learner, average=0.0)),
    "no symmetries": _learned(lambda learner: replace(learner, symmetries=False)),
    "playout caps": _played(_capped),
    "simulations that grow": _played(_growing),
    "rows weighed by surprise": _acted(lambda acting: replace(acting, surprise=0.5)),
    "queries": _played(lambda play: replace(play, queries=0.25)),  # a position of every fourth search, by itself
    "learning rate warmed up": _learned(lambda learner: replace(learner, warm_up=500)),
    "AlphaZero's search": _mcts(0),
    "AlphaZero's search, sequential halving": _mcts(16),
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
    seeds = options.num_seeds(SEEDS)
    names = list(VARIANTS)[:2] if options.quick else list(VARIANTS)
    note(f"{len(names)} variants, {seeds} seeds, {minutes:g} minutes of one core each; runs are kept in {RUNS}")
    runs = [{**_variant(name), "seed": seed, "minutes": minutes} for seed in range(seeds) for name in names]
    file = file_id(SHIPPED)
    few = {"positions": 4, "openings": 1, "simulations": 8}
    size = few if options.quick else {"positions": _POSITIONS, "openings": _OPENINGS, "simulations": 100}
    return [
        *({"what": TRAIN, **run} for run in runs),
        *({"what": MISTAKES, **run, "set": of, **size, "file": file} for run in runs for of in SETS),
        *({"what": MATCH, **run, **size, "recipe": _variant(RECIPE)["made_of"]} for run in runs if _changes(run)),
    ]


def _variant(name: str) -> Key:
    return {"variant": name, "made_of": made_of(changed(name))}


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


def _agent(folder: Path, simulations: int) -> RatedAgent:
    checkpoint = folder / "checkpoint"
    return RatedAgent(SOG, str(checkpoint), load_meta(checkpoint).network_id, simulations)


def _mistakes(key: Key) -> Result:
    """Of Student of Games' search, and of AlphaZero's with the same network."""
    mistakes: Result = {}
    for algorithm in (SOG, ALPHAZERO):
        agent = _agent(_folder(key), key["simulations"])
        player = {"agent": algorithm, "checkpoint": agent.checkpoint, "network": agent.network}
        batch = {"simulations": key["simulations"], "set": key["set"], "first": 0, "last": key["positions"]}
        counts = connect_four_mistakes.compute({**player, **batch})
        mistakes |= {f"{algorithm}_{name}": counts[name] for name in ("can_lose_value", "lose_value")}
    return mistakes


def _match(key: Key) -> Result:
    first, second = (_agent(_folder(key, of), key["simulations"]) for of in (key["made_of"], key["recipe"]))
    (match,) = match_keys(GAME, [(first, second)], 1, key["openings"])
    return play_match({**match, "batch": key["seed"]})


def present(points: list[StudyPoint]) -> Outcome:
    """A row a variant: mistakes of both searches over all seeds, in all sets and each, and Elo against the recipe.

    The intervals are of the measuring alone, over positions and games. How much trainings differ is seen in
    `less_recipe`, a difference for each seed, beside how far the recipe's own seeds are apart.
    """
    names = list(dict.fromkeys(point.key["variant"] for point in points))
    ratings = _ratings(points, names)
    rows = list(_rows(points, names, ratings))
    beside = []
    for row in rows:
        share = f"{row['sog_share']:.1%} [{row['sog_low']:.1%}, {row['sog_high']:.1%}] of moves lose value"
        ours = f"{share} (MCTS {row['alphazero_share']:.1%}){_less_recipe(row)}; Elo {rating_text(row)}"
        beside.append(Beside(row["variant"], "", ours))
    picture = Picture(_panels(rows), same_y=True)
    return Outcome(rows, {"connect-four-ablation": picture}, [*beside, *notes_on(ratings)])


def _less_recipe(row: dict[str, Any]) -> str:
    """How much more often the variant's moves lose value than those of the recipe's runs of the same seeds."""
    if row["variant"] == RECIPE:
        return ""
    seeds = ", ".join(f"{100 * difference:+.1f}" for difference in row["less_recipe"])
    return f", {seeds} points from the recipe's by seed"


def _rows(points: list[StudyPoint], names: list[str], ratings: Ratings) -> Iterator[dict[str, Any]]:
    recipe = _share_by_seed([p for p in points if p.key["variant"] == RECIPE and p.key["what"] == MISTAKES])
    for k, name in enumerate(names):
        own = [point for point in points if point.key["variant"] == name]
        trained = [point.result for point in own if point.key["what"] == TRAIN]
        row = {"variant": name, "runs": len(trained), "rows": int(np.mean([run["rows"] for run in trained]))}
        measured = [point for point in own if point.key["what"] == MISTAKES]
        for algorithm in (SOG, ALPHAZERO):
            row |= _share(measured, algorithm)
        for of in SETS:
            row[of] = _share([point for point in measured if point.key["set"] == of])["sog_share"]
        by_seed = _share_by_seed(measured)
        row["by_seed"] = list(by_seed.values())
        row["less_recipe"] = [share - recipe[seed] for seed, share in by_seed.items() if seed in recipe]
        elo, half = ratings.difference(k, names.index(RECIPE))
        yield row | {"elo": elo, "interval": half}


def _share_by_seed(measured: list[StudyPoint]) -> dict[int, float]:
    """The share of Student of Games' mistakes in each seed's run."""
    return {seed: _share(own)["sog_share"] for (seed,), own in by_key(measured, "seed").items()}


def _share(points: list[StudyPoint], algorithm: str = SOG) -> dict[str, float]:
    """The mean share of an algorithm's mistakes over seeds with its 95% interval, as columns of a row.

    All seeds play the same positions, which count once: more seeds do not make the positions more.
    """
    seeds = max(1, len({point.key["seed"] for point in points}))
    columns = (f"{algorithm}_lose_value", f"{algorithm}_can_lose_value")
    hits, count = (sum(point.result[column] for point in points) / seeds for column in columns)
    return share_of(hits, count, f"{algorithm}_")


def _ratings(points: list[StudyPoint], names: list[str]) -> Ratings:
    """Elo of the variants by their games against the recipe, with intervals by seeds, whose games share networks."""
    met = [(p.key["variant"], *points_and_games(p.result)) for p in points if p.key["what"] == MATCH]
    recipe = names.index(RECIPE)
    units = [(names.index(name), recipe, score, games) for name, score, games in met]
    return by_units(rate(points_of(names, [(name, RECIPE, score, games) for name, score, games in met])), units)


def _panels(rows: list[dict[str, Any]]) -> list[Panel]:
    """Mistakes of both searches, and Elo over the recipe, a variant below the other."""
    places = range(len(rows))
    lines = []
    for offset, algorithm, label in ((-0.15, SOG, "GT-CFR"), (0.15, ALPHAZERO, "MCTS")):
        line = share_line(rows, places, label, {"fmt": "o"}, f"{algorithm}_")
        lines.append(replace(line, x=line.y, y=[place + offset for place in places], sideways=True))
    names = {"yticks": places, "yticklabels": [row["variant"] for row in rows], "ylim": (len(rows) - 0.5, -0.5)}
    elo, half = ([row[name] for row in rows] for name in ("elo", "interval"))
    zero = Level(0.0, None, {"color": "grey", "linewidth": 0.8}, upright=True)
    return [
        Panel(lines, Scale("moves that lose value, %"), title="Connect four, 95% intervals", axes=names),
        Panel([Line(elo, places, None, {"fmt": "o"}, half, sideways=True), zero], Scale("Elo over the recipe")),
    ]


def describe(key: Key) -> str:
    """What a point is, for progress."""
    return f"{key['what']} {key['variant']}, seed {key['seed']}"


def stage(key: Key) -> int:
    """Runs are trained before they are measured."""
    return _STAGES.index(key["what"])


EXPERIMENT: Final = Experiment(
    id="connect-four-ablation",
    paper="SoG",
    figure="Connect four, what each technique is worth",
    minutes=400,
    what="Self-play with one technique left out or added, --minutes 20 of one core a run: value-losing moves and Elo",
    study=Study(plan, compute, present, takes=("seeds", "minutes"), describe=describe, stage=stage),
)
