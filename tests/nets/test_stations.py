"""The network over Scotland Yard's stations: one for every map, zero sum, logits where the legal pairs are."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch

import sog
from sog.agents.opening import open_network
from sog.arrays import Float32, Float64
from sog.errors import CheckpointError, SettingError
from sog.games.base import NATURE, TERMINAL
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import Chase, ScotlandYard
from sog.games.scotland_yard.map import read_map
from sog.games.scotland_yard.rules import DOUBLE, TICKETS
from sog.games.scotland_yard.station_inputs import StationInputs, pairs_of, station_inputs
from sog.nets.cvpn import CVPN
from sog.nets.inference import RowsEvaluator, network_evaluator
from sog.nets.serialized import network_bytes, network_of
from sog.nets.shape import is_for, same_weights, shape_for
from sog.nets.station_rows import StationRows
from sog.nets.torch_rows import TorchRows
from sog.searches.leaves.evaluator import Beliefs, Wanted
from sog.searches.tree.public_tree import PublicTree
from sog.training.checkpoint import load_meta, load_network

RING = "scotland_yard(map=ring8)"
CUT = "scotland_yard(map=london20)"


def chase(text: str = CUT) -> ScotlandYard:
    game = make_game(text)
    assert isinstance(game, ScotlandYard)
    return game


def random_network(game: ScotlandYard, seed: int = 0, width: int = 16, depth: int = 1) -> CVPN:
    """A small network that answers something."""
    network = CVPN(shape_for(game, width, depth, "stations"), seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator) * 0.2)
    return network


def states_of(game: ScotlandYard, count: int, seed: int = 0) -> list[Chase]:
    """Public states where a player acts or looks, met in random games."""
    rng, found = np.random.default_rng(seed), list[Chase]()
    while len(found) < count:
        s = game.root()
        while game.actor(s) != TERMINAL:
            assert isinstance(s, Chase)
            found.append(s)
            children = game.fan(s).children
            s = children[int(rng.integers(len(children)))]
    return found[:count]


def encoded(game: ScotlandYard, states: list[Chase], seed: int = 0) -> Float32:
    """Encoded beliefs: features and random ranges over the possible stations, times the number of slots."""
    rng, rows = np.random.default_rng(seed), []
    for s in states:
        shares: Float64 = np.zeros(game.num_slots[0])
        shares[list(s.hidden)] = rng.random(len(s.hidden)) + 0.01
        rows.append(np.concatenate([game.features(s), shares / shares.sum() * len(shares), [1.0]]))
    return np.array(rows, dtype=np.float32)


def answers(network: CVPN, x: Float32, wanted: Wanted = Wanted.BOTH) -> Float32:
    with torch.inference_mode():
        out: Float32 = network.part(torch.from_numpy(x), wanted).numpy()
    return out


def test_a_new_network_answers_zero() -> None:
    game = chase()
    network = CVPN(shape_for(game, 16, 1, "stations"))
    assert not answers(network, encoded(game, states_of(game, 20))).any()


def test_values_and_logits_are_the_same_alone() -> None:
    game = chase()
    network, x = random_network(game), encoded(game, states_of(game, 60))
    both, values = answers(network, x), network.shape.num_values
    np.testing.assert_allclose(answers(network, x, Wanted.VALUES), both[:, :values], atol=1e-6)
    np.testing.assert_allclose(answers(network, x, Wanted.POLICIES), both[:, values:], atol=1e-6)


@pytest.mark.parametrize(
    ("text", "width", "depth"), [(CUT, 24, 1), (RING, 16, 2), (f"{CUT[:-1]},detectives=5)", 40, 2)]
)
def test_the_kernel_answers_as_pytorch_does(text: str, width: int, depth: int) -> None:
    """Whatever the width, padded or not, also before detectives have a station; a belief alone has the same bits."""
    game = chase(text)
    network = random_network(game, width=width, depth=depth)
    rows, x = StationRows(network), encoded(game, states_of(game, 60))
    values = rows(x, Wanted.VALUES)
    np.testing.assert_allclose(values, answers(network, x, Wanted.VALUES), atol=2e-6)
    np.testing.assert_allclose(rows(x, Wanted.BOTH), answers(network, x), atol=2e-6, rtol=1e-6)
    for k in range(0, 60, 7):
        np.testing.assert_array_equal(rows(x[k : k + 1], Wanted.VALUES)[0], values[k])


def test_a_search_of_two_games_gets_each_tree_s_answers() -> None:
    game = chase()
    network = random_network(game)
    evaluator = network_evaluator(network)
    assert isinstance(evaluator, RowsEvaluator)
    asked = []
    for seed in (1, 2):
        public, rng = PublicTree(game), np.random.default_rng(seed)
        for node in range(200):
            public.list_fan(node)
            for edge in range(min(3, public.num_edges(node))):
                public.child(node, edge)
        nodes = rng.choice(np.flatnonzero(public.nodes.actor[: public.size] <= NATURE), 5).astype(np.int32)
        ranges = np.concatenate([rng.dirichlet(np.ones(n), 5) for n in game.num_slots], axis=1)
        asked += [Beliefs(public, nodes, ranges, wanted) for wanted in Wanted]
    for got, want in zip(evaluator(asked), RowsEvaluator(TorchRows(network))(asked), strict=True):
        np.testing.assert_allclose(got.values, want.values, atol=2e-6)
        np.testing.assert_allclose(got.logits, want.logits, atol=2e-6, rtol=1e-6)


def test_the_values_sum_to_zero_and_stay_within_bounds() -> None:
    game = chase()
    states = states_of(game, 60)
    x, n = encoded(game, states), game.num_slots[0]
    values = answers(random_network(game), x, Wanted.VALUES)
    shares = x[:, -n - 1 : -1] / n
    np.testing.assert_allclose((shares * values[:, :n]).sum(axis=1), -values[:, n], atol=1e-5)
    assert np.abs(values).max() <= 1.0 and np.abs(values).max() > 0.01
    for row, s in zip(values, states, strict=True):
        assert set(np.flatnonzero(row[:n])) <= set(s.hidden)


def relabelled(folder: Path, name: str) -> tuple[ScotlandYard, ScotlandYard, dict[int, int]]:
    """The ring's map under its own numbers and under others in another order, by the same rules, and which is which."""
    city, rng = read_map("ring8"), np.random.default_rng(3)
    numbers = dict(zip(city.stations, (20 + rng.permutation(len(city.stations))).tolist(), strict=True))
    files = []
    for k, rename in enumerate((lambda s: s, numbers.__getitem__)):
        path = folder / f"{name}{k}.csv"
        links = [
            f"{rename(city.stations[a])},{rename(city.stations[b])},{('taxi', 'bus', 'underground', 'ferry')[t]}"
            for a, b, t in city.links
        ]
        path.write_text("\n".join(["from,to,transport", *links]) + "\n")
        files.append(path)
    rules = "rounds=3,reveals=2,tickets=4;2;0,x_tickets=3;2;0;2;0"
    first = chase(f"scotland_yard(map={files[0]},start=2;1;4,{rules})")
    start = ";".join(str(numbers[s]) for s in (2, 1, 4))
    return first, chase(f"scotland_yard(map={files[1]},start={start},{rules})"), numbers


