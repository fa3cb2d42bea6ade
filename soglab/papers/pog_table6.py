"""PoG Table 6: the settings swept for A2C in self-play on Kuhn and Leduc, and how exploitable each ends.

Every value of the table for every other: 90 settings a game. The learner is OpenSpiel's, as for PoG Fig. 15.
"""

from __future__ import annotations

from itertools import product
from statistics import mean
from typing import Final

from sog.games.catalog import make_game
from sog.measure.intervals import mean_and_range
from sog.searches.tree.public_tree import PublicTree
from soglab.baselines.reinforcement import A2CSettings, SelfPlay
from soglab.papers.pog_fig15 import PAPER, curve, last_fifth
from soglab.plots import Line, Panel, Picture, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, by_key, grouped

GAMES: Final = ("kuhn_poker", "leduc_poker")
ACTOR_RATES: Final = (1e-3, 1e-4, 1e-5)
CRITIC_RATES: Final = (1e-2, 1e-3)
HIDDEN: Final = ((32,), (64,), (128,), (32, 32), (64, 64))
CRITIC_UPDATES: Final = (4, 8, 16)
_EPISODES: Final = 60_000
_MEASURES: Final = 10


def plan(options: Options, note: Note) -> list[Key]:
    """The whole grid on both games, seed after seed; --full: ten times the episodes; quick: four settings."""
    grid = list(product(ACTOR_RATES, CRITIC_RATES, HIDDEN, CRITIC_UPDATES))
    if options.quick:
        grid = list(product(ACTOR_RATES[:2], CRITIC_RATES, HIDDEN[:1], CRITIC_UPDATES[:1]))
    scale = 0.01 if options.quick else 10.0 if options.full else 1.0
    return [
        {
            "game": game,
            "hidden": list(hidden),
            "actor_rate": actor,
            "critic_rate": critic,
            "critic_updates": updates,
            "episodes": int(scale * _EPISODES),
            "seed": seed,
        }
        for seed in range(options.seeds or 1)
        for game in GAMES
        for actor, critic, hidden, updates in grid
    ]


def compute(key: Key) -> Result:
    """Exploitability in mbb/h of what the agents play together, before training and at ten even steps of it."""
    public = PublicTree(make_game(key["game"])).list_all()
    swept = A2CSettings(tuple(key["hidden"]), key["actor_rate"], key["critic_rate"], key["critic_updates"])
    return curve(SelfPlay(public, "a2c", key["seed"], a2c=swept), key["episodes"], _MEASURES)


def present(points: list[StudyPoint]) -> Outcome:
    """A line for each game: the setting whose last fifth of training is least exploitable, beside the paper's best."""
    rows = [{**p.key, "hidden": _layers(p.key), "mbb_per_hand": last_fifth(p.result)} for p in points]
    beside = []
    for (game,), own in by_key(points, "game").items():
        runs = grouped(own, lambda p: _label(p.key))
        by_label = {label: [last_fifth(p.result) for p in seeds] for label, seeds in runs.items()}
        best = min(by_label, key=lambda label: mean(by_label[label]))
        title = f"{game}, best of {len(by_label)} settings: {best}"
        beside.append(Beside(title, PAPER[game]["a2c"], f"{mean_and_range(by_label[best], '.0f')} mbb/h"))
    panels = [_panel(game, [p for p in points if p.key["game"] == game]) for game in GAMES]
    return Outcome(rows, {"pog-table6": Picture(panels, "A2C in self-play, every setting of Table 6")}, beside)


def _layers(key: Key) -> str:
    return "x".join(str(width) for width in key["hidden"])


def _label(key: Key) -> str:
    rates = f"rates {key['actor_rate']:g} and {key['critic_rate']:g}"
    return f"{rates}, {_layers(key)}, {key['critic_updates']} critic updates, {key['episodes']:,} episodes"


def _panel(game: str, runs: list[StudyPoint]) -> Panel:
    """The last fifth of every run over its actor's rate, a colour for each critic's rate."""
    marks = []
    for k, critic in enumerate(CRITIC_RATES):
        for marker, updates in zip("osv", CRITIC_UPDATES, strict=True):
            own = [p for p in runs if (p.key["critic_rate"], p.key["critic_updates"]) == (critic, updates)]
            rates = [p.key["actor_rate"] * (1.33 if k else 0.75) for p in own]
            style = {"color": f"C{k}", "marker": marker, "linestyle": ""}
            label = f"critic {critic:g}, {updates} updates"
            marks.append(Line(rates, [last_fifth(p.result) for p in own], label, style))
    log = (log_scale("actor's learning rate"), log_scale("exploitability, mbb/h"))
    return Panel(marks, *log, game, legend={"fontsize": "small"}, grid={"which": "both"})


EXPERIMENT: Final = Experiment(
    id="pog-table6",
    paper="PoG",
    figure="Table 6",
    minutes=35,
    what="Kuhn, Leduc: A2C in self-play with each of 90 settings of the paper's sweep (--full: ten times the episodes)",
    study=Study(plan, compute, present, takes=("full", "seeds")),
)
