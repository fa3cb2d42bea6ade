"""The hold'em solver against plain numpy over the game's own rules, and spots with known answers."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from sog.arrays import Float64
from sog.errors import CheckpointError, GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.catalog import make_game
from sog.games.holdem.cards import HIGH, LOW, live_hands
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.holdem.lines import follow
from sog.games.holdem.operator import SHOWDOWN, CardOperator
from sog.games.holdem.ranges import parse_range
from sog.games.holdem.strength import ladder
from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game
from sog.searches.cfr.rules import DCFR, SOG
from sog.searches.holdem.program import make_program
from sog.searches.holdem.saved import load, save
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.holdem.trees import DECISION
from sog.searches.holdem.view import view

RANGES = 'range0="AA,KQ:0.5,76s,QhJh",range1="JJ,AQo,T9s:0.3,KsTs,44"'
RIVER = f"holdem(board=2s2h7d9cKs,pot=1000,stacks=4000,bets=0.5;1.0;allin,{RANGES})"
TURN = f"holdem(board=2s2h7d9c,pot=1000,stacks=2000,bets=1.0;allin,{RANGES})"
TWINS = 'holdem(board=2s7s9sKs,pot=1000,stacks=1500,bets=1.0,range0="AA,KQ:0.5,76",range1="JJ,AQ,T9:0.3")'

POLARISED = 'holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1.0;allin,range0="AA,KQo",range1="JJ")'


def game(text: str) -> Holdem:
    return holdem_from(parse_game(text)[1])


class BestResponse:
    """What a best response earns, by recursion over public states and matrices of the hands in play."""

    def __init__(self, solver: HoldemSolver) -> None:
        self.solver, self.game = solver, solver.game
        self.ranges = self.game.root_ranges()
        self.hands = [np.flatnonzero(r) for r in self.ranges]
        low, high = ([side[h] for h in self.hands] for side in (LOW, HIGH))
        meets = [a[0][:, None] == a[1][None, :] for a in (low, high, (low[0], high[1]), (high[0], low[1]))]
        self.apart = ~np.any(meets, axis=0)
        self.ladders: dict[tuple[int, ...], Float64] = {}

    def value(self, p: int) -> float:
        mine, theirs = (self.ranges[k][self.hands[k]] for k in (p, 1 - p))
        values = self.below(self.game.root(), p, theirs)
        pairs = self.ranges[0][self.hands[0]] @ self.apart @ self.ranges[1][self.hands[1]]
        return float(values @ mine / pairs)

    def matrix(self, s: HoldemState) -> Float64:
        """Player 0's utility for every pair at a terminal, chance from the root on included."""
        payoff = self.game.payoff(s)
        assert isinstance(payoff.operator, CardOperator)
        if s.board not in self.ladders:
            live = live_hands(s.board)
            both = self.apart * live[self.hands[0]][:, None] * live[self.hands[1]][None, :]
            self.ladders[s.board] = both
            if len(s.board) == 5:
                place = ladder(s.board).places()
                sign = np.sign(place[self.hands[0]][:, None] - place[self.hands[1]][None, :])
                self.ladders[(*s.board, -1)] = both * sign
        key = (*s.board, -1) if payoff.operator.kind == SHOWDOWN else s.board
        return self.ladders[key] * (payoff.scale / self.game.weights(self.game.root()).scale)

    def below(self, s: HoldemState, p: int, reach: Float64) -> Float64:
        actor = self.game.actor(s)
        if actor == TERMINAL:
            matrix = self.matrix(s)
            return matrix @ reach if p == 0 else -(reach @ matrix)
        children = [c for c in self.game.fan(s).children if isinstance(c, HoldemState)]
        if actor in (p, NATURE):
            values = np.array([self.below(c, p, reach) for c in children])
            total: Float64 = values.max(axis=0) if actor == p else values.sum(axis=0)
            return total
        policy = self.solver.policy(s)[:, self.hands[1 - p]]
        total = sum((self.below(c, p, reach * row) for c, row in zip(children, policy, strict=True)), np.zeros(1))
        return total


@pytest.mark.parametrize("text", [RIVER, TURN, TWINS])
def test_best_responses_equal_plain_recursion(text: str) -> None:
    solver = HoldemSolver(game(text))
    solver.iterate(3)
    plain = BestResponse(solver)
    expected = [plain.value(p) for p in (0, 1)]
    assert solver.best_responses() == pytest.approx(expected, rel=2e-4, abs=1e-3)