def test_other_numbers_of_the_stations_change_no_value(tmp_path: Path) -> None:
    one, two, numbers = relabelled(tmp_path, "ring")
    network = random_network(one)
    other = CVPN(shape_for(two, 16, 1, "stations"))
    other.load_state_dict(network.state_dict())
    place = [two.city.index(numbers[s]) for s in one.city.stations]  # of each of one's stations
    for s in states_of(one, 40):
        moved = replace(s, hidden=tuple(place[k] for k in s.hidden), detectives=tuple(place[k] for k in s.detectives))
        x, y = encoded(one, [s]), encoded(two, [moved])
        n = one.num_slots[0]
        y[0, -n - 1 : -1][place] = x[0, -n - 1 : -1]
        a, b = (answers(net, z, Wanted.VALUES)[0] for net, z in ((network, x), (other, y)))
        np.testing.assert_allclose(b[:n][place], a[:n], atol=1e-5)
        assert b[n] == pytest.approx(a[n], abs=1e-5)


def test_the_order_of_detectives_who_have_moved_changes_no_value() -> None:
    game = chase("scotland_yard(map=london40)")
    network = random_network(game)
    states = [s for s in states_of(game, 400) if s.kind == "act" and s.turn == 0 and s.moved > 1][:10]
    assert states
    for s in states:
        orders = [
            replace(s, detectives=tuple(s.detectives[k] for k in order), tickets=tuple(s.tickets[k] for k in order))
            for order in permutations(range(3))
        ]
        values = answers(network, np.concatenate([encoded(game, [each]) for each in orders]), Wanted.VALUES)
        np.testing.assert_allclose(values, np.broadcast_to(values[0], values.shape), atol=1e-5)


def test_logits_lie_at_the_pairs_that_may_be_legal() -> None:
    """Against every pair by itself, by its own station, destination and ticket."""
    game = chase(RING)
    pairs, network = game.legal_pairs, random_network(game)
    assert pairs is not None
    body = network.body
    for s in states_of(game, 60):
        if s.kind != "act":
            continue
        x = encoded(game, [s])
        logits = answers(network, x, Wanted.POLICIES)[0]
        every, around = station_inputs(x, game, moves=True)
        row = {int(station): k for k, station in enumerate(every.station)}
        with torch.inference_mode():
            here = [row[k] for k in s.hidden]
            known = StationInputs(
                every.belief[here], every.station[here], every.share[here], every.rows[here], *every[4:]
            )
            _, e, c = body._seen(torch.from_numpy(x), known)  # type: ignore[operator, union-attr]
            rows = torch.cat((torch.from_numpy(every.rows), torch.from_numpy(around)), dim=1)
            enter, stay = body.enter(rows), body.stay(rows)  # type: ignore[operator, union-attr]
            expected = np.zeros(len(pairs))
            for k in range(len(pairs)):
                action, slot = int(pairs.action[k]), int(pairs.slot[k])
                double = action >= len(game.ticket_of)
                ticket = DOUBLE if double else int(game.ticket_of[action])
                dest = slot if double else int(game.dest_of[action])
                by = body.by.weight[:, ticket]  # type: ignore[operator, union-attr, index]
                if pairs.player[k] == 0 and s.turn == 0 and slot in s.hidden:
                    own = body.leave(e[s.hidden.index(slot)])  # type: ignore[operator, union-attr]
                    last = body.leave_last  # type: ignore[union-attr]
                elif pairs.player[k] == 1 and s.turn > 0 and game.reach[s.detectives[s.turn - 1], action]:
                    own = body.chase(c[0]) + stay[row[s.detectives[s.turn - 1]]]  # type: ignore[operator, union-attr]
                    last = body.chase_last  # type: ignore[union-attr]
                else:
                    continue
                expected[k] = last(torch.relu(own + enter[row[dest]] + by))  # type: ignore[operator]
        np.testing.assert_allclose(logits, expected, atol=1e-5)
        first, second = pairs_of(every, game)
        assert len(first.belief) + len(second.belief) == np.count_nonzero(expected)
    assert len(TICKETS) == DOUBLE + 1


