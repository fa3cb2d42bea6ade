"""Logits of legal pairs alone: the same policies as all logits give, the same losses, rows and searches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from sog.algorithms.table import settings_of
from sog.errors import CheckpointError, GameError, SettingError
from sog.games.base import NATURE, TERMINAL, Game
from sog.games.catalog import make_game
from sog.games.checks.public_states import check_game
from sog.games.legal_pairs import LegalPairs
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.inference import JoiningEvaluator, network_evaluator, rows_answer
from sog.nets.policy_pairs import by_slot
from sog.nets.shape import NetworkShape, is_for, shape_for
from sog.nets.torch_rows import TorchRows
from sog.nets.values import value_evaluator
from sog.play.resolver import derive_generator
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.depth_limited.warm_start import prior_policy
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Wanted, checked
from sog.searches.tree.public_tree import PublicTree
from sog.training import checkpoint
from sog.training.learner import Learner, losses
from sog.training.packing import pack, unpack
from sog.training.rows import Rows, blank_rows, write_policy
from sog.training.run import Run, with_known_head
from sog.training.settings import LearnerSettings

# Mr X has black tickets and a double card, so that his actions are more than the stations.
GAMES = [make_game(f"scotland_yard(map=glasses,rounds=3{more})") for more in ("", ",x_tickets=3;0;0;1;1")]
LONDON = make_game("scotland_yard(map=london)")


def both(game: int, apart: bool = False) -> tuple[PublicTree, CVPN, CVPN]:
    """A listed tree, a network with all logits and the same with those of legal pairs."""
    public = PublicTree(GAMES[game]).list_all()
    network = CVPN(shape_for(public.game, 32, 2, policies_apart=apart), 3)
    with torch.no_grad():
        network.head.weight.normal_(0.0, 0.3, generator=torch.Generator().manual_seed(3))
        network.head.bias.normal_(0.0, 0.3, generator=torch.Generator().manual_seed(4))
    return public, network, with_legal_pairs(network, public.game)


def with_legal_pairs(network: CVPN, game: Game) -> CVPN:
    """A network with logits for the game's legal pairs alone, whose answers are those of `network`."""
    shape, pairs = network.shape, game.legal_pairs
    assert pairs is not None and not shape.legal_pairs
    out = CVPN(replace(shape, legal_pairs=pairs.counts))
    # Rows of the last layer: values first; of the logits those of the pairs.
    values, first = shape.head - shape.num_logits, [shape.first_policy_slot(player) for player in (0, 1)]
    slot = torch.from_numpy(pairs.slot).long() + torch.tensor(first)[torch.from_numpy(pairs.player).long()]
    rows = values + slot * shape.actions + torch.from_numpy(pairs.action).long()
    kept = torch.cat((torch.arange(values), rows))
    weights = network.state_dict()
    for name in ("head.weight", "head.bias"):
        weights[name] = weights[name][kept.to(weights[name].device)]
    out.load_state_dict(weights)
    return out


def beliefs_of(public: PublicTree, count: int, decisions: bool = False) -> Beliefs:
    rng, actor = np.random.default_rng(0), public.nodes.actor[: public.size]
    asked = np.flatnonzero(actor < NATURE if decisions else actor != TERMINAL).astype(np.int32)
    ranges = [rng.dirichlet(np.ones(slots), count) for slots in public.game.num_slots]
    return Beliefs(public, rng.choice(asked, count), np.concatenate(ranges, axis=1))


def rows_of(shape: NetworkShape, beliefs: Beliefs) -> Rows:
    """Rows with random policies at decisions; the same for every shape."""
    rng, public = np.random.default_rng(1), beliefs.public
    rows = replace(blank_rows(shape, len(beliefs.nodes)), inputs=encode(beliefs))
    for k, node in enumerate(beliefs.nodes.tolist()):
        policy = public.legal(node) * rng.random(public.legal(node).shape)
        write_policy(rows, k, public, node, policy / np.maximum(policy.sum(axis=0), 1e-9))
    return rows


def test_london_has_logits_for_its_legal_pairs() -> None:
    """2,001 of Mr X and 275 of the detectives, in place of 199 * 475."""
    pairs, shape = LONDON.legal_pairs, shape_for(LONDON, 256, 3)
    assert pairs is not None and np.bincount(pairs.player).tolist() == [2001, 275]
    assert shape.num_logits == len(pairs) == 2276 and shape.legal_pairs == pairs.counts
    whole = replace(shape, legal_pairs=())
    assert whole.num_logits == 199 * 475 and is_for(shape, LONDON) and is_for(whole, LONDON)
    other = (shape.legal_pairs[0] + 1, *shape.legal_pairs[1:])
    assert not is_for(replace(shape, legal_pairs=other), LONDON)
    # Few logits stay as they are.
    assert not any(shape_for(game).legal_pairs for game in GAMES)


