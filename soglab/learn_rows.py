"""A network learned from the replay windows of finished runs, and its losses on rows that it was not taught.

    python -m soglab.learn_rows RUN ... [--steps 7000] [--held 36000] [--algorithm 'sog(network=1x64)'] [--out OUT]

What a network's inputs, size and losses are worth shows in minutes this way, without self-play. The network is that of
today's preset; the newest rows of the first run are held out. With --out, `sog train --from OUT` trains it on.
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch

from sog.algorithms.base import SOG
from sog.algorithms.table import settings_of
from sog.arrays import Array, Float64, Int64
from sog.cli.frame import progress_bar
from sog.errors import CheckpointError, SettingError
from sog.files import shown
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.one_core import one_core
from sog.nets.shape import NetworkShape
from sog.training import checkpoint
from sog.training.curve import TrainingRecord
from sog.training.learner import Learner, losses
from sog.training.packing import unpack
from sog.training.replay import ReplayWindow
from sog.training.rows import Rows
from sog.training.run import Run, describe
from sog.training.settings import LearnerSettings, TrainSettings, preset_of
from sog.training.shipped import find_checkpoint

__all__ = ["HeldOut", "held_out_losses", "learn_rows"]

_BLOCKS: Final = 12  # of neighbouring held-out rows, which share games
_ROWS: Final = 256  # drawn from a block
_HALVINGS: Final = 5.0  # of the learning rate in all
_EVERY: Final = 2**40  # rows: as many as there are


@dataclass(frozen=True)
class HeldOut:
    """Losses on held-out rows, means and standard errors over blocks of them.

    values: Huber loss of each player's trained values.  policies: KL divergence of each player's policies, the mean
    over infostates.  Pairs of (mean, standard error); NaN where a player has none.
    """

    values: tuple[tuple[float, float], tuple[float, float]]
    policies: tuple[tuple[float, float], tuple[float, float]]


def learn_rows(
    windows: Sequence[ReplayWindow], learner: Learner, held: int, steps: int, rng: np.random.Generator
) -> Iterator[int]:
    """Take `steps` steps, each on a batch of one window, in turn; yields the steps taken.

    held: the newest rows of the first window, which are left out.
    """
    first, batch = windows[0], learner.settings.batch
    if not _BLOCKS <= held < len(first):
        raise SettingError(f"between {_BLOCKS} and {len(first) - 1} rows are held out, not {held}")
    for step in range(steps):
        window = windows[step % len(windows)]
        last = window.added - (held if window is first else 0)
        numbers = rng.integers(window.added - len(window), last, size=batch)
        learner.step(_read(window, numbers))
        yield step + 1


def held_out_losses(network: CVPN, window: ReplayWindow, held: int, rng: np.random.Generator) -> HeldOut:
    """The losses on the newest `held` rows of a window, by player."""
    edges = np.linspace(window.added - held, window.added, _BLOCKS + 1).astype(np.int64)
    by_block = []
    for low, high in itertools.pairwise(edges):
        rows = _read(window, np.sort(rng.integers(low, high, size=_ROWS)))
        by_block.append([loss for player in (0, 1) for loss in _losses_of(network, rows, player)])
    pairs = [_mean(column[np.isfinite(column)]) for column in np.array(by_block).T]
    return HeldOut((pairs[0], pairs[2]), (pairs[1], pairs[3]))


def _mean(losses: Float64) -> tuple[float, float]:
    """The mean and its standard error; NaN without losses."""
    if not len(losses):
        return np.nan, np.nan
    return float(losses.mean()), float(losses.std(ddof=1) / np.sqrt(len(losses))) if len(losses) > 1 else np.nan


def _losses_of(network: CVPN, rows: Rows, player: int) -> tuple[float, float]:
    """The value loss and the policy loss of one player's slots; NaN where the rows have none."""
    slots = network.shape.slots
    own: Array = np.repeat([player == 0, player == 1], slots)
    # A board's one policy is whoever's turn it is, so that both have its loss.
    policies = own if rows.policy_mask.shape[1] == len(own) else True
    masked = replace(rows, value_mask=rows.value_mask * own, policy_mask=rows.policy_mask * policies)
    with torch.inference_mode():
        value, policy, _ = losses(network, masked, LearnerSettings())
    return (
        float(value) if masked.value_mask.any() else np.nan,
        float(policy) if masked.policy_mask.any() else np.nan,
    )


def _read(window: ReplayWindow, numbers: Int64) -> Rows:
    return unpack(window.shape, window.read(numbers))


def _window(folder: Path, shape: NetworkShape) -> ReplayWindow:
    """A run's window; CheckpointError where its rows are not for a network of this shape."""
    rows_shape = checkpoint.load_meta(folder).shape
    if replace(rows_shape, width=shape.width, depth=shape.depth) != shape:
        raise CheckpointError(f"{shown(folder)}: its rows are not for a network of today's preset")
    window = ReplayWindow(shape, _EVERY, folder)
    window.restore(checkpoint.load_state(folder)["replay"])
    return window


def _schedule(settings: LearnerSettings, steps: int) -> LearnerSettings:
    return replace(settings, decay=0.5, decay_steps=max(1, round(steps / _HALVINGS)))


def _settings(folder: Path, algorithm: str) -> tuple[Run, TrainSettings]:
    """The run that the new network counts as, and today's settings of it."""
    meta = checkpoint.load_meta(folder)
    run = Run(meta.game, preset_of(meta.settings), algorithm=algorithm)
    settings = settings_of(make_game(meta.game), run.preset, algorithm)
    if not isinstance(settings, TrainSettings):
        raise SettingError(f"{algorithm} learns from no replay window")
    return run, settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run's folder, whose checkpoint has its window")
    parser.add_argument("--steps", type=int, default=7_000)
    parser.add_argument("--held", type=int, default=36_000, help="the newest rows of the first run, left out")
    parser.add_argument("--algorithm", default=SOG, help="settings of the network and of its losses")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a new folder for the network")
    args = parser.parse_args()
    if args.out is not None and os.path.lexists(args.out):
        raise CheckpointError(f"{args.out} is there already")
    folders = [find_checkpoint(name) for name in args.runs]
    run, settings = _settings(folders[0], args.algorithm)
    windows, rng = [_window(folder, settings.shape) for folder in folders], np.random.default_rng(args.seed)
    learner = Learner(CVPN(settings.shape, args.seed), _schedule(settings.learner, args.steps))
    with one_core(), progress_bar("learning rows", args.steps, "steps") as report:
        for step in learn_rows(windows, learner, args.held, args.steps, rng):
            report(step, "")
        held_out = held_out_losses(learner.averaged, windows[0], args.held, rng)
    for name, pairs in (("value loss", held_out.values), ("policy loss", held_out.policies)):
        print(f"{name}: " + ", ".join(f"player {p} {mean:.4f} +- {error:.4f}" for p, (mean, error) in enumerate(pairs)))
    if args.out is not None:
        says = describe(run, settings, TrainingRecord())
        checkpoint.save(args.out, learner.averaged, run.game, run.name, learner.steps, says)
        print(f"the network is in {args.out}: sog train '{run.game}' --from {args.out}")


if __name__ == "__main__":
    main()