def test_a_network_is_of_one_game_and_its_weights_are_of_all() -> None:
    small, large = chase(RING), chase("scotland_yard(map=london)")
    network = random_network(small)
    assert is_for(network.shape, small) and not is_for(network.shape, large)
    assert same_weights(network.shape, shape_for(large, 16, 1, "stations"))
    assert not same_weights(network.shape, shape_for(large, 32, 1, "stations"))
    again = network_of(network.shape, network_bytes(network)).arrays()
    assert all(np.array_equal(weight, again[name]) for name, weight in network.arrays().items())
    x = encoded(large, states_of(large, 30))
    other = CVPN(shape_for(large, 16, 1, "stations"))
    other.load_state_dict(network.state_dict())
    assert np.isfinite(answers(other, x)).all()


@pytest.mark.parametrize("text", ["kuhn_poker", "scotland_yard(map=glasses)", "scotland_yard(map=ring8,inputs=paper)"])
def test_other_games_have_no_such_network(text: str) -> None:
    with pytest.raises(SettingError, match="a network over stations is for scotland_yard with inputs=stations"):
        shape_for(make_game(text), 16, 1, "stations")


def test_the_papers_presets_see_what_the_papers_do() -> None:
    with pytest.raises(SettingError, match="inputs=paper"):
        sog.train(sog.Run(RING, preset="paper"), "never")


def test_a_run_begins_with_the_network_of_another_map(tmp_path: Path) -> None:
    small = "sog(simulations=4,games=2,network=1x8)"
    sog.train(sog.Run(RING, algorithm=small), tmp_path / "ring8", rounds=2)
    second = sog.Run("scotland_yard(map=ring9)", algorithm=small, begins=str(tmp_path / "ring8" / "checkpoint"))
    sog.train(second, tmp_path / "ring9", rounds=1)
    begun = load_network(tmp_path / "ring8" / "checkpoint", None)[1].arrays()
    went_on = load_network(tmp_path / "ring9" / "checkpoint", None)[1]
    assert load_meta(tmp_path / "ring9" / "checkpoint").shape.game == "scotland_yard(map=ring9)"
    assert all(np.array_equal(weight, went_on.arrays()[name]) for name, weight in begun.items())  # no step yet
    other = sog.Run("leduc_poker", begins=str(tmp_path / "ring8" / "checkpoint"))
    with pytest.raises((CheckpointError, SettingError)):
        sog.train(other, tmp_path / "leduc", rounds=1)


def test_a_training_step_may_compute_its_layers_in_16_bits(tmp_path: Path) -> None:
    small = "sog(bfloat16=true,batch=4,games=2,simulations=2,network=1x8)"
    assert sog.train(sog.Run(RING, algorithm=small), tmp_path / "ring8", rounds=3).steps > 0


def test_nature_and_every_player_are_answered() -> None:
    game = chase()
    public = PublicTree(game)
    assert game.actor(game.root()) == NATURE
    values = answers(random_network(game), encoded(game, [public.states[0]]))  # type: ignore[list-item]
    assert np.isfinite(values).all()


def test_a_network_of_one_map_plays_every_other(tmp_path: Path) -> None:
    sog.train(sog.Run(RING, algorithm="sog(simulations=4,games=2,network=1x8)"), tmp_path, rounds=1)
    opened = open_network(str(tmp_path), game="scotland_yard(map=ring9)")
    assert opened.network.shape.game == "scotland_yard(map=ring9)"
    assert is_for(opened.network.shape, opened.game)
    with pytest.raises(SettingError, match=r"which cannot play scotland_yard\(map=glasses\)"):
        open_network(str(tmp_path), game="scotland_yard(map=glasses)")
    found = sog.search(
        sog.Rooted(chase("scotland_yard(map=ring9)"), states_of(chase("scotland_yard(map=ring9)"), 1)[0]),
        sog.Budget(4, 1.0),
        leaves=tmp_path,
    )
    assert np.isfinite(found.policy).all()