@pytest.mark.parametrize("game", [0, 1])
def test_pairs_are_numbered_by_player_slot_and_action(game: int) -> None:
    pairs = GAMES[game].legal_pairs
    assert pairs is not None
    keys = list(zip(pairs.player, pairs.slot, pairs.action, strict=True))
    assert keys == sorted(set(keys)) and sum(pairs.counts) == len(pairs)
    assert (pairs.index[pairs.player, pairs.slot, pairs.action] == np.arange(len(pairs))).all()
    assert (pairs.index >= 0).sum() == len(pairs)


@pytest.mark.parametrize("game", [0, 1])
@pytest.mark.parametrize("apart", [False, True])
def test_the_same_weights_give_the_same_policies(game: int, apart: bool) -> None:
    public, whole, few = both(game, apart)
    beliefs = beliefs_of(public, 120, decisions=True)
    evaluators = [
        network_evaluator,
        lambda n: JoiningEvaluator(rows_answer(TorchRows(n))),
        lambda n: value_evaluator(n, True),
    ]
    for evaluator in evaluators:
        answers = [checked(evaluator(network)([beliefs])[0], beliefs) for network in (whole, few)]
        np.testing.assert_allclose(answers[0].values, answers[1].values, atol=1e-5)
        assert answers[1].logits.shape == (120, 1, few.shape.num_logits)
        for b, node in enumerate(beliefs.nodes.tolist()):
            policies = [prior_policy(public, node, answer.logits[b]) for answer in answers]
            np.testing.assert_allclose(policies[0], policies[1], atol=1e-5)
            assert policies[0].sum() == pytest.approx(public.legal(node).any(axis=0).sum())


@pytest.mark.parametrize("game", [0, 1])
def test_searches_with_the_same_weights_agree(game: int) -> None:
    """Priors decide where a tree grows: the same nodes, and policies within rounding."""
    _, whole, few = both(game)
    trees = []
    for network in (whole, few):
        tree = Lookahead(PublicTree(GAMES[game]), 0, GAMES[game].root_ranges())
        settings = SearchSettings(prior_temperature=0.5, warm_start=1.0)
        run(search(tree, 0, Budget(12, 1.0), settings, derive_generator(0, 0, 0)), network_evaluator(network))
        trees.append(tree)
    assert trees[0].size == trees[1].size > 12
    np.testing.assert_allclose(trees[0].policy(0), trees[1].policy(0), atol=1e-4)


def test_only_what_is_wanted_is_answered() -> None:
    public, _, few = both(0)
    beliefs = beliefs_of(public, 5)
    for want, left_out in ((Wanted.VALUES, "logits"), (Wanted.POLICIES, "values")):
        for evaluator in (network_evaluator(few), JoiningEvaluator(rows_answer(TorchRows(few)))):
            (found,) = evaluator([beliefs._replace(wanted=want)])
            assert len(getattr(found, left_out)) == 0


def test_logits_of_other_sizes_are_refused() -> None:
    public, _, few = both(0)
    beliefs = beliefs_of(public, 2)
    (answer,) = network_evaluator(few)([beliefs])
    with pytest.raises(SettingError, match="logits of shape"):
        checked(Evaluations(answer.values, answer.logits[:, :, 1:].copy()), beliefs)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("game", [0, 1])
def test_losses_are_the_same(game: int, squared: bool) -> None:
    public, whole, few = both(game)
    beliefs = beliefs_of(public, 60, decisions=True)
    found = [losses(n, rows_of(n.shape, beliefs), LearnerSettings(squared_policies=squared))[1] for n in (whole, few)]
    assert found[0].item() > 0.01
    torch.testing.assert_close(found[0], found[1], atol=1e-5, rtol=1e-5)


def test_learning_fits_policies_of_pairs() -> None:
    public, _, few = both(0)
    rows = rows_of(few.shape, beliefs_of(public, 32, decisions=True))
    learner = Learner(CVPN(few.shape, 0), LearnerSettings(learning_rate=5e-3, policy_weight=1.0))
    found = [learner.step(rows).policy for _ in range(300)]
    assert found[-1] < found[0] / 5


