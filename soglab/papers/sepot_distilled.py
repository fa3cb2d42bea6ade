"""SePoT's runs beside value networks by public states: what a critic is worth to GT-CFR and ReBeL once distilled.

Each run is measured in every way that serves what it holds. With a critic: its policy alone, SePoT's search, GT-CFR
with the critic itself at the leaves. A value network, distilled or learned by self-play: GT-CFR and ReBeL's search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from sog.algorithms.base import SOG
from sog.algorithms.distil.distil import DistilSettings, distil
from sog.algorithms.distil.teacher import CriticTeacher
from sog.algorithms.policy.agent import network_policy, policy_exploitability
from sog.algorithms.rebel.agent import RebelSettings
from sog.algorithms.rebel.playthroughs import mean_exploitability
from sog.algorithms.sepot.agent import papers_limit, search_exploitability
from sog.algorithms.sepot.search import SepotSearchSettings
from sog.algorithms.table import find, trained_by
from sog.errors import CheckpointError
from sog.measure.exploitability import exploitability
from sog.measure.intervals import mean_interval, plus_minus
from sog.measure.listed import listed
from sog.nets.inference import network_evaluator
from sog.nets.network import Network
from sog.nets.shape import shape_for
from sog.nets.values import value_evaluator
from sog.play.resolver import ResolveSettings
from sog.searches.depth_limited.settings import SolveSettings
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.training.checkpoint import load_network
from soglab.papers.sepot_runs import (
    DISTILLED,
    UNTRAINED,
    alpha_of,
    meta_of_run,
    minutes_of,
    opened,
    quick_runs,
    short_name,
    unit_of,
)
from soglab.runs import check_unchanged, checkpoint_of
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, by_key

BUDGET: Final = (100, 1.0)  # (s, c) of GT-CFR
UPDATES: Final = 1_024  # of one player in ReBeL's subgames
MOST: Final = 1_000_000  # histories: SePoT searches every public state
SEEDS: Final = 3  # of GT-CFR
_RUNS: Final = tuple(Path(f"runs/{name}-goofspiel5") for name in ("sepot", "distilled", "sog", "rebel"))


def _policy(key: Key, public: PublicTree) -> float:
    return policy_exploitability(public, _network(key["folder"], key["game"], key["network"]))


def _searched(key: Key, public: PublicTree) -> float:
    run = opened(key["folder"], key["game"], key["network"])
    settings = SepotSearchSettings(key["iterations"], papers_limit(run.game), MOST, "critic", key["alpha"])
    return search_exploitability(public, run.search(settings))


def _grown(key: Key, public: PublicTree, evaluator: Evaluator) -> float:
    """GT-CFR's exploitability with these leaves, in utilities."""
    settings = ResolveSettings(Budget(key["simulations"], BUDGET[1]))
    return exploitability(public, settings, evaluator, key["seed"])


def _grown_over_critic(key: Key, public: PublicTree) -> float:
    run = opened(key["folder"], key["game"], key["network"])
    return _grown(key, public, CriticTeacher(public, run.game, run.critic, network_policy(public, run.network)))


def _grown_over_network(key: Key, public: PublicTree) -> float:
    return _grown(key, public, network_evaluator(_network(key["folder"], key["game"], key["network"])))


def _rebel(key: Key, public: PublicTree) -> float:
    settings = RebelSettings(SolveSettings(updates=key["iterations"]))
    return mean_exploitability(public, settings, value_evaluator(_network(key["folder"], key["game"], key["network"])))


@dataclass(frozen=True)
class Way:
    """A way to play with what a run holds, and its exploitability in utilities.

    critic: whether it takes a critic; otherwise a value network.  drawn: whether seeds differ.
    iterations: of its solves, 0 where the budget says how long it searches.
    """

    title: str
    measure: Callable[[Key, PublicTree], float]
    critic: bool
    drawn: bool = False
    iterations: int = 0


WAYS: Final = {
    "policy": Way("the policy alone", _policy, critic=True),
    "sepot": Way("SePoT's search", _searched, critic=True, iterations=SepotSearchSettings().iterations),
    "critic": Way("GT-CFR over the critic itself", _grown_over_critic, critic=True, drawn=True),
    "gtcfr": Way("GT-CFR", _grown_over_network, critic=False, drawn=True),
    "rebel": Way("ReBeL's search, mean policy", _rebel, critic=False, iterations=UPDATES),
}


@lru_cache(maxsize=2)
def _network(folder: str, game: str, network_id: str) -> Network:
    """The network of a run; for the untrained one a value network distilled from it in a few steps."""
    if not folder.startswith(UNTRAINED):
        check_unchanged(checkpoint_of(Path(folder)), network_id)
        return load_network(checkpoint_of(Path(folder)), game)[1]
    return opened(UNTRAINED, game).network if folder == UNTRAINED else _quickly_distilled(game)


def _quickly_distilled(game: str) -> Network:
    run, public = opened(UNTRAINED, game), listed(game)
    teacher = CriticTeacher(public, run.game, run.critic, network_policy(public, run.network))
    return distil(teacher, DistilSettings(shape_for(public.game, 16, 1), steps=3, window=500)).network


