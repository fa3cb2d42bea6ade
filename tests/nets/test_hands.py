"""The network over hold'em hands: what it answers where, what it is refused for, and that it learns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from sog.algorithms.table import settings_of
from sog.arrays import Float32, Float64
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.games.holdem.cards import HANDS, live_hands, parse_cards, permuted_hands
from sog.games.holdem.game import Holdem
from sog.games.holdem.inputs import LEFT
from sog.measure.endgame import turn_tree
from sog.nets.cvpn import CVPN, module_of
from sog.nets.inference import RowsEvaluator, network_evaluator
from sog.nets.serialized import network_bytes, network_of
from sog.nets.shape import shape_for
from sog.nets.torch_rows import TorchRows
from sog.searches.leaves.evaluator import Beliefs, Evaluator, Wanted
from sog.searches.tree.public_tree import PublicTree
from sog.training.learner import Learner
from sog.training.rows import Rows, blank_rows
from sog.training.settings import LearnerSettings

SPOT = "holdem(board={},pot=2000,stacks=20000,bets=0.5;1.0;allin,raises=0.75;allin)"
BOARD = "3s7hTdKs"


def random_network(game: Holdem, seed: int = 0, width: int = 16, depth: int = 2) -> CVPN:
    """A small network that answers something."""
    network = CVPN(shape_for(game, width, depth, "hands"), seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator) * 0.2)
    return network


def holdem(board: str = BOARD) -> Holdem:
    game = make_game(SPOT.format(board))
    assert isinstance(game, Holdem)
    return game


def inputs_of(public: PublicTree, nodes: list[int], seed: int = 0) -> Float32:
    """Encoded beliefs with random ranges."""
    ranges = np.random.default_rng(seed).random((len(nodes), 2 * HANDS))
    return np.concatenate([public.features(np.array(nodes, dtype=np.int32)), ranges.astype(np.float32)], axis=1)


def turn_nodes() -> tuple[PublicTree, list[int], list[int]]:
    """A turn's public tree, the nodes where chance acts and bets may follow, and those where all is settled."""
    public = turn_tree(holdem())
    chance = [n for n in range(public.size) if public.actor(n) == 2]
    left = public.features(np.array(chance, dtype=np.int32))[:, LEFT] > 0
    return (
        public,
        [n for n, more in zip(chance, left, strict=True) if more],
        [n for n, more in zip(chance, left, strict=True) if not more],
    )


def test_a_new_network_answers_nothing() -> None:
    public, chance, _ = turn_nodes()
    x = torch.from_numpy(inputs_of(public, [0, *chance]))
    assert not CVPN(shape_for(holdem(), 16, 2, "hands"))(x).any()


def test_where_nothing_can_be_bet_its_values_are_zero() -> None:
    public, chance, settled = turn_nodes()
    assert (len(chance), len(settled)) == (13, 14)
    network = random_network(holdem())
    with torch.no_grad():
        values, _ = network.split(network(torch.from_numpy(inputs_of(public, settled + chance))))
    # Next to zeros, which the game's baseline then makes the hand checked down.
    assert not values[: len(settled)].any() and values[len(settled) :].any(dim=1).all()


def test_a_belief_is_answered_alike_in_any_batch() -> None:
    public, chance, settled = turn_nodes()
    network, x = random_network(holdem()), inputs_of(public, [0, *settled[:2], *chance[:3]])
    with torch.no_grad():
        together = network(torch.from_numpy(x)).numpy()
        for k in range(len(x)):
            np.testing.assert_allclose(network(torch.from_numpy(x[k : k + 1])).numpy()[0], together[k], atol=1e-5)


