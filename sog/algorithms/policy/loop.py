"""The training loop of policy learners: play, learn, keep; checkpoints as every algorithm's.

Actor and learner take turns in one process, since both need the newest network. Each learner step's games have a
generator of their own, (seed, step), so that a run that was stopped anywhere and resumed is the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from sog.algorithms.policy.learners import PolicyLearner, Update
from sog.algorithms.policy.ppo import PpoLearner
from sog.algorithms.policy.presets import PolicySettings
from sog.algorithms.policy.rnad import RnadLearner
from sog.algorithms.policy.settings import LearnsPolicy, PpoSettings, RnadSettings
from sog.algorithms.policy.trajectories import sample
from sog.arrays import Array
from sog.errors import CheckpointError, SettingError
from sog.files import shown
from sog.games.catalog import make_history_game
from sog.games.checks.own import check_own
from sog.games.histories.base import HistoryGame
from sog.nets.cvpn import CVPN
from sog.nets.network import refuse_broken
from sog.nets.one_core import one_core
from sog.nets.serialized import network_bytes
from sog.training import checkpoint
from sog.training.curve import Point, TrainingRecord, read_record
from sog.training.lock import held
from sog.training.loop import RoundWatch, play_rounds
from sog.training.run import DAMAGE, Hooks, Run, Until, describe, is_to_resume

__all__ = ["play_and_learn", "policy_learner", "train_policy"]

# The learner of a network, by its settings.  The seed is of minibatches, and of a critic's first weights.
MakeLearner: TypeAlias = Callable[[LearnsPolicy, CVPN, int], PolicyLearner]


def policy_learner(settings: LearnsPolicy, network: CVPN, seed: int) -> PolicyLearner:
    """By R-NaD or PPO."""
    if isinstance(settings, RnadSettings):
        return RnadLearner(network, settings, seed)
    assert isinstance(settings, PpoSettings)
    return PpoLearner(network, settings, seed)


def train_policy(
    run: Run,
    settings: PolicySettings,
    out: Path,
    until: Until | None = None,
    resume: bool = False,
    hooks: Hooks | None = None,
    device: str = "cpu",
    make: MakeLearner = policy_learner,
) -> Point:
    """Train in folder `out` until the run is over; returns the last point. Files, errors: `sog.training.self_play`.

    A user-defined game is checked before, in both of its forms where it has two.

    Raises SettingError for more than one worker or another device than the CPU: small networks gain nothing there, and
    CheckpointError where the learning diverges, with what was kept before it did in `out`.
    """
    if run.workers != 1 or device != "cpu":
        raise SettingError(f"{run.algorithm} learns in one process, on the CPU: leave out --device and --workers")
    check_own(make_history_game(run.game))
    until, hooks = until or Until(), hooks or Hooks()
    with held(out, hooks.note), one_core():
        rounds = _begin(run, settings, make, out, resume, hooks)
        return play_rounds(rounds, out, until.total(settings), until, hooks)


@dataclass
class PolicyRounds:
    """A run as `play_rounds` sees it.  decisions: seen so far.  losses: of each step of the current round."""

    run: Run
    settings: PolicySettings
    game: HistoryGame
    learner: PolicyLearner
    record: TrainingRecord
    decisions: int = 0
    losses: list[tuple[float, float]] = field(default_factory=list)

    @property
    def network(self) -> CVPN:
        return self.learner.best

    def play_round(self, watch: RoundWatch) -> Point | None:
        """The learner steps of one round, each on games of its own; a round that is ended continues with the rest."""
        own, losses = self.settings, self.losses

        def note(update: Update) -> None:
            losses.append((update.value_loss, update.policy_loss))
            self.decisions += len(update.played)

        while len(losses) < own.steps:
            play_and_learn(self.game, self.learner, own.games, 1, self.run.seed, note)
            # Before anything is kept: what was saved before the learning diverged stays.
            refuse_broken(self.learner.network)
            if watch.pause() and len(losses) < own.steps:
                return None
        value, policy = np.mean(losses, axis=0).tolist()
        self.losses = []
        return Point(
            round=self.record.round + 1,
            steps=self.learner.steps,
            rows=self.decisions,
            games=own.games * own.steps,
            value_loss=value,
            policy_loss=policy,
        )

    def keep(self, folder: Path, whole: bool) -> bool:
        """Also the critic, where there is one."""
        run, learner = self.run, self.learner
        description = describe(run, self.settings, self.record)
        state: dict[str, Any] | None = None
        if whole:
            counts = {"decisions": self.decisions, "losses": self.losses}
            state = {"learner": learner.state(), **counts, **self.record.state()}
        critic = learner.critic_arrays()
        checkpoint.save(folder, learner.best, run.game, run.name, learner.steps, description, state, critic)
        return True

    def finish(self, folder: Path) -> None:
        self.keep(folder, True)


def play_and_learn(
    game: HistoryGame,
    learner: PolicyLearner,
    games: int,
    steps: int,
    seed: int,
    after: Callable[[Update], None] = lambda update: None,
) -> None:
    """`steps` learner steps, each on `games` games that its network plays; `after` gets each of them in turn."""
    for _ in range(steps):
        played = sample(game, learner.network, games, np.random.default_rng((seed, learner.steps)))
        after(learner.learn(played))


def _begin(
    run: Run, settings: PolicySettings, make: MakeLearner, out: Path, resume: bool, hooks: Hooks
) -> PolicyRounds:
    """A fresh run, or the one in `out` where it stopped; no network is made before the name of the run is compared."""
    if run.begins:
        raise SettingError("policy learners begin with a network of their own, not with a checkpoint's")
    going_on = is_to_resume(run, settings, out, resume, hooks.note)
    learner = make(settings.learning, CVPN(settings.shape, run.seed), run.seed)
    rounds = PolicyRounds(run, settings, make_history_game(run.game), learner, TrainingRecord())
    if going_on:
        _restore(rounds, out / "checkpoint")
    return rounds


def _restore(rounds: PolicyRounds, folder: Path) -> None:
    """Take up what was kept whole; CheckpointError where the networks are not those that the state makes."""
    _, network, meta = checkpoint.load_network(folder, rounds.run.game)
    state, learner = checkpoint.load_state(folder), rounds.learner
    try:
        learner.restore(state["learner"])
        rounds.record, rounds.decisions = read_record(state), int(state["decisions"])
        rounds.losses = [(float(value), float(policy)) for value, policy in state["losses"]]
        if not 0 <= rounds.decisions < 2**62:
            raise ValueError("decisions")
    except DAMAGE as error:
        raise CheckpointError(f"{shown(folder)}: the training state is damaged") from error
    # State and network come from two files: they must be of one save.
    same = learner.steps == meta.step and network_bytes(learner.best) == network_bytes(network)
    critic_arrays = checkpoint.load_critic(folder) if "critic" in meta.files else None
    if not (same and _equal(learner.critic_arrays(), critic_arrays)):
        raise CheckpointError(f"{shown(folder)}: the training state is another network's")


def _equal(one: dict[str, Array] | None, two: dict[str, Array] | None) -> bool:
    if one is None or two is None:
        return one is two
    return set(one) == set(two) and all(np.array_equal(one[name], two[name]) for name in one)