class PlainDcfr(BestResponse):
    """Alternating DCFR by recursion: the opponent's average grows on the way down, regrets on the way up."""

    def __init__(self, solver: HoldemSolver) -> None:
        super().__init__(solver)
        self.regrets: dict[HoldemState, Float64] = {}
        self.averages: dict[HoldemState, Float64] = {}

    def iterate(self, count: int) -> None:
        for self.step in DCFR.steps(1, count):
            for p in (0, 1):
                self.sweep(self.game.root(), p, self.ranges[1 - p][self.hands[1 - p]])

    def policy(self, s: HoldemState, actions: int, actor: int) -> Float64:
        positive = np.maximum(self.regrets.setdefault(s, np.zeros((actions, len(self.hands[actor])))), 0)
        total = positive.sum(axis=0)
        policy: Float64 = np.where(total > 0, positive / np.maximum(total, 1e-30), 1 / actions)
        return policy

    def sweep(self, s: HoldemState, p: int, reach: Float64) -> Float64:
        actor = self.game.actor(s)
        if actor == TERMINAL:
            matrix = self.matrix(s)
            return matrix @ reach if p == 0 else -(reach @ matrix)
        children = [c for c in self.game.fan(s).children if isinstance(c, HoldemState)]
        policy = self.policy(s, len(children), actor)
        if actor != p:
            self.averages[s] = self.averages.get(s, 0) + self.step[2] * reach * policy
            below = (self.sweep(c, p, reach * row) for c, row in zip(children, policy, strict=True))
            return np.sum(list(below), axis=0)  # type: ignore[no-any-return]
        values = np.array([self.sweep(c, p, reach) for c in children])
        value: Float64 = (values * policy).sum(axis=0)
        regret = self.regrets[s] + values - value
        self.regrets[s] = regret * np.where(regret > 0, self.step[0], self.step[1])
        return value


def test_iterations_equal_plain_dcfr() -> None:
    solver = HoldemSolver(game(RIVER))
    plain = PlainDcfr(solver)
    solver.iterate(6)
    plain.iterate(6)
    assert len(plain.averages) == np.count_nonzero(solver.tables.nodes.kind == DECISION)
    for s, average in plain.averages.items():
        hands, total = plain.hands[solver.game.actor(s)], average.sum(axis=0)
        reached = total > 1e-4 * total.max()
        expected = average[:, reached] / total[reached]
        assert np.allclose(solver.policy(s)[:, hands[reached]], expected, atol=2e-3)


def test_kernels_are_compiled_once_for_every_spot() -> None:
    """Also the layout of each array in memory is part of its type."""
    spots = [(text, threads) for text in (RIVER, TURN, TWINS) for threads in (1, 3)]
    kinds = {str(numba.typeof(HoldemSolver(game(text), threads).tables)) for text, threads in spots}
    assert len(kinds) == 1


