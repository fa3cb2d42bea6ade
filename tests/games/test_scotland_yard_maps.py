"""Scotland Yard's small maps have their values, and random London games keep what every game must keep."""

from __future__ import annotations

import numpy as np
import pytest

from sog.games.base import NATURE, TERMINAL, step
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import Chase, ScotlandYard
from sog.measure.exploitability import exploitability
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.cfr.rules import DCFR
from sog.searches.gtcfr.settings import Budget
from sog.searches.tree.public_tree import PublicTree

# Mr X's value and how many public states there are.
SMALL = {"ring8": (-1 / 2, 5858), "ring9": (1 / 3, 11906), "ring12": (0.0, 5118)}


def game(text: str) -> ScotlandYard:
    made = make_game(f"scotland_yard({text})")
    assert isinstance(made, ScotlandYard)
    return made


def chase(s: object) -> Chase:
    assert isinstance(s, Chase)
    return s


@pytest.mark.parametrize("name", SMALL)
def test_small_maps_have_their_values(name: str) -> None:
    """By 400 iterations of DCFR: within 0.01, as far as the solution is exploitable."""
    value, states = SMALL[name]
    public = PublicTree(game(f"map={name}")).list_all()
    found = exact.measure(exact.solve(public, DCFR, 400))
    print(f"{name}: value {found.value:.4f}, exploitability {found.exploitability:.4f}")
    assert public.size == states
    assert -found.best[1] <= value + 1e-6 and value - 1e-6 <= found.best[0]  # whatever the iterations
    assert found.value == pytest.approx(value, abs=0.01) and found.exploitability < 0.01


@pytest.mark.parametrize("name", ["ring8", "ring9"])  # ring12 takes many minutes
def test_searches_on_small_maps_are_close_to_an_equilibrium(name: str) -> None:
    """At (100, 1) with leaves that five iterations of DCFR have solved; random moves lose about 0.85."""
    public = PublicTree(game(f"map={name}")).list_all()
    found = exploitability(public, ResolveSettings(Budget(100, 1.0)), exact.ExactEvaluator(5), 0)
    print(f"{name}: (100,1) {found:.4f}")
    assert -1e-9 <= found < 0.1


def test_appendix_d_of_player_of_games() -> None:
    """Mr X on 63, detectives on 65, 67, 79, 82 and 111: taxi to 48, 64, 80, bus to 34, 100."""
    g = game("map=london,start=63;65;67;79;82;111")
    names = {g.action_name(g.root(), int(a)) for a in g.actions(g.root())}
    assert {name for name in names if name.startswith("taxi")} == {"taxi to 48", "taxi to 64", "taxi to 80"}
    assert {name for name in names if name.startswith("bus")} == {"bus to 34", "bus to 100"}
    assert not [name for name in names if name.startswith("underground")]


@pytest.mark.parametrize("count", [200, pytest.param(1_000, id="many")])
def test_random_games_keep_what_every_game_must(count: int) -> None:
    """Tickets are none below 0 and the detectives' go to Mr X; stations are apart; he is where he can be; games end."""
    g = game("map=london")
    rng = np.random.default_rng(count)
    ends = {"caught": 0, "stuck": 0, "escaped": 0}
    for _ in range(count):
        s, pair = chase(g.root()), (int(rng.integers(18)), 0)
        issued = np.array(g.rules.x_tickets) + 5 * np.array([*g.rules.tickets, 0, 0])
        before, shown = s, 0
        while (actor := g.actor(s)) != TERMINAL:
            _check_state(g, s, pair)
            if actor == NATURE:
                child, *after = g.sample_chance(s, *pair, rng)
                before, s, pair = s, chase(child), (after[0], after[1])
                assert set(s.hidden) <= set(before.hidden)
                continue
            fan = g.fan(s)
            assert fan.moves is not None
            legal = np.flatnonzero(fan.moves.edge[pair[actor]] >= 0)
            assert len(legal)
            edge, pair = step(fan, actor, pair, int(rng.choice(legal)))
            before, s = s, chase(fan.children[edge])
            spent = issued - _tickets(s)
            assert (spent >= 0).all() and (_tickets(before) - _tickets(s) >= 0).all()
            assert (_tickets(before) - _tickets(s)).sum() == (1 if actor == 0 else 0)
            if actor == 0 and s.moved > before.moved and s.moved in g.rules.reveals:
                assert len(s.hidden) == 1
                shown += 1
            assert s.moved - before.moved in (0, 1) and s.moved <= 24
        assert shown == sum(k <= s.moved for k in g.rules.reveals)
        assert g.payoff(s).dense()[pair] == (1 if s.kind == "escaped" else -1) * g.weights(s).dense()[pair]
        if s.kind == "caught":
            assert s.hidden[pair[0]] in s.detectives
        else:
            assert s.hidden[pair[0]] not in s.detectives
        ends[s.kind] += 1
    print(ends)
    assert sum(ends.values()) == count and ends["caught"] and ends["escaped"]


def _tickets(s: Chase) -> np.ndarray:
    """All tickets that are in the game: Mr X's and the detectives'."""
    return np.array(s.x_tickets) + np.array([*np.sum(s.tickets, axis=0), 0, 0])


def _check_state(g: ScotlandYard, s: Chase, pair: tuple[int, int]) -> None:
    assert list(s.hidden) == sorted(set(s.hidden)) and 0 <= pair[0] < len(s.hidden) and pair[1] == 0
    assert min(s.x_tickets) >= 0 and min(min(own) for own in s.tickets) >= 0
    assert len(set(s.detectives)) == len(s.detectives)
    if s.kind == "act":
        assert not set(s.hidden) & set(s.detectives)
