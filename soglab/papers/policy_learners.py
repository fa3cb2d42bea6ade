"""Policy learners beside each other: exploitability over minutes of training, of the network and of search on top.

Each learner trains under SePoT on three games, some seeds each, for equal minutes of a processor; the networks that
ship for these games are compared with them. Runs that are named are measured instead: those of SePoT have both lines,
those of other algorithms a measure of their own. Runs of one game and one learner are seeds of one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sog.algorithms.policy.presets import PolicySettings
from sog.algorithms.sepot.algorithm import SEPOT
from sog.algorithms.sepot.learner import train_sepot
from sog.algorithms.sepot.presets import POLICIES
from sog.algorithms.table import find, settings_of
from sog.errors import SettingError
from sog.games.catalog import make_history_game
from sog.measure.intervals import mean_interval, plus_minus
from sog.training.checkpoint import Meta, load_meta
from sog.training.run import Run, Until
from sog.training.shipped_folders import shipped_checkpoints
from soglab.papers import sepot_figures
from soglab.papers.sepot_figures import OWN, SNAPSHOTS, network_and_searches, way_of
from soglab.papers.sepot_runs import minutes_of, own_measure, own_title, search_effort, short_name, unit_of
from soglab.plots import DOTS, OUTSIDE, Line, Panel, Picture, Scale, line_of, log_scale
from soglab.runs import check_unchanged, made_of, networks_of, spread
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped

RUNS: Final = Path("runs/policy-learners")
GAMES: Final = (
    "leduc_poker",
    "goofspiel(imp_info=True,num_cards=5,points_order=descending)",
    "liars_dice(numdice=1,dice_sides=4)",
)
MINUTES: Final = 30.0
SEEDS: Final = 3
TRAIN, SHIPPED, NAMED = "train", "shipped", "named"  # what a point is about
_QUICK: Final = 0.02  # minutes
_STYLES: Final = ("-", ":", "--", "-.")
_QUICK_GAMES: Final = ("kuhn_poker",)


def plan(options: Options, note: Note) -> list[Key]:
    """The runs that are named; without any, a run of each learner on each game by seed, and what ships."""
    if options.runs:
        if options.seeds is not None or options.minutes is not None:
            raise SettingError("runs that are named are trained already: leave out --seeds and --minutes")
        return [{"what": NAMED, **key} for key in sepot_figures.plan(network_and_searches, options, note)]
    minutes = options.minutes or (_QUICK if options.quick else MINUTES)
    games, seeds = _QUICK_GAMES if options.quick else GAMES, options.num_seeds(SEEDS)
    note(f"{len(games) * len(POLICIES)} runs by {seeds} seeds, {minutes:g} minutes of one core; they are in {RUNS}")
    return [
        *(
            {"what": TRAIN, "game": game, "policy": policy, "made_of": made_of(_settings(game, policy)), "seed": seed}
            | {"minutes": minutes, **search_effort(options)}
            for seed in range(seeds)
            for game in games
            for policy in POLICIES
        ),
        *_shipped(games),
    ]


def _settings(game: str, policy: str) -> PolicySettings:
    """SePoT's preset `full` with this learner of the policy."""
    settings = settings_of(make_history_game(game), "full", _algorithm(policy))
    assert isinstance(settings, PolicySettings)
    return settings


def _algorithm(policy: str) -> str:
    """SePoT with this learner of the policy, as an algorithm string."""
    return f"{SEPOT}(policy={policy})" if policy else SEPOT


def _shipped(games: tuple[str, ...]) -> Iterator[Key]:
    """The networks of other algorithms that come with the package, where they can be measured."""
    for folder in shipped_checkpoints():
        meta = load_meta(folder)
        if meta.game in games:
            about = {"game": meta.game, "checkpoint": folder.name, "network": meta.network_id, "step": meta.step}
            yield {"what": SHIPPED, **about, "by": own_title(meta), "minutes": minutes_of(meta)}


def compute(key: Key) -> Result:
    """Exploitability in the game's unit; of a run that is trained here, that of its networks in order."""
    if key["what"] == TRAIN:
        return {"networks": _trained(key)}
    if key["what"] == NAMED:
        return sepot_figures.compute(key)
    (folder,) = (folder for folder in shipped_checkpoints() if folder.name == key["checkpoint"])
    check_unchanged(folder, key["network"])
    return {"exploitability": own_measure(folder)}


def _trained(key: Key) -> list[Result]:
    """Train a run, or continue one that was stopped, and measure up to SNAPSHOTS of its networks."""
    game, policy, minutes = key["game"], key["policy"], key["minutes"]
    settings = replace(_settings(game, policy), rounds=2**30)
    folder = RUNS / f"{key['made_of']}-{key['seed']}-{minutes:g}"
    run = Run(game, "full", key["seed"], 1, _algorithm(policy))
    train_sepot(run, settings, folder, Until(processor=minutes), resume=True)
    return [_measured(one.folder, one.meta, key) for one in spread(networks_of(folder), SNAPSHOTS)]


