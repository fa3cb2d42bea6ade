"""Policies that ReBeL plays, whole: one for each playthrough, and their average (ReBeL, Table 2).

A playthrough is every random choice of a safe agent fixed in advance: in each subgame that can come up, one iteration.
Its policy is conditioned on the beliefs of those iterations. The average over playthroughs approaches what the agent
plays in expectation, so that its exploitability bounds the agent's from above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sog.algorithms.rebel.agent import (
    Profile,
    ProfileSolve,
    PublicBelief,
    RebelSettings,
    sample_iterations,
    start_position,
)
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.depth_limited.batching import Layouts
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.tree.public_tree import PublicTree

__all__ = ["WIDTH", "AveragePlay", "held_at_once", "mean_exploitability", "mean_policy", "sampled_policy"]

# Subgames solved side by side: this many leaves fill a network's batch even where most have nothing new to evaluate.
WIDTH = 512
# Playthroughs are held at once, so that equal subgames among them are solved once, as long as they fit into this much.
HELD, HELD_BYTES = 1024, 1 << 30


@dataclass(frozen=True, eq=False)
class AveragePlay:
    """An average over playthroughs.  policy: by public node.  solves: subgames solved for it."""

    policy: exact.Policy
    solves: int


def mean_policy(public: PublicTree, settings: RebelSettings, evaluator: Evaluator) -> exact.Policy:
    """Every subgame's average policy, with the beliefs of average policies passed down: unsafe search, composed."""
    unsafe = RebelSettings(settings.solve, safe=False)
    return _Playthroughs(public, unsafe, evaluator, np.random.default_rng(0)).play(1)[0]


def mean_exploitability(public: PublicTree, settings: RebelSettings, evaluator: Evaluator) -> float:
    """Exploitability of `mean_policy`, in utilities."""
    return exact.measure_policy(public, mean_policy(public, settings, evaluator)).exploitability


def sampled_policy(
    public: PublicTree,
    settings: RebelSettings,
    evaluator: Evaluator,
    playthroughs: int,
    rng: np.random.Generator,
    progress: Callable[[int], None] = lambda _: None,
) -> AveragePlay:
    """The average of this many playthroughs of a safe agent, of a listed game.

    The average is that of mixed strategies: a playthrough counts at an infostate as much as its own actions lead
    there. progress: called with the number of playthroughs done.
    """
    tree = exact.full_tree(public)
    solves, done, held = 0, 0, held_at_once(tree)
    while done < playthroughs:
        count = min(held, playthroughs - done)
        work = _Playthroughs(public, settings, evaluator, rng)
        for policy in work.play(count):
            exact.add_policy(tree, policy)
        solves += work.solves
        done += count
        progress(done)
    tree.update_average_policy()
    return AveragePlay(exact.policy_of(tree), solves)


def held_at_once(tree: Lookahead) -> int:
    """How many whole policies of the game may be held: each is an array for every decision of a full tree."""
    # 8 bytes a probability, and about 200 of overhead an array.
    entries, array = 8 * tree.num_entries, 200 * tree.size
    return max(1, min(HELD, HELD_BYTES // (entries + array)))


class _Playthroughs:
    """Plays several playthroughs together; a subgame that comes up in many with equal ranges is solved once."""

    def __init__(
        self, public: PublicTree, settings: RebelSettings, evaluator: Evaluator, rng: np.random.Generator
    ) -> None:
        self.public, self.settings, self.evaluator, self.rng = public, settings, evaluator, rng
        self.layouts = Layouts(public, settings.solve.depth, settings.solve.to_chance)
        self.solves = 0

    def play(self, count: int) -> list[exact.Policy]:
        """`count` whole policies, without the states to which neither player's own policy leads."""
        policies: list[exact.Policy] = [{} for _ in range(count)]
        level = [_Stand(start_position(self.public), [(j, True, True) for j in range(count)])]
        # Level by level: all subgames of a level are known before any is solved, so equal ones are solved once.
        while level:
            later: dict[tuple[int, bytes], _Stand] = {}
            for stand, profiles in self._solved(level):
                for (j, *alive), profile in zip(stand.players, profiles, strict=True):
                    policies[j].update(profile.policies)
                    for node, ranges in profile.beliefs.items():
                        # A player's policy that never leads here leaves its policies below without weight in the
                        # average.
                        zero, one = (a and h for a, h in zip(alive, profile.held[node], strict=True))
                        if zero or one:
                            key = node, ranges.tobytes()
                            later.setdefault(key, _Stand(PublicBelief(node, ranges), [])).players.append((j, zero, one))
            level = list(later.values())
        return policies

    def _solved(self, level: list[_Stand]) -> Iterator[tuple[_Stand, list[Profile]]]:
        """Each subgame with a profile for each of its players, WIDTH of them solved at a time."""
        for start in range(0, len(level), WIDTH):
            group = level[start : start + WIDTH]
            chosen = [sample_iterations(self.settings.solve, len(place.players), self.rng) for place in group]
            roots = [place.position for place in group]
            playing = ProfileSolve(self.public, roots, chosen, self.settings, self.layouts)
            self.solves += len(group)
            run(playing, self.evaluator)
            yield from zip(group, playing.profiles, strict=True)


@dataclass(frozen=True, eq=False)
class _Stand:
    """Playthroughs that are at one position.

    players: (playthrough, whether player 0's own policy leads here, whether player 1's does).
    """

    position: PublicBelief
    players: list[tuple[int, bool, bool]]
