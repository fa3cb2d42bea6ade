"""A network learns the rows of a finished run's window, and its losses on rows left out are printed by player."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import sog
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.training import checkpoint
from sog.training.learner import Learner
from sog.training.packing import pack
from sog.training.replay import ReplayWindow
from sog.training.rows import Rows, blank_rows
from sog.training.settings import LearnerSettings
from soglab import learn_rows as module
from soglab.learn_rows import held_out_losses, learn_rows

SHAPE = shape_for(make_game("kuhn_poker"), 16, 1)


def rows(count: int, player: int | None = None) -> Rows:
    """Rows whose values are half of the first feature; of one player's slots alone, or of both."""
    blank, rng = blank_rows(SHAPE, count), np.random.default_rng(1)
    blank.inputs[:] = rng.random(blank.inputs.shape)
    blank.values[:] = 0.5 * blank.inputs[:, :1]
    blank.value_mask[:] = 1.0
    if player is not None:
        slots = SHAPE.slots[0]
        blank.value_mask[:, slots:] *= player
        blank.value_mask[:, :slots] *= 1 - player
    return blank


def window(count: int = 600, player: int | None = None) -> ReplayWindow:
    made = ReplayWindow(SHAPE, count)
    made.add(pack(SHAPE, rows(count, player)))
    return made


def test_losses_fall_on_rows_left_out() -> None:
    learner = Learner(CVPN(SHAPE, 0), LearnerSettings(batch=64, learning_rate=1e-2))
    one, rng = window(), np.random.default_rng(0)
    before = held_out_losses(learner.network, one, 120, rng)
    assert list(learn_rows([one], learner, 120, 200, rng)) == list(range(1, 201))
    after = held_out_losses(learner.network, one, 120, rng)
    assert all(now[0] < 0.1 * was[0] for was, now in zip(before.values, after.values, strict=True))
    assert all(0.0 < error < mean for mean, error in after.values)
    # No row trains a policy.
    assert np.isnan(after.policies).all()


@pytest.mark.parametrize("player", [0, 1])
def test_losses_are_a_player_s_own(player: int) -> None:
    found = held_out_losses(CVPN(SHAPE, 0), window(player=player), 120, np.random.default_rng(0))
    assert np.isfinite(found.values[player]).all() and np.isnan(found.values[1 - player]).all()


def test_rows_left_out_are_not_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, drawn = window(), window(300), []
    for one in (first, second):
        read = one.read
        monkeypatch.setattr(one, "read", lambda n, one=one, read=read: (drawn.append((one, n)), read(n))[1])
    learner = Learner(CVPN(SHAPE, 0), LearnerSettings(batch=64))
    list(learn_rows([first, second], learner, 500, 40, np.random.default_rng(0)))
    assert max(n.max() for one, n in drawn if one is first) == 99
    assert max(n.max() for one, n in drawn if one is second) > 250
    for held in (11, 600):
        with pytest.raises(SettingError, match="held out"):
            next(learn_rows([first], learner, held, 1, np.random.default_rng(0)))


def test_the_command_makes_a_network_to_train_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sog.train("kuhn_poker", tmp_path / "run", rounds=4)
    words = [str(tmp_path / "run"), "--held", "12", "--steps", "5", "--out", str(tmp_path / "network")]
    monkeypatch.setattr(sys, "argv", ["learn_rows", *words])
    module.main()
    assert "value loss: player 0" in capsys.readouterr().out
    game, _, meta = checkpoint.load_network(tmp_path / "network")
    assert (game, meta.step) == ("kuhn_poker", 5)
    sog.train(sog.Run("kuhn_poker", begins=str(tmp_path / "network")), tmp_path / "on", rounds=1)
    with pytest.raises(CheckpointError, match="is there already"):
        module.main()
    monkeypatch.setattr(sys, "argv", ["learn_rows", str(tmp_path / "run"), "--algorithm", "sog(nosuch=1)"])
    with pytest.raises(SettingError, match="nosuch"):
        module.main()