def test_a_thread_that_cannot_be_started_leaves_none_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others would wait for it for ever; nothing is solved, and the solver can be used again."""
    solver, start, started = HoldemSolver(game(RIVER), 3), threading.Thread.start, []

    def refuses(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuses)
    with pytest.raises(RuntimeError, match="can't start"):
        solver.iterate(1)
    monkeypatch.undo()
    started[0].join(timeout=60)
    assert not started[0].is_alive()
    solver.iterate(1)


@pytest.mark.parametrize("text", [RIVER, TWINS])
def test_threads_give_the_same_bits(text: str) -> None:
    alone, together = HoldemSolver(game(text), 1), HoldemSolver(game(text), 2)
    for solver in (alone, together):
        solver.iterate(4)
    assert alone.best_responses() == together.best_responses()
    s = alone.game.root()
    while alone.game.actor(s) < NATURE:
        assert np.array_equal(alone.policy(s), together.policy(s))
        s = alone.game.after(s, int(alone.game.actions(s)[-1]))


def test_twin_suits_are_solved_once_and_change_nothing() -> None:
    solver = HoldemSolver(game(TWINS))
    assert len(solver.program.boards.cards) == 9 + 13
    # a hand that only one suit may hold keeps the suits apart
    other = HoldemSolver(game(TWINS.replace("76", "76,3c4c:0.000001")))
    assert len(other.program.boards.cards) == 9 + 2 * 13
    for s in (solver, other):
        s.iterate(30)
    assert solver.progress().exploitability == pytest.approx(other.progress().exploitability, rel=1e-2)
    a, b = (s.policy(follow(s.game, "check, check, 5h")) for s in (solver, other))
    in_range = solver.game.root_ranges()[0] > 0
    assert np.allclose(a[:, in_range], b[:, in_range], atol=1e-2)


def test_polarised_range_against_a_bluff_catcher() -> None:
    """Aces and nothing against jacks: a pot-sized bet holds one bluff in three and is called half the time."""
    solver = HoldemSolver(
        game('holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1.0;allin,range0="AA,KQo",range1="JJ")')
    )
    solver.solve(1e-5, 4000, every=100)
    first = view(solver, solver.game.root())
    all_in = dict(zip(first.actions, first.policy, strict=True))["bet 1000 (allin)"]
    aces, nothing = (parse_range(text) > 0 for text in ("AA", "KQo"))
    assert all_in[aces].mean() == pytest.approx(1.0, abs=0.005)
    assert all_in[nothing].mean() == pytest.approx(0.25, abs=0.005)
    answer = view(solver, follow(solver.game, "bet allin"))
    assert answer.frequencies == pytest.approx([0.5, 0.5], abs=0.005)


@pytest.mark.parametrize("weight", [1e-37, 1e-41, 1e-44])
def test_hands_that_hardly_ever_come_make_no_nan(weight: float) -> None:
    """Sums of such weights are so small in float32 that one over them is infinite."""
    spot = game("holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;allin)")
    first, second = spot.root_ranges()
    rare = np.where(np.arange(len(first)) % 3 == 0, first * weight, first)
    solver = HoldemSolver(spot, states=[spot.root()])
    solver.set_ranges(0, (rare, second))
    solver.iterate(50)
    policy = solver.policy(spot.root())
    assert policy.sum(axis=0) == pytest.approx(1.0) and (policy >= 0).all()
    # As where they never come.
    solver.evaluate()
    best = solver.best_responses()
    never = HoldemSolver(spot, states=[spot.root()])
    never.set_ranges(0, (np.where(rare < first, 0.0, first), second))
    never.iterate(50)
    never.evaluate()
    assert best == pytest.approx(never.best_responses(), rel=1e-4)


def test_a_solve_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "spot.npz"
    straight, stopped = HoldemSolver(game(RIVER)), HoldemSolver(game(RIVER))
    straight.iterate(30)
    stopped.iterate(10)
    save(stopped, stopped.progress(), path)
    resumed, progress = load(path)
    assert progress == stopped.progress()
    resumed.iterate(20)
    assert np.array_equal(resumed.averages, straight.averages)
    for broken in (b"", b"no such thing", path.read_bytes()[:5000]):
        path.write_bytes(broken)
        with pytest.raises(CheckpointError):
            load(path)


@pytest.mark.parametrize(
    "changed",
    [
        {"river_shapes": np.int64(0)},
        {"iterations": np.int64(-1)},
        {"exploitability": np.float64("nan")},
        {"averages": np.zeros(1, dtype=np.float32)},
        {"regrets": np.float32("nan")},
    ],
)
def test_a_forged_spot_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    path, solver = tmp_path / "spot.npz", HoldemSolver(game(RIVER))
    save(solver, solver.progress(), path)
    with np.load(path) as saved:
        arrays = dict(saved)
    if np.ndim(changed.get("regrets", [])) == 0:
        changed = {"regrets": np.full_like(arrays["regrets"], changed["regrets"])}
    np.savez(path, **(arrays | changed))
    with pytest.raises(CheckpointError, match=r"is damaged|does not fit"):
        load(path)


def test_no_single_bit_of_a_spots_headers_is_a_fault_of_ours(tmp_path: Path) -> None:
    path, solver = tmp_path / "spot.npz", HoldemSolver(game(RIVER))
    save(solver, solver.progress(), path)
    whole = path.read_bytes()
    names = [whole.rindex(name) for name in (b"version.npy", b"game.npy", b"regrets.npy")]
    heads = [at for name in names for at in range(name - 46, name, 3)]
    first = whole.index(b"{'descr'")
    for at in [*heads, *range(first, first + 60, 2)]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with suppress(CheckpointError, GameError):
            load(path)


def test_a_view_adds_up() -> None:
    solver = HoldemSolver(game(TURN))
    solver.iterate(20)
    seen = view(solver, follow(solver.game, "check, bet 1, call, 5h"))
    assert np.allclose(seen.policy.sum(axis=0), 1.0)
    weight, taken = seen.grid()
    assert taken.shape == (len(seen.actions), 13, 13)
    assert np.allclose(taken.sum(axis=0)[weight > 0], 1.0)
    assert weight[0, 0] > 0 and weight[5, 5] == 0  # aces are in the range, nines are not
    assert seen.frequencies.sum() == pytest.approx(1.0)
    assert {name[:1] for name, _, _ in seen.hands()} <= set("AKQ7")
    board = {"2s", "2h", "7d", "9c", "5h"}
    assert not any(board & {name[:2], name[2:]} for name, _, _ in seen.hands())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("call", "no action 'call'"),
        ("check, check, 2s", "a new board card comes next"),
        ("bet 0.3", "no action 'bet 0.3'"),
        ("bet 1, fold, check", "the hand is over"),
        ("check, check, 5h6h", "a new board card comes next"),
    ],
)
def test_lines_that_cannot_be_played(line: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        follow(game(TURN), line)


def test_refusals() -> None:
    with pytest.raises(GameError, match="river and turn spots"):
        HoldemSolver(game("holdem(stacks=1000)"))
    with pytest.raises(GameError, match="bets=any"):
        HoldemSolver(game("holdem(board=2s2h7d9cKs,pot=1000,bets=any)"))
    with pytest.raises(GameError, match=r"takes 0\.004\d* GB, and 0\.004 GB may be used"):
        HoldemSolver(game("holdem(board=2s2h7d9cKs,pot=1000)"), memory_limit=4 * 10**6)
    with pytest.raises(GameError, match="alternating"):
        HoldemSolver(game(RIVER)).iterate(1, SOG)


def test_trees_that_fit_nowhere_are_refused_before_they_are_whole() -> None:
    many = "0.1;0.2;0.3;0.4;0.5;0.6;0.7;0.8;0.9;1;1.5;2;3"
    with pytest.raises(GameError, match="more than the 2,872 river actions that memory is free for"):
        HoldemSolver(game(f"holdem(board=2s2h7d9cKs,pot=10,bets={many})"), memory_limit=25 * 10**6)


@pytest.mark.parametrize("bets", ["0.5;1.0;allin", "0.3;0.6;1.5;3;allin"])
def test_river_pieces_are_few_and_balanced(bets: str) -> None:
    full = game(f"holdem(board=2s2h7d9cKs,pot=1000,stacks=20000,bets={bets})")
    for threads in (2, 3, 4):
        forests = HoldemSolver(full, threads).program.forests
        nodes = [len(f.nodes.kind) for f in forests]
        assert len(forests) == threads and sum(len(f.roots) for f in forests) <= 16 * threads
        assert max(nodes) * threads <= 1.2 * sum(nodes)


@pytest.mark.parametrize(
    "text",
    [
        "holdem(board=2s2h7d9cKs,pot=1000,stacks=1,bets=1)",
        'holdem(board=2s2h7d9cKs,pot=1001,stacks=1000;400,bets=0.3;0.6;1.5;3;9;allin,range0="AsAh",range1="KhKd")',
        'holdem(board=2s2h7d9c,pot=10,stacks=150,bets=allin,range0="AsAh,3c4c",range1="KhKd")',
    ],
)
def test_small_and_lopsided_spots(text: str) -> None:
    solver = HoldemSolver(game(text))
    solver.iterate(200)
    assert 0 <= solver.progress().exploitability < 0.01 * solver.game.u_max


def test_a_tree_too_deep_is_refused_in_one_line() -> None:
    game = make_game("holdem(board=2s2h2d7c9c,pot=2,stacks=5000,blinds=1;1,bets=0.001)")
    assert isinstance(game, Holdem)
    with pytest.raises(GameError, match="too many raises in a row"):
        make_program(game, 1, 2**33)