def _measured(folder: Path, meta: Meta, key: Key) -> Result:
    """A network's exploitability alone and under each search, and how many public states were searched."""
    about = {**key, "folder": str(folder), "network": meta.network_id}
    ways = [way | sepot_figures.compute({**about, **way}) for way in network_and_searches(key["game"], False)]
    return {"step": meta.step, "minutes": round(meta.settings["processor_minutes"], 2), "ways": ways}


def _rows(point: StudyPoint) -> Iterator[dict[str, Any]]:
    """A row for every network of a point and every way in which it was measured."""
    key, result = point.key, point.result
    about = {"game": key["game"], "unit": unit_of(key["game"])}
    if key["what"] == TRAIN:
        for network in result["networks"]:
            made = {"run": f"seed {key['seed']}", "minutes": network["minutes"], "steps": network["step"]}
            for way in network["ways"]:
                line = f"{find(key['policy']).title}: {way_of(way)}"
                yield {**about, "line": line, **made, "exploitability": way["exploitability"]}
        return
    run = key["checkpoint"] if key["what"] == SHIPPED else str(key["run"])  # two runs' last parts may be the same
    made = {"run": run, "minutes": key["minutes"], "steps": key["step"]}
    yield {**about, "line": _line(key), **made, "exploitability": result["exploitability"]}


def _line(key: Key) -> str:
    """The learner, and the search that uses its policy, if one does."""
    if key["what"] == SHIPPED or key["depth"] == OWN:
        return str(key["by"])
    title = find(key["policy"]).title if key["policy"] else "R-NaD as in SePoT's Table 2"
    return f"{title}: {way_of(key)}"


def present(points: list[StudyPoint]) -> Outcome:
    """A row for every network of every run; printed is each run's last, as a mean over the runs of a line."""
    rows = [row for point in points for row in _rows(point)]
    beside = []
    for (game, line), own in grouped(rows, lambda row: (row["game"], row["line"])).items():
        last = [_last(run) for run in grouped(own, lambda row: str(row["run"])).values()]
        mean, half = mean_interval([row["exploitability"] for row in last])
        minutes = sum(row["minutes"] for row in last) / len(last)
        counted = f"{len(last)} run{'s' * (len(last) > 1)} of {minutes:.1f} minutes"
        beside.append(Beside(f"{short_name(game)}: {line}, {counted}", "", f"{plus_minus(mean, half)} {unit_of(game)}"))
    pictures = {
        f"policy-learners-{k}-{short_name(game)}": Picture([_panel(own)])
        for k, (game, own) in enumerate(grouped(rows, lambda row: str(row["game"])).items())
    }
    return Outcome(rows, pictures, beside)


def _last(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The row of a run's last network, the later row of one that was measured twice."""
    return max(reversed(rows), key=lambda row: int(row["steps"]))


def _panel(rows: list[dict[str, Any]]) -> Panel:
    """Exploitability over minutes of each run: a colour for each learner, a style for each search."""
    lines: list[Line] = []
    colours, ways = (list(dict.fromkeys(part(row["line"]) for row in rows)) for part in (_by, _way))
    for line, own in grouped(rows, lambda row: str(row["line"])).items():
        colour, style = f"C{colours.index(_by(line)) % 10}", _STYLES[ways.index(_way(line)) % len(_STYLES)]
        for j, run in enumerate(grouped(own, lambda row: str(row["run"])).values()):
            curve = sorted(run, key=lambda row: (row["minutes"], row["exploitability"]))
            look = {**DOTS, "color": colour, "linestyle": style}
            lines.append(line_of(curve, "minutes", "exploitability", None if j else line, look))
    axes = (Scale("minutes of training"), log_scale(f"exploitability, {rows[0]['unit']}"))
    return Panel(lines, *axes, rows[0]["game"], legend=OUTSIDE)


def _by(line: str) -> str:
    """The learner alone."""
    return line.split(":")[0]


def _way(line: str) -> str:
    """The search alone."""
    return line.partition(": ")[2]


def _describe(key: Key) -> str:
    if key["what"] == TRAIN:
        return f"{find(key['policy']).title} on {key['game']}, seed {key['seed']}"
    name = key["checkpoint"] if key["what"] == SHIPPED else Path(key["run"]).name
    return f"{name} after {key['minutes']:.1f} minutes, {_line(key)}"


EXPERIMENT: Final = Experiment(
    id="policy-learners",
    paper="SePoT",
    figure="(ours)",
    minutes=450,
    what="R-NaD, MMD, NashPG with and without search on three games, --minutes 30 of one core a run, 3 seeds, or --run",
    study=Study(plan, compute, present, takes=("seeds", "runs", "paper", "minutes"), describe=_describe),
)