def test_gradients_reach_the_pairs_that_are_legal() -> None:
    public, _, few = both(0)
    rows = rows_of(few.shape, beliefs_of(public, 20, decisions=True))
    losses(few, rows)[1].backward()  # type: ignore[no-untyped-call]
    assert isinstance(few.head.bias, torch.Tensor) and few.head.bias.grad is not None
    moved = few.head.bias.grad[few.shape.num_values :] != 0.0
    trained = rows.legal[:, 0].any(axis=0)
    assert moved.any() and not moved.numpy()[~trained].any()


def test_rows_come_back_from_bytes() -> None:
    public, whole, few = both(1)
    beliefs = beliefs_of(public, 50, decisions=True)
    rows = rows_of(few.shape, beliefs)
    packed = pack(few.shape, rows)
    again = unpack(few.shape, packed)
    assert (again.legal == rows.legal).all() and (again.policy_mask == rows.policy_mask).all()
    np.testing.assert_allclose(again.policies, rows.policies, atol=1 / 250)
    by_all = pack(whole.shape, rows_of(whole.shape, beliefs))
    assert abs(len(packed.content) - len(by_all.content)) <= 2 * len(rows)  # the bits of the slots
    with pytest.raises(CheckpointError, match="damaged"):
        unpack(few.shape, replace(packed, ends=packed.ends - 1))


def test_parts_by_slot_hold_every_pair_once() -> None:
    _, _, few = both(1)
    pairs = torch.arange(1, few.shape.num_logits + 1)[None, None, :]
    parts = by_slot(few.shape, pairs)
    assert [part.shape[1] for part in parts] == [11, 1]
    found = torch.cat([part.flatten() for part in parts])
    assert found[found > 0].tolist() == pairs.flatten().tolist()


def test_a_checkpoint_says_which_logits_its_network_has(tmp_path: Path) -> None:
    _, whole, few = both(0)
    beliefs = beliefs_of(PublicTree(GAMES[0]).list_all(), 4)
    for name, network in (("whole", whole), ("few", few)):
        checkpoint.save(tmp_path / name, network, GAMES[0].name, "run", 1, {}, {})
        _, again, _ = checkpoint.load_network(tmp_path / name)
        assert again.shape == network.shape
        (one,), (two,) = network_evaluator(network)([beliefs]), network_evaluator(again)([beliefs])
        assert (one.logits == two.logits).all()


def test_a_run_keeps_the_logits_of_its_network(tmp_path: Path) -> None:
    """A run of London from before legal pairs keeps a logit for every slot and action."""
    settings, shape = settings_of(LONDON, "demo"), shape_for(LONDON, 8, 1)
    settings = replace(settings, shape=shape)  # type: ignore[type-var]
    one = Run(LONDON.name, "demo", 0, 1)
    assert with_known_head(one, settings, tmp_path / "new") == settings  # type: ignore[arg-type]
    for pairs in (shape.legal_pairs, ()):
        network, out = CVPN(replace(shape, legal_pairs=pairs)), tmp_path / str(len(pairs))
        checkpoint.save(out / "checkpoint", network, LONDON.name, one.name, 1, {}, {})
        assert with_known_head(one, settings, out).shape == network.shape  # type: ignore[arg-type]


@pytest.mark.parametrize("pairs", [(1, 2), (-1, *(1,) * 11), (12, *(1,) * 11), (0,) * 12])
def test_shapes_that_no_pairs_have_are_refused(pairs: tuple[int, ...]) -> None:
    with pytest.raises(SettingError, match="legal pairs"):
        replace(shape_for(GAMES[0]), legal_pairs=pairs)


def test_a_game_that_leaves_out_a_legal_pair_is_named() -> None:
    game = make_game("scotland_yard(map=glasses,rounds=2)")
    assert game.legal_pairs is not None
    check_game(game)
    legal = game.legal_pairs.index >= 0
    legal[0, 5, :] = False
    game.legal_pairs = LegalPairs.of((legal[0], legal[1, :1]))
    with pytest.raises(GameError, match="not among the game's legal pairs"):
        check_game(game)
    game.legal_pairs = LegalPairs.of((legal[0, :4], legal[1, :1]))
    with pytest.raises(GameError, match="legal_pairs are of"):
        check_game(game)
    with pytest.raises(GameError, match="same actions"):
        LegalPairs.of((legal[0], legal[1, :1, :5]))
