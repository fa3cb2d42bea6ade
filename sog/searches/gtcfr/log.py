"""What is kept of a search beside its tree: some leaf beliefs, to be solved more closely, and how far it grew."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from sog.arrays import Array, Float64, Int32
from sog.searches.tree import draws

__all__ = ["SearchLog"]

_BELOW_ONE: Final = 1.0 - 2.0**-53


@dataclass
class SearchLog:
    """Leaf beliefs of one search, drawn in one of two ways, and its growth.

    iterations: of each of these iterations one leaf is kept.
    uniform: this many are kept, drawn uniformly from all leaf evaluations made in the search (PoG, Algorithm 2: "pick
    on average q_search neural net queries from nn_queries"). A leaf whose belief has not moved is not evaluated again,
    and then does not count.
    picked: (public node, float64[S0 + S1] ranges by slot).
    expansions: trajectories walked.  lost: those that could draw no world or after which nothing was opened.
    whole: where some were lost, nothing was left to open at the end.
    """

    iterations: frozenset[int] = frozenset()
    uniform: int = 0
    picked: list[tuple[int, Float64]] = field(default_factory=list)
    expansions: int = 0
    lost: int = 0
    whole: bool = False
    _due: int = 0  # leaves to be kept of the next request
    _seen: int = 0  # leaf evaluations so far
    _next: int = 0  # the number of the next one that is kept
    _weight: float = 1.0

    @property
    def grown(self) -> bool:
        """Whether the search grew its budget or its whole subgame."""
        return self.lost == 0 or self.whole

    def note(self, iteration: int, nodes: Int32, ranges: Float64, rng: Array) -> None:
        """Keep the leaves that are due of one request, int32[B] public nodes with float64[B, S0 + S1] ranges.

        iteration: from 0 in this search; -1 for its first look.  rng: uint64[1].
        """
        # One leaf an iteration: uniform among the iteration's evaluations.
        self._due += iteration in self.iterations
        while self._due and len(nodes):  # if an iteration evaluated nothing, its leaf is kept of the next that does
            self._keep(int(draws.random(rng) * len(nodes)), nodes, ranges)
            self._due -= 1
        # Reservoir sampling: each evaluation of the search ends up in `picked` with the same probability.
        while self.uniform and self._next < self._seen + len(nodes):
            self._keep(self._next - self._seen, nodes, ranges)
            if len(self.picked) > self.uniform:
                # The newest replaces one of the earlier ones, each with the same chance.
                self.picked[int(draws.random(rng) * self.uniform)] = self.picked.pop()
            self._next += 1 if len(self.picked) < self.uniform else self._leap(rng)
        self._seen += len(nodes)

    def _keep(self, k: int, nodes: Int32, ranges: Float64) -> None:
        self.picked.append((int(nodes[k]), ranges[k].copy()))

    def _leap(self, rng: Array) -> int:
        """How many evaluations further the next one kept is (reservoir sampling, Li 1994, algorithm L).

        With k = `uniform` and U, U' uniform in (0, 1]: W *= U ** (1 / k), then 1 + floor(log(U') / log(1 - W)).
        """
        # W stays below 1: log(1 - W) must be finite.
        shrunk = self._weight * (1.0 - draws.random(rng)) ** (1.0 / self.uniform)
        self._weight = min(shrunk, _BELOW_ONE)
        return 1 + int(math.log(1.0 - draws.random(rng)) / math.log1p(-self._weight))
