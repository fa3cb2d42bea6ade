"""Locked decisions of hold'em spots: what the others' best answer is then, and files of locks read and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sog.arrays import Float64
from sog.errors import CheckpointError, SettingError
from sog.games.holdem.cards import live_hands
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.holdem.lines import follow
from sog.games.holdem.ranges import parse_range
from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game
from sog.searches.holdem.locks import FREE, SpotLock, locked_at, read_locks, same_locks
from sog.searches.holdem.saved import load, save
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.holdem.trees import DECISION
from sog.searches.holdem.view import view, views
from tests.searches.test_holdem_solver import POLARISED, RIVER, TURN, TWINS, BestResponse

BITS = pytest.mark.parametrize("bits", [32, 16])
ALL_IN = {"line": "", "hands": {"full": {"bet allin": 1}}}
AA, NOTHING = parse_range("AA") > 0, parse_range("KQo") > 0


def game(text: str) -> Holdem:
    return holdem_from(parse_game(text)[1])


def locks(text: str, *entries: dict[str, Any]) -> tuple[SpotLock, ...]:
    return read_locks(game(text), json.dumps(entries).encode())


def locked(text: str, *entries: dict[str, Any], threads: int = 1, bits: int = 32) -> HoldemSolver:
    return HoldemSolver(game(text), threads, bits=bits, locks=locks(text, *entries))


class LockedResponse(BestResponse):
    """What a best response earns that keeps to the locked decisions, by plain recursion."""

    def below(self, s: HoldemState, p: int, reach: Float64) -> Float64:
        lock = locked_at(self.solver.program.locks, s)
        if lock is None or self.game.actor(s) != p:
            return super().below(s, p, reach)
        children = [c for c in self.game.fan(s).children if isinstance(c, HoldemState)]
        values = np.array([self.below(c, p, reach) for c in children])
        own, fixed = lock.policy[:, self.hands[p]], lock.hands[self.hands[p]]
        found: Float64 = np.where(fixed, (own * values).sum(axis=0), values.max(axis=0))
        return found


@BITS
def test_jacks_call_less_where_bluffs_are_locked_rarer(bits: int) -> None:
    """Aces always bet the pot; with fewer than one bluff to two values jacks fold, with more they call."""
    for bluffs, calls in ((0.2, 0.0), (0.3, 1.0)):
        solver = locked(
            POLARISED,
            {"line": "", "hands": {"AA": {"bet allin": 1}, "KQo": {"check": 1 - bluffs, "bet allin": bluffs}}},
            bits=bits,
        )
        assert solver.solve(1e-5, 400).of_pot < 1e-4
        answer = solver.policy(follow(solver.game, "bet allin"))[:, parse_range("JJ") > 0]
        assert answer[1] == pytest.approx(calls, abs=0.01)
        root = solver.policy(solver.game.root())
        assert (
            (root[2, AA] == 1).all() and (root[2, NOTHING] == bluffs).all() and (root[0, NOTHING] == 1 - bluffs).all()
        )


def test_who_always_bets_all_in_is_called() -> None:
    """Twelve times nothing and six times aces: jacks win (12 * 1,500 - 6 * 1,500) / 18 = 500 chips of the middle."""
    solver = locked(POLARISED, ALL_IN)
    solver.solve(1e-6, 400)
    assert solver.policy(follow(solver.game, "bet allin"))[1, parse_range("JJ") > 0] == pytest.approx(1, abs=1e-3)
    solver.evaluate()
    assert solver.chips(1) == pytest.approx(500, abs=1) and solver.chips(0) == pytest.approx(-500, abs=1)


@BITS
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (RIVER, ""),
        (RIVER, "bet 0.5"),
        (RIVER, "check, bet 1.0"),
        (TURN, "check"),
        (TURN, "check, check, 5h"),
        (TURN, "check, check, any, check"),
    ],
)
def test_best_responses_keep_to_what_is_locked(text: str, line: str, bits: int) -> None:
    """Half of the range locked, at the top, below it, and on rivers."""
    action = "call" if line.rpartition(", ")[2].startswith("bet") else "check"
    bet = "raise to allin" if action == "call" else "bet allin"
    hands = {"AA,JJ,T9s": {action: 0.3, bet: 0.7}}
    solver = locked(text, {"line": line, "hands": hands}, bits=bits)
    solver.iterate(7)
    plain = LockedResponse(solver)
    expected = [plain.value(p) for p in (0, 1)]
    assert solver.best_responses() == pytest.approx(expected, rel=2e-4, abs=1e-3)
    free = HoldemSolver(solver.game, bits=bits)
    free.iterate(7)
    assert max(np.abs(np.subtract(free.best_responses(), expected))) > 0.1


def decisions(solver: HoldemSolver, player: int) -> list[dict[str, Any]]:
    """Every decision of a player as `sog show --json` prints it."""
    out = []
    for seen in views(solver, solver.game.root()):
        if seen.actor == player and seen.reach.any():
            rows = [{"hand": h, "weight": w, "policy": policy} for h, w, policy in seen.hands()]
            shown = {"state": solver.game.state_name(seen.state), "player": player, "actions": list(seen.actions)}
            out.append(json.loads(json.dumps({**shown, "hands": rows})))
    return out


@pytest.mark.parametrize("text", [TURN, TWINS])
def test_what_a_turn_spot_shows_is_read_back(text: str) -> None:
    """Every decision, on the turn and on every river."""
    free = HoldemSolver(game(text))
    free.iterate(5)
    shown = decisions(free, 0) + decisions(free, 1)
    found = locks(text, *shown)
    assert len(found) == len(shown) > 96
    for lock in found:
        seen = view(free, lock.state)
        assert np.array_equal(seen.reach > 0, lock.hands)
        assert np.array_equal(seen.policy[:, lock.hands], lock.policy[:, lock.hands])


def test_views_are_all_decisions_with_every_card() -> None:
    """Of boards that are not solved themselves, too; no hand shares a card with its board."""
    solver = HoldemSolver(game(TWINS))
    solver.iterate(5)
    found = list(views(solver, solver.game.root()))
    assert len({seen.state for seen in found}) == len(found)
    nodes = [seen.state for seen in found if len(seen.state.board) == 4]
    rivers = [seen for seen in found if len(seen.state.board) == 5]
    assert len(solver.program.boards.cards) < 48 and len({seen.state.board[-1] for seen in rivers}) == 48
    in_tree = solver.tables.nodes.kind == DECISION
    top = int(solver.tables.forests.nodes[1])
    assert len(nodes) == np.count_nonzero(in_tree[:top]) and len(rivers) == 48 * np.count_nonzero(in_tree[top:])
    for seen in (found[0], rivers[0], rivers[-1]):
        again = view(solver, seen.state)
        assert np.array_equal(again.reach, seen.reach) and np.array_equal(again.policy, seen.policy)
        assert not seen.reach[~live_hands(seen.state.board)].any()
    below = list(views(solver, follow(solver.game, "check, check, 5h, check")))
    assert below and all(seen.state.line[:3] == (1, 1, 1) and seen.state.board[-1] == 14 for seen in below)


@pytest.mark.parametrize("player", [0, 1])
def test_an_equilibrium_that_is_locked_keeps_the_value(player: int) -> None:
    free = HoldemSolver(game(RIVER))
    assert free.solve(1e-5, 4_000, every=100).of_pot <= 1e-5
    free.evaluate()
    fixed = locked(RIVER, *decisions(free, player))
    assert fixed.solve(1e-5, 4_000, every=100).of_pot <= 1e-5
    fixed.evaluate()
    # A hundred-thousandth of a pot of 1,000 on either side.
    assert fixed.chips(player) == pytest.approx(free.chips(player), abs=0.03)
    for lock in fixed.program.locks:
        assert np.array_equal(view(fixed, lock.state).policy[:, lock.hands], lock.policy[:, lock.hands])
        assert np.array_equal(free.policy(lock.state)[:, lock.hands], lock.policy[:, lock.hands])


def test_only_the_hands_that_are_named_are_locked() -> None:
    """A third is 0.3333333333333333 in the file, in the policy and in the view."""
    third = {"check": 1 / 3, "bet 0.5": 1 / 3, "bet 1.0": 1 / 3}
    solver = locked(RIVER, {"line": "", "hands": {"KQ": third, "KQs": {"check": 1}}})
    solver.iterate(20)
    (lock,), policy = solver.program.locks, solver.policy(solver.game.root())
    in_range, spades = solver.game.root_ranges()[0] > 0, parse_range("KQo") > 0
    assert np.array_equal(lock.hands, (parse_range("KQ") > 0) & in_range)
    assert (policy[:3, spades & in_range] == 1 / 3).all() and (policy[3, spades & in_range] == 0).all()
    assert (policy[0, (parse_range("KQs") > 0) & in_range] == 1).all()
    assert (lock.policy[:, AA] == FREE).all() and policy[:, AA].sum(axis=0) == pytest.approx(np.ones(6))


@pytest.mark.parametrize(("text", "line"), [(RIVER, "check"), (TWINS, "check"), (TWINS, "check, check, any")])
def test_locked_spots_give_the_same_bits_with_any_number_of_threads(text: str, line: str) -> None:
    entry = {"line": line, "hands": {"full": {"check": 0.6, "bet 1": 0.4}}}
    alone, together = locked(text, entry), locked(text, entry, threads=2)
    for solver in (alone, together):
        solver.iterate(4)
    assert alone.best_responses() == together.best_responses()
    s = follow(alone.game, "check, bet 1")
    assert np.array_equal(alone.policy(s), together.policy(s))


def test_suits_that_a_lock_tells_apart_are_solved_by_themselves() -> None:
    """A lock of all hands on every river leaves twins twins; one card, or one hand, does not."""
    check = {"full": {"check": 1}}
    twins = len(HoldemSolver(game(TWINS)).program.boards.cards)
    every = locked(TWINS, {"line": "check, check, any", "hands": check})
    assert len(every.program.boards.cards) == twins < 48
    one = locked(TWINS, {"line": "check, check, 5h", "hands": check})
    hand = locked(TWINS, {"line": "", "hands": {"KcQc": {"check": 1}}})
    assert len(one.program.boards.cards) > twins < len(hand.program.boards.cards)
    # With every board by itself the same values come out.
    apart = locked(TWINS.replace("76", "76,3c4c:0.000001"), {"line": "check, check, any", "hands": check})
    assert len(apart.program.boards.cards) > twins
    for solver in (every, apart, one):
        solver.iterate(30)
    assert every.progress().exploitability == pytest.approx(apart.progress().exploitability, rel=1e-2)
    assert (every.policy(follow(every.game, "check, check, 5c"))[0, AA] == 1).all()
    assert (one.policy(follow(one.game, "check, check, 5h"))[0, AA] == 1).all()
    assert (one.policy(follow(one.game, "check, check, 5c"))[0, AA] < 1).any()


def test_a_locked_spot_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "spot.npz"
    straight, stopped = locked(RIVER, ALL_IN), locked(RIVER, ALL_IN)
    straight.iterate(30)
    stopped.iterate(10)
    save(stopped, stopped.progress(), path)
    resumed, progress = load(path)
    assert progress == stopped.progress() and same_locks(resumed.program.locks, stopped.program.locks)
    assert not same_locks(resumed.program.locks, ()) and not same_locks((), resumed.program.locks)
    resumed.iterate(20)
    assert np.array_equal(resumed.averages, straight.averages)
    with np.load(path) as saved:
        arrays = dict(saved)
    assert arrays["version"] == 3  # a program without locks would show other policies
    doubled = np.where(arrays["locked_policies"] == FREE, FREE, 2 * arrays["locked_policies"])
    for changed in (
        {"locked_policies": doubled},
        {"locked_policies": arrays["locked_policies"][1:]},
        {"locked_policies": np.repeat(arrays["locked_policies"], 2, axis=0)},
        {"locked_policies": np.full_like(arrays["locked_policies"], np.nan)},
        {"locked_states": np.array(["board 2s2h7d9cKs, check, check"])},
        {"locked_states": np.array(["board 2s2h7d9cKd"])},
        {"version": np.int64(2)},
    ):
        np.savez(path, **(arrays | changed))
        with pytest.raises((CheckpointError, SettingError)):
            load(path)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"line": "", "hands": {"full": {"check": 0.5}}}, "are 0.5 in all, and not 1"),
        ({"line": "", "hands": {"AA": {"check": 0.5, "bet 1": 0.5001}}}, "are 1.0001 in all"),
        ({"line": "", "hands": {"AA": {"check": -1, "bet 1": 2}}}, "a number from 0 to 1, not -1"),
        ({"line": "", "hands": {"AA": {"check": "1"}}}, "a number from 0 to 1, not '1'"),
        ({"line": "", "hands": {"AA": {"check": True}}}, "a number from 0 to 1, not True"),
        ({"line": "", "hands": {"AA": {"check": float("nan")}}}, "it is not JSON"),
        ({"line": "", "hands": {"JJ": {"check": 1}}}, "player 0 has no hand of 'JJ' at board 2s2h7d9cKs"),
        ({"line": "check", "hands": {"AA": {"check": 1}}}, "player 1 has no hand of 'AA'"),
        ({"line": "", "hands": {"KsQs": {"check": 1}}}, "player 0 has no hand of 'KsQs'"),
        ({"line": "", "hands": {"AA:0.5": {"check": 1}}}, "'AA:0.5' has weights"),
        ({"line": "", "hands": {"AX": {"check": 1}}}, "no hands are called 'AX'"),
        ({"line": "", "hands": {"AA": {"call": 1}}}, "no action 'call'"),
        ({"line": "", "hands": {"AA": {"bet 1": 0.5, "bet 1000": 0.5}}}, "has the action 'bet 1000' twice"),
        ({"line": "", "hands": {}}, "names no hand"),
        ({"line": "", "hands": 3}, '"hands" is'),
        ({"line": "", "hands": {"AA": [1.0]}}, 'in the order of "actions"'),
        ({"line": "", "actions": ["check", "check"], "hands": {"AA": [0.5, 0.5]}}, "an action twice"),
        ({"line": "", "player": 1, "hands": {"AA": {"check": 1}}}, "player 0 decides at board 2s2h7d9cKs, not 1"),
        ({"line": "bet 0.3", "hands": {"full": {"fold": 1}}}, "no action 'bet 0.3'"),
        ({"line": "check, check", "hands": {"full": {"check": 1}}}, "nobody decides at"),
        ({"line": "any", "hands": {"full": {"check": 1}}}, "no action 'any'"),
        ({"state": "board 2s2h7d9cKd, check", "hands": {"full": {"check": 1}}}, "is not on the board 2s2h7d9cKs"),
        ({"state": "board 2s2h7d9cKs5h, check", "hands": {"full": {"check": 1}}}, "are not those of its board"),
        ({"state": "check", "line": "check", "hands": {"full": {"check": 1}}}, 'either a "line" or a "state"'),
        ({"hands": {"full": {"check": 1}}}, 'either a "line" or a "state"'),
        ({"line": 3, "hands": {"full": {"check": 1}}}, 'either a "line" or a "state"'),
        ({"line": ""}, 'a decision is {"line"'),
    ],
)
def test_locks_that_cannot_be(entry: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError) as refused:
        locks(RIVER, {"line": "", "hands": {"full": {"check": 1}}}, entry)
    message = str(refused.value)
    assert said in message and "\n" not in message
    assert message.startswith("decision 2: ") or "JSON" in message


@pytest.mark.parametrize("content", [b"", b"[]", b"3", b"[[]]", b"{", b"[" * 100_000, b'{"line": "\xff"}', b"null"])
def test_files_that_are_no_locks(content: bytes) -> None:
    with pytest.raises(SettingError):
        read_locks(game(RIVER), content)


def test_locked_rivers_are_saved(tmp_path: Path) -> None:
    path = tmp_path / "spot.npz"
    fixed = locked(TWINS, {"line": "check, check, any", "hands": {"full": {"check": 1}}})
    fixed.iterate(5)
    save(fixed, fixed.progress(), path)
    loaded, progress = load(path)
    assert same_locks(loaded.program.locks, fixed.program.locks) and len(loaded.program.locks) == 48
    assert loaded.progress() == progress


def test_a_river_card_that_blocks_an_entry_leaves_the_others() -> None:
    found = locks(TURN, {"line": "check, check, any", "hands": {"QhJh": {"check": 1}}})
    by_card = {lock.state.board[-1]: int(lock.hands.sum()) for lock in found}
    assert len(by_card) == 48 and sorted(by_card.values()) == [0, 0] + 46 * [1]
    with pytest.raises(SettingError, match="player 0 has no hand of 'QhJh'"):
        locks(TURN, {"line": "check, check, Jh", "hands": {"QhJh": {"check": 1}}})


def test_memory_counts_the_locks() -> None:
    free, fixed = HoldemSolver(game(RIVER)), locked(RIVER, ALL_IN)
    assert fixed.program.memory(1) - free.program.memory(1) >= fixed.tables.locks.policies.nbytes


def test_a_state_is_read_by_its_name_of_now_and_of_earlier_versions() -> None:
    """Files of earlier versions leave out the river card where no action follows it."""
    state = follow(game(TURN), "check, check, 5h")
    name = game(TURN).state_name(state)
    for words in (name, name.removesuffix(", 5h")):
        (lock,) = locks(TURN, {"state": words, "hands": {"full": {"check": 1}}})
        assert lock.state == state and name.endswith(", check, check, 5h")
