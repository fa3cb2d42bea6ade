"""SePoT's critic against exact values, in error and in play: what a search loses by it, and what by its own limits.

Of a run's last network every history's worth is computed, under its policy and each transformation. The critic's
errors are compared with how far these values spread: a critic that had learned nothing would be wrong by as much.
Then the same searches have leaves by the critic and exact ones, each with the opponent's choice among transformations
and with none.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from sog.algorithms.policy.agent import policy_exploitability
from sog.algorithms.policy.presets import PolicySettings
from sog.algorithms.sepot.agent import search_exploitability, search_of
from sog.algorithms.sepot.learner import transformations_of
from sog.algorithms.sepot.presets import SepotSettings
from sog.algorithms.sepot.transformations import Identity
from sog.algorithms.table import settings_of
from sog.arrays import Float64
from sog.measure.listed import listed
from sog.nets.cvpn import module_of
from sog.training.checkpoint import load_with_critic
from soglab.checks.exact_critic import ExactCritic
from soglab.papers.sepot_figures import NETWORK, NOBODY, search_of_key, way_of
from soglab.papers.sepot_runs import UNTRAINED, opened, quick_runs, search_effort, short_name, unit_of
from soglab.plots import Line, Panel, Picture, Scale, line_of
from soglab.runs import checkpoint_of
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped

ERROR, PLAY = "error", "play"
LEARNED, EXACT = "learned", "exact"
_RUNS: Final = tuple(Path(f"runs/sepot-{name}-0") for name in ("leduc", "goofspiel5"))
_SMALL: Final = "goofspiel(imp_info=True,num_cards=3,points_order=descending)"


def plan(options: Options, note: Note) -> list[Key]:
    """Errors, the network's own play, and eight searches of each run."""
    keys: list[Key] = []
    for run in quick_runs(options, _RUNS, (_SMALL,)):
        keys.append({"what": ERROR, **run})
        shallow, deeper = (0, 0) if run["game"] == "leduc_poker" else (1, 2)
        about = {"what": PLAY, **run, **search_effort(options)}
        keys.append({**about, "depth": NETWORK, "gadget": "", "leaves": ""})
        for depth, gadget in ((shallow, "critic"), (deeper, "previous")):
            for leaves in (LEARNED, EXACT):
                way = {"depth": depth, "gadget": gadget, "leaves": leaves}
                keys += [{**about, **way}, {**about, **way, "choosers": NOBODY}]
        note(f"{run['folder']}: {run['game']}")
    return keys


@lru_cache(maxsize=1)
def _exact(folder: str, game: str, network_id: str) -> ExactCritic:
    """The exact worth of all histories under a checkpoint's policy and transformations."""
    run = opened(folder, game, network_id)
    if folder == UNTRAINED:
        return ExactCritic(run.game, module_of(run.network), Identity(), np.zeros((1, 2), dtype=np.int64))
    saved = load_with_critic(checkpoint_of(Path(folder)))
    settings = settings_of(run.game, str(saved.meta.settings["preset"]), saved.meta.algorithm_text)
    assert isinstance(settings, PolicySettings) and isinstance(settings.learning, SepotSettings)
    made = transformations_of(settings.learning, run.network.shape, saved.critic)
    return ExactCritic(run.game, module_of(run.network), made, run.critic.pairs)


def compute(key: Key) -> Result:
    """Errors of the critic by turn, or exploitability in the game's unit."""
    exact = _exact(key["folder"], key["game"], key["network"])
    run = opened(key["folder"], key["game"], key["network"])
    if key["what"] == ERROR:
        learned = run.critic.under_profiles(exact.states)[:, : len(exact.profiles)]
        return {"turns": [_errors(exact, learned, turn) for turn in np.unique(exact.turns[exact.going]).tolist()]}
    return {"exploitability": _played(key, exact)}


def _errors(exact: ExactCritic, learned: Float64, turn: int) -> dict[str, Any]:
    """Root mean squares over the histories after `turn` actions, all alike and by the policy's reach.

    error: of what the policy itself is worth.  spread: of that about its mean.  change_error, change: of what a
    transformation makes of it, more or less than the policy itself.
    """
    here = exact.going & (exact.turns == turn)
    worth, estimates, reach = exact.worth[here], learned[here], exact.reach[here]
    row: dict[str, Any] = {"turn": turn, "histories": int(here.sum())}
    for name, weights in (("", np.full(len(reach), 1 / len(reach))), ("_by_reach", reach / reach.sum())):
        change, estimated_change = worth[:, 1:] - worth[:, :1], estimates[:, 1:] - estimates[:, :1]
        row[f"error{name}"] = _root(weights, (estimates - worth)[:, :1])
        row[f"spread{name}"] = _root(weights, worth[:, :1] - weights @ worth[:, :1])
        row[f"change_error{name}"] = _root(weights, estimated_change - change)
        row[f"change{name}"] = _root(weights, change)
    return row


