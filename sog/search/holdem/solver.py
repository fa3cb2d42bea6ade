"""The solver for river and turn spots of hold'em: every hand, both ranges, alternating DCFR on wide rows."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sog.arrays import Array, Float32, Float64
from sog.errors import GameError
from sog.games.holdem.cards import HANDS, disjoint_mass
from sog.games.holdem.game import Holdem, HoldemState
from sog.search.cfr.rules import DCFR, Rule
from sog.search.holdem import sweeps
from sog.search.holdem.program import SCRATCH_CARDS, Program, Tables, make_program, make_tables
from sog.search.holdem.trees import CUT, DECISION, Node
from sog.search.simd import threads as sync
from sog.search.simd.f32x16 import LANES

_CACHE_LINE = 64


@dataclass(frozen=True)
class Progress:
    """After so many iterations: exploitability in chips and in parts of the pot at the root."""

    iterations: int
    exploitability: float
    of_pot: float


class HoldemSolver:
    """Regrets and averages of a spot, and the sweeps over them.

    regrets, averages: float32[program.entries], rows of hands as holdem_program lays them out.
    """

    def __init__(
        self, game: Holdem, threads: int = 1, memory_limit: int | None = None, river_shapes: int | None = None
    ) -> None:
        """Allocates everything a solve needs; GameError where that is more than `memory_limit` bytes.

        memory_limit None: nine tenths of the memory that is free.  river_shapes None: as many as threads; it
        decides how `regrets` are laid out and changes no number in them.
        """
        self.game = game
        self.river_shapes = threads if river_shapes is None else river_shapes
        limit = int(0.9 * free_memory()) if memory_limit is None else memory_limit
        self.program: Program = make_program(game, self.river_shapes, limit)
        self.threads = threads
        need = self.program.memory(threads)
        if need > limit:
            raise GameError(f"holdem: solving this spot takes {need / 1e9:.2g} GB and {limit / 1e9:.2g} GB are free")
        self.tables: Tables = make_tables(self.program)
        self.regrets = aligned(self.program.entries)
        self.averages = aligned(self.program.entries)
        self.iterations = 0
        self._make_rows()

    def _make_rows(self) -> None:
        """Reach and values at the top, values handed up, and each thread's own rows."""
        program = self.program
        width = program.width
        self._top_reach = aligned(2 * program.top.reach_rows * program.top_width)
        self._top_values = aligned(program.top.value_rows * program.top_width)
        self._handed = aligned(program.handed_rows * width)
        self.root_values = aligned(2 * program.top_width)
        self._own = [
            (
                aligned(max(s.reach_rows for s in program.shapes) * width),
                aligned(max(s.value_rows for s in program.shapes) * width),
                aligned((2 * max(width, program.top_width) + SCRATCH_CARDS) * LANES),
            )
            for _ in range(self.threads)
        ]
        half = program.top.reach_rows * program.top_width
        for p, weights in enumerate(self.game.root_ranges()):
            at = p * half + int(program.top.root_reach[0, p]) * program.top_width
            self._top_reach[at : at + len(program.top_hands)] = weights[program.top_hands]

    def restart(self) -> None:
        """Forget every iteration."""
        self.regrets[:] = 0.0
        self.averages[:] = 0.0
        self.iterations = 0

    def iterate(self, count: int, rule: Rule = DCFR) -> None:
        """`count` more iterations of an alternating rule that is not predictive."""
        if not rule.alternating or rule.predictive:
            raise GameError(f"holdem: the solver takes alternating rules without prediction, not {rule.name}")
        steps = rule.steps(self.iterations + 1, count)[:, :3].astype(np.float32)
        self._run(sweeps.UPDATE, self.regrets, steps)
        self.iterations += count

    def best_responses(self) -> tuple[float, float]:
        """What each player's best response earns against the other's average policy, chips a hand."""
        self._run(sweeps.BEST, self.averages, np.zeros((1, 3), dtype=np.float32))
        r0, r1 = self.game.root_ranges()
        pairs = float(r0 @ disjoint_mass(r1))
        hands, width = self.program.top_hands, self.program.top_width
        values = self.root_values.astype(np.float64)
        first = float(values[: len(hands)] @ r0[hands])
        second = float(values[width : width + len(hands)] @ r1[hands])
        return first / pairs, second / pairs

    def progress(self) -> Progress:
        """Exploitability of the average policies now."""
        chips = sum(self.best_responses()) / 2
        return Progress(self.iterations, chips, chips / self.game.spot.pot)

    def solve(
        self, target: float, iterations: int, every: int = 20, report: Callable[[Progress], None] | None = None
    ) -> Progress:
        """Iterate until exploitability is at most `target` of the pot or `iterations` are done in all.

        every: how many iterations lie between two looks at exploitability, each told to `report`.
        """
        now = self.progress()
        while self.iterations < iterations and (now.of_pot > target or self.iterations == 0):
            self.iterate(min(every, iterations - self.iterations))
            now = self.progress()
            if report is not None:
                report(now)
        return now

    def _run(self, mode: int, source: Float32, steps: Float32) -> None:
        """Run the sweeps on every thread, this one included."""
        shared = sync.shared()
        others = [
            threading.Thread(target=self._worker, args=(me, shared, mode, source, steps))
            for me in range(1, self.threads)
        ]
        for thread in others:
            thread.start()
        self._worker(0, shared, mode, source, steps)
        for thread in others:
            thread.join()

    def _worker(self, me: int, shared: Array, mode: int, source: Float32, steps: Float32) -> None:
        t = self.tables
        sweeps.run(
            me, self.threads, shared, mode, source, self.regrets, self.averages, steps,
            t.nodes, t.child_rows, t.chips, t.amounts, t.shapes, t.parts, t.roots, t.maps, t.ordered,
            t.ends, t.natural, t.sizes, t.cuts, t.members, np.float32(self.program.boards.weight),
            self._top_reach, self._top_values, self._handed, *self._own[me], self.root_values,
        )  # fmt: skip

    def policy(self, s: HoldemState) -> Float64:
        """float64[A, 1326]: the average policy at a decision of the tree; uniform where a hand never came.

        GameError where the tree has no such decision.
        """
        node, shape = self._locate(s)
        program, width = self.program, self.program.width
        if shape < 0:
            at, width, hands = node.row * program.top_width, program.top_width, program.top_hands
        else:
            dealt = s.board[-1] if len(s.board) > len(self.game.spot.board) else -1
            board, own = program.boards.members[program.boards.dealt.index(dealt)]
            at = program.entry0(shape, int(board)) + node.row * width
            hands = program.top_hands[program.boards.maps[own]]
        count = len(node.children)
        rows = self.averages[at : at + count * width].reshape(count, width)[:, : len(hands)].astype(np.float64)
        total = rows.sum(axis=0)
        out = np.full((count, HANDS), 1.0 / count)
        out[:, hands] = np.where(total > 0, rows / np.maximum(total, 1e-30), 1.0 / count)
        return out

    def _locate(self, s: HoldemState) -> tuple[Node, int]:
        """The tree's node of a public state and the shape that holds it, -1 for the top."""
        shape_of = {id(n): k for k, nodes in enumerate(self.program.where) for n in nodes}
        node = self.program.root
        shape = shape_of.get(id(node), -1)
        for action in s.line:
            if node.kind == CUT:
                node = node.children[0]
                shape = shape_of.get(id(node), shape)
            found = [c for c in node.children if c.state.line[-1] == action]
            if not found:
                raise GameError(f"{self.game.name}: the tree has nothing at {self.game.state_name(s)!r}")
            node = found[0]
            shape = shape_of.get(id(node), shape)
        if node.kind == CUT and len(s.board) > len(node.state.board):
            node = node.children[0]
            shape = shape_of.get(id(node), shape)
        if node.kind != DECISION:
            raise GameError(f"{self.game.name}: nobody decides at {self.game.state_name(s)!r}")
        return node, shape


def aligned(count: int) -> Float32:
    """float32[count] of zeros that begins with a cache line."""
    raw = np.zeros(count * 4 + _CACHE_LINE, dtype=np.uint8)
    skip = -raw.ctypes.data % _CACHE_LINE
    out: Float32 = raw[skip : skip + 4 * count].view(np.float32)
    return out


def free_memory() -> int:
    """Bytes of memory that may be taken now."""
    with open("/proc/meminfo") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
