"""Who owns each cell in the end, as something to learn: from Go's rules through rows and windows to the loss."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
import torch

from sog.algorithms.boards.actor import BoardActing
from sog.algorithms.boards.game import BoardPlay
from sog.algorithms.table import settings_of
from sog.arrays import Array
from sog.errors import SettingError
from sog.games.base import TERMINAL
from sog.games.boards.go import Go
from sog.games.boards.positions import BoardPosition
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import NetworkShape, is_for, shape_for
from sog.searches.leaves.evaluator import zero_evaluator
from sog.training.learner import Learner, losses
from sog.training.packing import pack, unpack
from sog.training.replay import ReplayWindow
from sog.training.rows import Rows
from sog.training.settings import LearnerSettings, TrainSettings
from sog.training.symmetries import turned

GO = Go(3, 2.5)
SHAPE = shape_for(GO, 8, 1, "resnet", ownership=True)
PLAIN = replace(SHAPE, ownership=False)


def acting(game: Go, **changes: object) -> BoardActing:
    settings = settings_of(game, "demo")
    assert isinstance(settings, TrainSettings) and isinstance(settings.acting, BoardActing)
    play = settings.acting.play
    caps = replace(play.caps, simulations=4, cheap=2)
    return replace(settings.acting, play=cast(BoardPlay, replace(play, caps=caps, **changes)))  # type: ignore[arg-type]


def self_play(shape: NetworkShape = SHAPE, games: int = 12, **changes: object) -> Rows:
    actor = acting(GO, **changes).make(GO, shape)
    return unpack(shape, actor.round(games, zero_evaluator, np.random.default_rng(5)).rows)


def test_owners_are_who_the_score_counts() -> None:
    """In random games the owners' sum less the komi decides, or else the game is a draw by repetition."""
    rng, drawn, decided = np.random.default_rng(2), 0, 0
    for _ in range(300):
        position = cast(BoardPosition, GO.root())
        while position.actor != TERMINAL:
            position = position.play(int(rng.choice(position.legal)))
        owners, result = GO.owners(position), GO.payoff(position).scale
        if owners is None:
            drawn += 1
            assert result == 0.0
        else:
            decided += 1
            assert result == np.sign(owners.sum() - GO.komi)
            stones = GO.board(position).ravel()
            assert (owners[stones == 1] == 1).all() and (owners[stones == 2] == -1).all()
    assert decided > 200 and drawn > 0


def test_all_rows_of_a_game_say_who_owned_its_cells_in_the_end() -> None:
    rows = self_play(moves_max=0, resign_below=-2.0)
    assert rows.owners.shape == (len(rows), 9) and rows.owners_mask.mean() > 0.5
    scored = rows.owners_mask[:, 0] == 1.0
    assert set(np.unique(rows.owners[scored])) <= {-1.0, 0.0, 1.0} and not rows.owners[~scored].any()
    assert len(np.unique(rows.owners[scored], axis=0)) > 1


@pytest.mark.parametrize("changes", [{"moves_max": 3, "openings": 0}, {"resign_below": 0.5, "no_resign": 0.0}])
def test_games_that_do_not_end_by_the_rules_say_nothing(changes: dict[str, object]) -> None:
    assert not self_play(**changes).owners_mask.any()


def test_a_network_that_does_not_learn_owners_has_rows_without_them() -> None:
    rows, other = self_play(PLAIN), self_play()
    assert rows.owners.shape == (len(rows), 0) and rows.owners_mask.shape == (len(rows), 0)
    np.testing.assert_array_equal(rows.inputs, other.inputs)
    np.testing.assert_array_equal(rows.values, other.values)


def test_owners_are_packed_and_kept_by_a_window() -> None:
    rows = self_play()
    again = unpack(SHAPE, pack(SHAPE, rows))
    np.testing.assert_array_equal(again.owners, rows.owners)
    np.testing.assert_array_equal(again.owners_mask, rows.owners_mask)
    window, restored = ReplayWindow(SHAPE, 50), ReplayWindow(SHAPE, 50)
    window.add(pack(SHAPE, rows))
    restored.restore(window.state())
    assert restored.newest(50).content.tobytes() == window.newest(50).content.tobytes()


def test_owners_turn_with_the_board() -> None:
    """Stones that nobody captured are owned by their colour in every image."""
    rows = self_play()
    stones = rows.inputs[:, : 6 * 9].reshape(-1, 6, 9)
    black = np.where(stones[:, 5, :1] > 0, stones[:, 0] - stones[:, 2], stones[:, 2] - stones[:, 0])
    rows.owners[:] = black
    seen = turned(rows, GO.symmetries, np.random.default_rng(0))
    stones = seen.inputs[:, : 6 * 9].reshape(-1, 6, 9)
    black = np.where(stones[:, 5, :1] > 0, stones[:, 0] - stones[:, 2], stones[:, 2] - stones[:, 0])
    np.testing.assert_array_equal(seen.owners, black)
    assert (seen.owners != rows.owners).any()


def test_owners_can_be_learned() -> None:
    rows = self_play(games=4)
    rows = rows.take(rows.owners_mask[:, 0] > 0)
    learner = Learner(CVPN(SHAPE, 1), LearnerSettings(learning_rate=3e-3, ownership_weight=1.0))
    first = learner.step(rows)
    for _ in range(300):
        last = learner.step(rows)
    assert first.ownership == pytest.approx(0.5 * float((rows.owners**2).mean()))  # a new network says 0
    assert last.ownership < first.ownership / 10


def test_rows_whose_end_is_not_known_train_no_owners() -> None:
    rows, network = self_play(), CVPN(SHAPE, 1)
    rows.owners_mask[:] = 0.0
    owners = losses(network, rows)[2]
    owners.backward()  # type: ignore[no-untyped-call]
    grads = [weight.grad for name, weight in network.named_parameters() if "ownership" in name]
    assert float(owners.detach()) == 0.0 and len(grads) == 2
    assert all(grad is None or not grad.any() for grad in grads)


def test_play_does_not_ask_who_owns_a_cell() -> None:
    """The same weights with and without the head give the same answers, by PyTorch and by the kernels."""
    network, plain = CVPN(SHAPE, 1), CVPN(PLAIN, 1)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.05 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(weight.numel())))
    weights = {name: weight for name, weight in network.state_dict().items() if "ownership" not in name}
    plain.load_state_dict(weights)
    x = torch.from_numpy(self_play().inputs)
    answers = [net.eval()(x).detach().numpy() for net in (network, plain)]
    np.testing.assert_array_equal(*answers)
    np.testing.assert_array_equal(network.learned(x)[0].detach().numpy(), answers[0])
    found: list[Array] = []
    for net in (network, plain):
        actor = acting(GO).make(GO, net.shape)
        rows = actor.round(2, network_evaluator(net), np.random.default_rng(3)).rows
        found.append(unpack(net.shape, rows).policies)
    np.testing.assert_array_equal(*found)


def test_only_games_with_owners_have_them_learned() -> None:
    assert is_for(SHAPE, GO) and is_for(PLAIN, GO)
    with pytest.raises(SettingError, match="does not say who owns"):
        shape_for(make_game("chess"), 8, 1, "resnet", ownership=True)
    with pytest.raises(SettingError, match="by a resnet"):
        shape_for(GO, 8, 1, "mlp", ownership=True)
    settings = settings_of(GO, "full")
    assert isinstance(settings, TrainSettings)
    assert settings.shape.ownership and settings.learner.ownership_weight > 0