def _root(weights: Float64, values: Float64) -> float:
    """The root of a weighted mean of squares; 0 of none."""
    return float(np.sqrt((weights @ values**2).mean())) if values.shape[1] else 0.0


def _played(key: Key, exact: ExactCritic) -> float:
    run, public = opened(key["folder"], key["game"], key["network"]), listed(key["game"])
    unit = public.game.unit.per_utility
    if key["depth"] == NETWORK:
        return unit * policy_exploitability(public, run.network)
    critic = exact if key["leaves"] == EXACT else run.critic
    search = search_of(run.game, run.network, critic, search_of_key(key, run.game))
    return unit * search_exploitability(public, search)


def present(points: list[StudyPoint]) -> Outcome:
    """A row for each run and turn, and for each way to play; errors are summed up over all turns, histories alike."""
    rows, beside = [], []
    for point in points:
        about = {name: point.key[name] for name in ("game", "folder", "network")}
        who = f"{short_name(point.key['game'])}, {Path(point.key['folder']).name}"
        if point.key["what"] == ERROR:
            turns = point.result["turns"]
            rows += [{"what": ERROR, **about, **turn} for turn in turns]
            for label, error, size in (
                ("a history's value by the policy", "error", "spread"),
                ("what a transformation changes in it", "change_error", "change"),
            ):
                alike = f"error {_over(turns, error):.3g}, of {_over(turns, size):.3g}"
                by_reach = f"{_over(turns, error + '_by_reach'):.3g} of {_over(turns, size + '_by_reach'):.3g}"
                beside.append(Beside(f"{who}: {label}", "", f"{alike}; by the policy's reach {by_reach} (utility)"))
            continue
        leaves = f", {point.key['leaves']} leaves" if point.key["leaves"] else ""
        line, value = f"{way_of(point.key)}{leaves}", point.result["exploitability"]
        rows.append({"what": PLAY, **about, "line": line, "exploitability": value})
        beside.append(Beside(f"{who}: {line}", "", f"exploitability {value:.4g} {unit_of(point.key['game'])}"))
    axes = (Scale("actions so far"), Scale("root mean square, utility"))
    panel = Panel(_lines(rows), *axes, "SePoT's critic, all histories alike", legend={"fontsize": 8})
    return Outcome(rows, {"sepot-critic": Picture([panel])}, beside)


def _over(turns: list[dict[str, Any]], name: str) -> float:
    """The root mean square over turns: of all histories alike, or by reach, of which every turn has 1 in all."""
    weights = [1 if name.endswith("_by_reach") else turn["histories"] for turn in turns]
    squares = [weight * turn[name] ** 2 for weight, turn in zip(weights, turns, strict=True)]
    return float(np.sqrt(sum(squares) / sum(weights)))


def _lines(rows: list[dict[str, Any]]) -> list[Line]:
    """Errors by turn, beside how far the values spread."""
    styles = {"error": "-", "spread": "--", "change_error": "-.", "change": ":"}
    runs = grouped((row for row in rows if row["what"] == ERROR), lambda row: (row["folder"], row["game"]))
    lines = []
    for k, ((_, game), own) in enumerate(runs.items()):
        for name, style in styles.items():
            label = f"{short_name(game)}: {name.replace('_', ', ')}"
            lines.append(line_of(own, "turn", name, label, {"color": f"C{k}", "linestyle": style}))
    return lines


def _describe(key: Key) -> str:
    label = "errors" if key["what"] == ERROR else f"{way_of(key)} {key['leaves']}"
    return f"{Path(key['folder']).name}, {label}".strip()


EXPERIMENT: Final = Experiment(
    id="sepot-critic",
    paper="SePoT",
    figure="(ours)",
    minutes=5,
    what="The critic's errors beside how far exact values spread, and searches with its leaves and with exact ones",
    study=Study(plan, compute, present, takes=("runs", "paper"), describe=_describe),
)
