"""Random games by histories beside OpenSpiel's: every history that a random game passes, as both see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame, drawn, uniform_weights
from sog.games.openspiel.loading import load_in_turns
from soglab.checks.agreement import agreement_study
from soglab.study import Experiment, Key, Result

_BATTLE: Final = "allow_repeated_shots=False,loss_multiplier=1.0"

# The native games that OpenSpiel has too, large ones among them.
COMPARED: Final = (
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=4)",
    "liars_dice(numdice=2,dice_sides=3)",
    "goofspiel(imp_info=True,num_cards=5,points_order=descending)",
    "goofspiel(imp_info=True,num_cards=5,points_order=random,returns_type=point_difference)",
    "goofspiel(imp_info=True,num_cards=8,points_order=random)",
    "goofspiel(imp_info=True,num_cards=13,points_order=random)",
    "goofspiel(imp_info=True,num_cards=13,points_order=ascending)",
    f"battleship(board_width=3,board_height=3,ship_sizes=[2;2],ship_values=[1;1],num_shots=9,{_BATTLE})",
    f"battleship(board_width=5,board_height=5,ship_sizes=[3;2;2],ship_values=[3;2;1],num_shots=20,{_BATTLE})",
    f"battleship(board_width=7,board_height=7,ship_sizes=[4;3;3;2],ship_values=[1;1;1;1],num_shots=49,{_BATTLE})",
    f"battleship(board_width=3,board_height=2,ship_sizes=[2;1;2],ship_values=[1;1;1],num_shots=4,{_BATTLE})",
)


@dataclass(frozen=True)
class AgreedGames:
    """Games that agreed to the end and how many histories they passed."""

    game: str
    games: int
    moves: int


def compare_random_games(name: str, games: int, rng: np.random.Generator) -> AgreedGames:
    """Play random games side by side and each of them in OpenSpiel; GameError at the first difference.

    Compared are who acts, legal actions, chance, utilities, and infostates: two histories of the games played are one
    infostate of the player who acts exactly where OpenSpiel's infostate strings are equal.
    """
    game = make_history_game(name)
    spiel = load_in_turns(name)
    names: dict[bytes, str] = {}
    owners: dict[str, bytes] = {}
    states, others, moves = game.begin(games), [spiel.new_initial_state() for _ in range(games)], 0
    while (actors := game.actors(states)).min() < TERMINAL:
        weights = uniform_weights(game, states, actors)
        keys = _infostates(game, states, actors)
        for b in np.flatnonzero(actors < TERMINAL).tolist():
            _compare(game, others[b], int(actors[b]), weights[b])
            if actors[b] < NATURE:
                theirs = f"{actors[b]} {others[b].information_state_string()}"
                if names.setdefault(keys[b], theirs) != theirs or owners.setdefault(theirs, keys[b]) != keys[b]:
                    raise GameError(f"{name}: OpenSpiel's infostates are others at {others[b].history()}")
        actions = np.where(actors < TERMINAL, drawn(weights, rng.random(games)), -1)
        game.step(states, actions)
        for b in np.flatnonzero(actions >= 0).tolist():
            others[b].apply_action(int(actions[b]))
            moves += 1
    for b, utility in enumerate(game.utilities(states).tolist()):
        if not others[b].is_terminal() or abs(others[b].returns()[0] - utility) > 1e-9:
            raise GameError(f"{name}: the end of {others[b].history()} is another in OpenSpiel")
    return AgreedGames(name, games, moves)


def _infostates(game: HistoryGame, states: Any, actors: Any) -> list[bytes]:
    """What the player who acts knows; of player 0 where none does."""
    viewers = np.where(actors < NATURE, actors, 0).astype(np.int32)
    rows = np.concatenate((viewers[:, None], game.public(states), game.private(states, viewers)), axis=1)
    return [row.tobytes() for row in rows]


def _compare(game: HistoryGame, state: Any, actor: int, weights: Any) -> None:
    """Who acts and with which actions or outcomes."""
    position = f"{game.name} after {state.history()}"
    theirs = TERMINAL if state.is_terminal() else NATURE if state.is_chance_node() else state.current_player()
    if theirs != actor:
        raise GameError(f"{position}: {actor} acts, in OpenSpiel {theirs}")
    wanted = np.zeros_like(weights)
    if actor == NATURE:
        for outcome, chance in state.chance_outcomes():
            wanted[outcome] = chance
    else:
        wanted[state.legal_actions()] = 1.0
    if np.abs(wanted - weights).max() > 1e-9:
        raise GameError(f"{position}: actions {np.flatnonzero(weights)}, in OpenSpiel {np.flatnonzero(wanted)}")


def _compute(key: Key) -> Result:
    """How many games and moves agreed, or what the first difference was."""
    try:
        agreed = compare_random_games(key["game"], key["games"], np.random.default_rng(key["seed"]))
    except GameError as error:
        return {"agreed": 0, "moves": 0, "difference": str(error)}
    return {"agreed": agreed.games, "moves": agreed.moves, "difference": ""}


EXPERIMENT: Final = Experiment(
    id="random-histories",
    paper="SePoT",
    figure="5.1, B",
    minutes=1,
    what="Thirteen games by histories: 1,000 random games each (--full: 10,000) beside OpenSpiel, every infostate",
    study=agreement_study("random-histories", COMPARED, _compute),
)