def test_hands_off_the_board_have_zeros() -> None:
    game = holdem()
    network, x = random_network(game), inputs_of(PublicTree(game), [0])
    with torch.no_grad():
        values, logits = network.split(network(torch.from_numpy(x)))
    gone = HANDS - int(live_hands(parse_cards(BOARD)).sum())
    assert (values.reshape(2, HANDS)[:, -gone:] == 0).all() and (logits[0, -gone:] == 0).all()
    assert (values.reshape(2, HANDS)[:, :-gone] != 0).float().mean() > 0.99


def root_values(network: CVPN, board: str, ranges: Float64) -> Float64:
    """float64[2, 1326] by hand: a network's values at the root of the turn."""
    public = PublicTree(holdem(board))
    by_slot = public.ranges_by_slot(0, (ranges[0], ranges[1]))
    answer = network_evaluator(network)([Beliefs(public, np.zeros(1, dtype=np.int32), by_slot[None, :])])[0]
    return np.stack([answer.values[0][public.places_of(0, p)] for p in (0, 1)])


def test_exchanged_suits_give_exchanged_values() -> None:
    suits, ranges = [2, 0, 3, 1], np.random.default_rng(5).random((2, HANDS))
    ranges *= live_hands(parse_cards("3s7hTdKs"))
    network, to = random_network(holdem()), permuted_hands(suits)
    turned = np.empty_like(ranges)
    turned[:, to] = ranges
    # Clubs become hearts, diamonds clubs, hearts spades and spades diamonds.
    first, second = root_values(network, "3s7hTdKs", ranges), root_values(network, "3d7sTcKd", turned)
    np.testing.assert_allclose(first, second[:, to], atol=1e-4 * np.abs(first).max())


def test_a_step_on_exchanged_suits_is_the_same_step() -> None:
    """What a network learns of a row it learns of the row's images: no images need to be drawn."""
    rng, suits = np.random.default_rng(5), [2, 0, 3, 1]
    to, live = permuted_hands(suits), live_hands(parse_cards(BOARD))
    ranges, values = rng.random((2, HANDS)) * live, rng.normal(size=(2, HANDS)) * live
    learned = []
    for board, images in ((BOARD, np.arange(HANDS)), ("3d7sTcKd", to)):
        public = PublicTree(holdem(board))
        moved = np.zeros((2, 2, HANDS))
        moved[:, :, images] = ranges, values
        by_slot = [public.ranges_by_slot(0, (part[0], part[1])) for part in moved]
        network = random_network(holdem())
        row = replace(
            blank_rows(network.shape, 1),
            inputs=np.concatenate([public.features(np.zeros(1, dtype=np.int32))[0], by_slot[0]])[None].astype(
                np.float32
            ),
            values=by_slot[1][None].astype(np.float32),
            value_mask=(by_slot[1] != 0)[None].astype(np.float32),
        )
        loss = Learner(network, LearnerSettings(batch=1, optimiser="sgd", learning_rate=0.1)).step(row).value
        learned.append((loss, np.concatenate([weight.detach().numpy().ravel() for weight in network.parameters()])))
    (loss, weights), (other, others) = learned
    start = np.concatenate([w.detach().numpy().ravel() for w in random_network(holdem()).parameters()])
    assert loss == pytest.approx(other, rel=1e-4) and np.abs(weights - start).max() > 1e-3
    np.testing.assert_allclose(weights, others, atol=1e-3 * np.abs(weights - start).max())


@pytest.mark.parametrize("evaluate", [lambda network: RowsEvaluator(TorchRows(network)), network_evaluator])
def test_values_alone_are_those_of_both(evaluate: Callable[[CVPN], Evaluator]) -> None:
    public, chance, _ = turn_nodes()
    evaluator = evaluate(random_network(holdem()))
    ranges = np.random.default_rng(2).random((2, 2 * HANDS))
    beliefs = Beliefs(public, np.array(chance[:2], dtype=np.int32), ranges)
    whole, values = evaluator([beliefs])[0], evaluator([beliefs._replace(wanted=Wanted.VALUES)])[0]
    assert (whole.values == values.values).all()
    policies = evaluator([beliefs._replace(wanted=Wanted.POLICIES)])[0]
    assert (whole.logits == policies.logits).all()