def plan(options: Options, note: Note) -> list[Key]:
    """Every run in every way that serves it, GT-CFR with several seeds."""
    keys: list[Key] = []
    for run in quick_runs(options, _RUNS, ("kuhn_poker",), critics=False):
        networks = _untrained() if run["folder"] == UNTRAINED else [_about(Path(run["folder"]))]
        for critic, about in networks:
            note(f"{about['folder']}: {about['by']}, {run['game']}")
            whole = {"game": run["game"], **about, "alpha": alpha_of(options)}
            for name, way in WAYS.items():
                seeds = options.num_seeds(SEEDS) if way.drawn else 1
                if way.critic == critic:
                    sizes = {"simulations": 5, "iterations": 20} if options.quick else _sizes(way)
                    keys += [{**whole, **sizes, "way": name, "seed": seed} for seed in range(seeds)]
    return keys


def _sizes(way: Way) -> Key:
    return {"simulations": BUDGET[0], "iterations": way.iterations}


def _about(folder: Path) -> tuple[bool, Key]:
    """Whether a run has a critic, and what of it decides a point.  minutes: of training, in all.

    CheckpointError for a policy network without a critic, which nothing here can search with.
    """
    meta = meta_of_run(folder)
    entry, before = trained_by(meta), meta.settings.get(DISTILLED)
    if entry.alone and "critic" not in meta.files:
        raise CheckpointError(f"{folder} holds a policy network by {entry.name} without a critic; train by sepot")
    by = f"distilled from {find(before['algorithm']).title} ({before['values']})" if before else entry.title
    return "critic" in meta.files, {
        "folder": str(folder),
        "by": by,
        "network": meta.network_id,
        "step": meta.step,
        "minutes": minutes_of(meta),
    }


def _untrained() -> list[tuple[bool, Key]]:
    """An untrained run with a critic, and what is distilled from it in a few steps."""
    rest = {"network": "", "step": 0, "minutes": 0.0}
    one: Key = {"folder": UNTRAINED, "by": "untrained", **rest}
    return [(True, one), (False, {"folder": f"{UNTRAINED}-{DISTILLED}", "by": "distilled from untrained", **rest})]


def compute(key: Key) -> Result:
    """Exploitability in the game's unit."""
    public = listed(key["game"])
    return {"exploitability": WAYS[key["way"]].measure(key, public) * public.game.unit.per_utility}


def present(points: list[StudyPoint]) -> Outcome:
    """A row for each run's kind and way; distilled networks beside those by self-play.

    Intervals are over runs, each of them the mean over its search's seeds; of one run alone over those seeds.
    """
    rows: list[dict[str, Any]] = []
    beside = []
    for (game, by, way), group in by_key(points, "game", "by", "way").items():
        runs = [[p.result["exploitability"] for p in own] for own in by_key(group, "folder").values()]
        several = len(runs) > 1
        mean, half = mean_interval([sum(values) / len(values) for values in runs] if several else runs[0])
        over = f"{len(runs)} runs" if several else f"1 run, {len(group)} seed{'s' * (len(group) > 1)}"
        minutes = sum(point.key["minutes"] for point in group) / len(group)
        budget = f" ({group[0].key['simulations']},{BUDGET[1]:g})" if WAYS[way].drawn else ""
        label = f"{short_name(game)}: {by}, {minutes:.1f} min in all: {WAYS[way].title}{budget}, {over}"
        row = {"game": game, "by": by, "way": way, "mean": mean, "interval": half, "over": over}
        rows.append({**row, "unit": unit_of(game), "minutes": minutes})
        beside.append(Beside(label, "", f"{plus_minus(mean, half)} {unit_of(game)}"))
    return Outcome(rows, {}, [*beside, *_ratios(rows)])


def _ratios(rows: list[dict[str, Any]]) -> list[Beside]:
    """Distilled networks under GT-CFR over Student of Games' own of the same game."""
    grown = [row for row in rows if row["way"] == "gtcfr"]
    own = {row["game"]: row["mean"] for row in grown if row["by"] == find(SOG).title}
    return [
        Beside(f"{short_name(row['game'])}: GT-CFR, {row['by']} / {find(SOG).title}", "", f"{ratio:.2f} times")
        for row in grown
        if row["by"].startswith(DISTILLED) and own.get(row["game"])
        for ratio in (row["mean"] / own[row["game"]],)
    ]


def _describe(key: Key) -> str:
    return f"{key['by']}: {WAYS[key['way']].title}, seed {key['seed']}"


EXPERIMENT: Final = Experiment(
    id="sepot-distilled",
    paper="SePoT",
    figure="(ours)",
    minutes=20,
    what="Runs of one game by --run, or runs/*-goofspiel5: "
    "policy, SePoT's search, GT-CFR and ReBeL over value networks",
    study=Study(plan, compute, present, takes=("runs", "seeds"), describe=_describe),
)
