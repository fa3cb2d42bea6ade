"""The solver for river and turn spots of hold'em: every hand, both ranges, alternating DCFR on hand vectors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sog.arrays import Float32, Float64, Int32, Int64
from sog.errors import GameError
from sog.games.holdem.cards import HANDS, disjoint_mass
from sog.games.holdem.game import Holdem, HoldemState
from sog.memory import available_bytes, gigabytes
from sog.searches.cfr.rules import DCFR, Rule
from sog.searches.holdem import sweeps
from sog.searches.holdem.entries import BITS, Entries, decoded, new_entries
from sog.searches.holdem.locks import SpotLock, locked_at
from sog.searches.holdem.payoffs import make_workspace
from sog.searches.holdem.program import Program, make_program
from sog.searches.holdem.sweeps import Crew, Learned, Task, Top
from sog.searches.holdem.tables import Tables, make_tables
from sog.searches.holdem.trees import CUT
from sog.searches.kernels import threads as sync
from sog.searches.kernels.vectors import aligned

__all__ = ["HoldemSolver", "Progress"]

_NO_STEP = np.zeros((1, 3), dtype=np.float32)


@dataclass(frozen=True)
class Progress:
    """Exploitability after this many iterations: in chips, and as a share of the pot at the root."""

    iterations: int
    exploitability: float
    of_pot: float


class HoldemSolver:
    """Regrets and averages of a spot, or of several side by side, and the sweeps over them.

    regrets, averages: float32[program.entries], laid out as `Program.entries` and `Program.entry0` say; with 16 bits
    int16, see `sog.searches.holdem.entries`, with the vectors' scales in `regret_scales` and `average_scales`.
    root_values: float32[2, R * program.top_width], each player's values at the roots after its last sweep.
    ranges: both players' at each root, float64[1326] each; `set_ranges` changes them.
    """

    def __init__(
        self,
        game: Holdem,
        threads: int = 1,
        memory_limit: int | None = None,
        river_forests: int | None = None,
        states: Sequence[HoldemState] | None = None,
        bits: int = 32,
        locks: Sequence[SpotLock] = (),
    ) -> None:
        """Allocates everything a solve needs; GameError where that is more than `memory_limit` bytes.

        memory_limit None: nine tenths of the memory that is free.  river_forests None: as many as threads; it
        decides how `regrets` are laid out and changes no number in them.  states: see `make_program`.
        bits: of regrets and averages, 32 or, in half the memory, 16, which rounds them in every iteration.
        locks: decisions whose policy is fixed. Everything then is of the game in which it is: iterations, policies,
        values, best responses. Regrets and averages of locked hands are written and never followed.
        """
        if bits not in BITS:
            raise GameError(f"holdem: regrets and averages have 32 or 16 bits, not {bits}")
        self.game, self.bits = game, bits
        self.river_forests = threads if river_forests is None else river_forests
        limit = int(0.9 * available_bytes()) if memory_limit is None else memory_limit
        # Refused before anything large is allocated: a tree while it grows, a program by the size of its arrays.
        self.program: Program = make_program(game, self.river_forests, limit, states, bits, locks)
        self.threads = threads
        need = self.program.memory(threads, bits)
        if need > limit:
            raise GameError(f"holdem: solving this spot takes {gigabytes(need)}, and {gigabytes(limit)} may be used")
        self.tables: Tables = make_tables(self.program)
        size = self.program.entries, self.program.vectors, bits
        self._regrets, self._averages = new_entries(*size), new_entries(*size)
        self.regrets, self.regret_scales = self._regrets
        self.averages, self.average_scales = self._averages
        self.iterations = 0
        self.ranges = [game.root_ranges() for _ in self.program.roots]
        self._top = self._make_top()
        self.root_values: Float32 = self._top.root_values
        # One a thread, as large as its largest forest needs, used again part after part.
        self._workspaces = [
            make_workspace(
                max(f.reach_vectors for f in self.program.forests),
                max(f.value_vectors for f in self.program.forests),
                self.program.width,
                max(self.program.width, self.program.top_width),
            )
            for _ in range(threads)
        ]

    def _make_top(self) -> Top:
        """The top's hand vectors, with the players' ranges at the root."""
        program = self.program
        top, width = program.top, program.top_width
        reach = aligned(2 * top.reach_vectors * width).reshape(2, -1)
        for k, both in enumerate(self.ranges):
            for p, weights in enumerate(both):
                self._fill(reach, k, p, weights)
        # Only the roots' reach is filled: sweeps write all else before they read it.
        return Top(
            reach=reach,
            values=aligned(top.value_vectors * width),
            handed=aligned(program.handed_vectors * program.width),
            root_values=aligned(2 * len(program.roots) * width).reshape(2, -1),
        )

    def _fill(self, reach: Float32, root: int, p: int, weights: Float64) -> None:
        """Write player p's range at a root into the top's hand vectors."""
        hands = self.program.top_hands
        at = int(self.program.top.root_reach[p, root]) * self.program.top_width
        reach[p, at : at + len(hands)] = weights[hands]

    def set_ranges(self, root: int, ranges: tuple[Float64, Float64]) -> None:
        """Both players' ranges at a root from now on, float64[1326] each; regrets and averages stay."""
        self.ranges[root] = ranges
        for p in (0, 1):
            self._fill(self._top.reach, root, p, ranges[p])

    def restart(self) -> None:
        """Forget every iteration."""
        for entries in (self._regrets, self._averages):
            entries.numbers[:] = 0
            entries.scales[:] = 0.0
        self.iterations = 0

    def iterate(self, count: int, rule: Rule = DCFR) -> None:
        """`count` more iterations of an alternating rule that is not predictive; GameError for other rules."""
        if not rule.alternating or rule.predictive:
            raise GameError(f"holdem: the solver takes alternating rules without prediction, not {rule.name}")
        # Factors of positive and of negative regrets, and the average's weight, by the number of the iteration.
        steps = rule.steps(self.iterations + 1, count)[:, :3].astype(np.float32)
        self._run(Task(sweeps.UPDATE, 0, 2, steps))
        self.iterations += count

    def update(self, player: int, rule: Rule = DCFR) -> None:
        """Half of an iteration: one player's; the second player's half ends it."""
        steps = rule.steps(self.iterations + 1, 1)[:, :3].astype(np.float32)
        self._run(Task(sweeps.UPDATE, player, player + 1, steps))
        self.iterations += player

    def respond(self) -> None:
        """Fill `root_values` with what each player's best response to the other's average policy is worth."""
        self._run(Task(sweeps.BEST, 0, 2, _NO_STEP))

    def evaluate(self) -> None:
        """Fill `root_values` with what the average policies are worth."""
        self._run(Task(sweeps.VALUE, 0, 2, _NO_STEP))

    def add_averages(self, to: Float32, weight: float) -> None:
        """Add the average policies to other sums, float32[program.entries], weighed by their own reach and `weight`.

        As an iteration adds its policies: sums of such sums are mixtures of strategies. `root_values` are filled, too.
        """
        step = np.array([[0.0, 0.0, weight]], dtype=np.float32)
        self._run(Task(sweeps.ADD, 0, 2, step), to)

    def cut_ranges(self) -> Float64:
        """float64[2, C, 1326]: both players' ranges by the last sweep where the river card comes (`Program.cuts`).

        After an iteration they are those of the policies that it added to the averages.
        """
        program, hands = self.program, self.program.top_hands
        nodes = np.flatnonzero(program.top.nodes.kind == CUT)
        vectors = self._top.reach.reshape(2, -1, program.top_width)
        out = np.zeros((2, len(nodes), HANDS))
        for p in (0, 1):
            out[p][:, hands] = vectors[p, program.top.nodes.reach[p, nodes], : len(hands)]
        return out

    def cut_cfvs(self, player: int) -> Float64:
        """float64[C, 1326]: a player's counterfactual values of the average policies where the river card comes, chips.

        As `cfvs`, in the order of `Program.cuts`, for the opponent's range there by its average policy.
        """
        self._run(Task(sweeps.VALUE, player, player + 1, _NO_STEP))
        program, hands = self.program, self.program.top_hands
        nodes = np.flatnonzero(program.top.nodes.kind == CUT)
        out = np.zeros((len(nodes), HANDS))
        vectors = self._top.values.reshape(-1, program.top_width)
        out[:, hands] = vectors[program.top.nodes.value[nodes], : len(hands)]
        return out

    def cfvs(self, player: int) -> Float64:
        """float64[R, 1326]: a player's counterfactual values at the roots by its last sweep, chips.

        cfv[i] = sum over the opponent's hands j that share no card with i of r[j] * chips.
        """
        program, cfvs = self.program, np.zeros((len(self.program.roots), HANDS))
        root_values = self.root_values[player].reshape(len(program.roots), -1)
        cfvs[:, program.top_hands] = root_values[:, : len(program.top_hands)]
        return cfvs

    def values(self, player: int) -> Float64:
        """float64[R, 1326]: `cfvs` over the opponent's mass, conditional on the hand: chips; 0 where the mass is 0."""
        mass = np.array([disjoint_mass(both[1 - player]) for both in self.ranges])
        met = mass > 1e-9 * mass.max(axis=1, keepdims=True)
        values: Float64 = np.where(met, self.cfvs(player) / np.where(met, mass, 1.0), 0.0)
        return values

    def best_responses(self) -> tuple[float, float]:
        """What each player's best response earns against the other's average policy, chips a hand.

        b[p] = (sum over i of v[p, i] r[p, i]) / (sum over hands i, j without a common card of r0[i] r1[j]).
        """
        self.respond()
        return self.chips(0), self.chips(1)

    def chips(self, player: int) -> float:
        """A player's values at the first root by its last sweep, as chips a hand."""
        r0, r1 = self.ranges[0]
        # Values at the root are sums over the opponent's weights: over the weight of all pairs they are chips a hand.
        pairs = float(r0 @ disjoint_mass(r1))
        hands = self.program.top_hands
        values = self.root_values[player, : len(hands)].astype(np.float64)
        return float(values @ self.ranges[0][player][hands]) / pairs

    def progress(self) -> Progress:
        """Exploitability of the average policies now."""
        chips = sum(self.best_responses()) / 2
        return Progress(self.iterations, chips, chips / self.game.spot.pot)

    def solve(
        self, target: float, iterations: int, every: int = 20, report: Callable[[Progress], None] | None = None
    ) -> Progress:
        """Iterate until exploitability is at most `target` of the pot or `iterations` are done in all.

        every: how many iterations lie between two measurements of exploitability; `report` gets each of them.
        """
        now = self.progress()
        while self.iterations < iterations and (now.of_pot > target or self.iterations == 0):
            self.iterate(min(every, iterations - self.iterations))
            now = self.progress()
            if report is not None:
                report(now)
        return now

    def _run(self, task: Task, added: Float32 | None = None) -> None:
        """Run the sweeps on every thread, this one included.  added: the sums that ADD adds to."""
        shared, begin, whole = sync.shared(), threading.Event(), threading.Event()

        def work(k: int) -> None:
            begin.wait()
            if whole.is_set():  # a crew that is not whole would wait for the others for ever
                self._worker(k, shared, task, added)

        # If one of them cannot be started, none may begin: the others would wait for it at a barrier.
        others = [threading.Thread(target=work, args=(k,)) for k in range(1, self.threads)]
        try:
            for thread in others:
                thread.start()
            whole.set()
        finally:
            begin.set()
        self._worker(0, shared, task, added)
        for thread in others:
            thread.join()

    def _worker(self, me: int, shared: Int64, task: Task, added: Float32 | None) -> None:
        # Best responses are to the average policy, and values those of it; updates follow the regrets.
        followed = self._regrets if task.mode == sweeps.UPDATE else self._averages
        to = self._averages if added is None else Entries(added, np.zeros(0, dtype=np.float32))
        learned = Learned(self._regrets, to, followed)
        crew = Crew(me, self.threads, shared)
        sweeps.run(crew, task, self.tables, learned, self._top, self._workspaces[me])

    def policy(self, s: HoldemState) -> Float64:
        """float64[A, 1326]: the average policy at a decision of the tree; uniform where a hand never came.

        That of a locked hand is its lock's, to the bit.

        policy[a, h] = S[a, h] / (sum over b of S[b, h]), with S of the averages; 1 / A where the sum is nearly 0.

        GameError where the tree has no such decision.
        """
        rows, hands = self._rows(s)
        sums = rows.astype(np.float64)
        count, total = len(sums), sums.sum(axis=0)
        out = np.full((count, HANDS), 1.0 / count)
        out[:, hands] = np.where(total > sweeps.LEAST, sums / np.maximum(total, sweeps.LEAST), 1.0 / count)
        lock = locked_at(self.program.locks, s)
        return out if lock is None else np.where(lock.hands, lock.policy, out)

    def set_policy(self, s: HoldemState, policy: Float64) -> None:
        """Make float64[A, 1326] the average policy at a decision of the tree; GameError where it has none.

        On a board that is not solved itself the numbers are those of the board that represents it.
        """
        if self.bits < BITS[0]:
            raise GameError(f"holdem: policies are set in a solver of {BITS[0]} bits, not of {self.bits}")
        rows, hands = self._rows(s)
        rows[:] = policy[:, hands]

    def _rows(self, s: HoldemState) -> tuple[Float32, Int32]:
        """The averages at a decision of the tree, float32[A, H], of 32 bits a view; the numbers of their hands."""
        node, vector, at, width, hands = self.program.located(s)
        return decoded(self._averages, at, vector, len(node.children), width)[:, : len(hands)], hands