@pytest.mark.parametrize(("width", "depth"), [(16, 2), (24, 1), (40, 3)])
def test_its_kernel_answers_as_pytorch_and_alike_in_any_batch(width: int, depth: int) -> None:
    """With widths that are no whole registers, and beliefs of two boards, of all actors, and where nothing is left."""
    network = random_network(holdem(), width=width, depth=depth)
    public, chance, settled = turn_nodes()
    nodes = np.array([0, 1, settled[0], *chance[:3]], dtype=np.int32)
    requests = []
    for k, tree in enumerate((public, turn_tree(holdem("2c2d9hQs")))):
        ranges = np.random.default_rng(k).random((len(nodes), 2 * HANDS)) ** 8
        requests.append(Beliefs(tree, nodes, ranges / ranges.sum(axis=1, keepdims=True)))
    kernel, torch_s = network_evaluator(network), RowsEvaluator(TorchRows(network))
    together = kernel(requests)
    for mine, other in zip(together, torch_s(requests), strict=True):
        np.testing.assert_allclose(mine.values, other.values, atol=1e-5 * np.abs(other.values).max())
        np.testing.assert_allclose(mine.logits, other.logits, atol=1e-5 * np.abs(other.logits).max())
        assert np.abs(other.logits[0]).max() > 0.1
    for request, mine in zip(requests, together, strict=True):
        for b in range(len(nodes)):
            alone = kernel([request._replace(nodes=nodes[b : b + 1], ranges=request.ranges[b : b + 1])])[0]
            # The baseline, which is added to the values, is a product of NumPy's, whose last bits depend on the batch.
            np.testing.assert_allclose(alone.values[0], mine.values[b], rtol=1e-5, atol=1e-4)
            assert (alone.logits[0] == mine.logits[b]).all()


def test_its_weights_are_read_back() -> None:
    network = random_network(holdem())
    x = torch.from_numpy(inputs_of(PublicTree(holdem()), [0]))
    with torch.no_grad():
        assert (module_of(network_of(network.shape, network_bytes(network)))(x) == network(x)).all()


def test_it_learns_a_row() -> None:
    public, chance, _ = turn_nodes()
    network = CVPN(shape_for(holdem(), 16, 2, "hands"))
    x = inputs_of(public, chance[:1])
    rng = np.random.default_rng(3)
    rows: Rows = replace(
        blank_rows(network.shape, 1),
        inputs=x,
        values=np.full((1, 2 * HANDS), 0.25, dtype=np.float32),
        value_mask=(rng.random((1, 2 * HANDS)) < 0.5).astype(np.float32) * np.tile(np.arange(HANDS) < 1128, 2),
    )
    learner = Learner(network, LearnerSettings(batch=1, learning_rate=0.01))
    losses = [learner.step(rows).value for _ in range(60)]
    assert losses[-1] < 0.02 * losses[0]


@pytest.mark.parametrize(
    ("game", "why"),
    [
        ("leduc_poker", "for hold'em, inputs=strength"),
        (SPOT.format(BOARD).replace(")", ",inputs=paper)"), "for hold'em, inputs=strength"),
    ],
)
def test_it_is_refused_for_other_games(game: str, why: str) -> None:
    with pytest.raises(SettingError, match=why):
        shape_for(make_game(game), 16, 2, "hands")


def test_the_presets_of_holdem_use_it() -> None:
    for board in (BOARD, "turn", "river", "flop", "3s7hTd"):
        game = make_game(SPOT.format(board))
        assert settings_of(game, "demo", "sog").shape.kind == settings_of(game, "full", "sog").shape.kind == "hands"
    for preset in ("demo", "full"):
        assert settings_of(make_game("holdem(bets=random)"), preset, "sog").shape.kind == "hands"
