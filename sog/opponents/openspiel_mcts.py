"""OpenSpiel's own MCTS in C++ with random rollouts, as an opponent."""

from __future__ import annotations

from typing import Final

import pyspiel

from sog.opponents.rating import Decision, Rate, Rated, rated_root, spiel_state

__all__ = ["openspiel_mcts"]

_UCT: Final = 2.0  # exploration, as in OpenSpiel's own example
_MEMORY_MB: Final = 1_000
_ENDLESS: Final = 2**31 - 1


def openspiel_mcts(simulations: int | None = None, seconds: float | None = None) -> Rate:
    """Rates moves by UCT with c = 2, one random rollout a simulation, proven wins and losses kept (`solve`).

    simulations: at most this many a move, None for no limit.  seconds: at most, for a move.
    As its bot does, it plays the child that OpenSpiel's `best_child` names: proven ones first, then the most visited.
    """

    def rate(decision: Decision) -> Rated:
        state = spiel_state(decision.game, decision.state)
        seed = int(decision.rng.integers(2**31))
        bot = pyspiel.MCTSBot(
            state.get_game(),
            pyspiel.RandomRolloutEvaluator(1, seed),
            _UCT,
            decision.simulations or simulations or _ENDLESS,
            _MEMORY_MB,
            True,
            seed,
            False,
            max_wall_clock_time=-1.0 if seconds is None else seconds,
        )
        root = bot.mcts_search(state)
        return rated_root(root, decision)

    return rate
