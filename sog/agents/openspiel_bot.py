"""Our agents as OpenSpiel's bots: any state of the game, from its history alone, becomes a policy over its actions."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import pyspiel

from sog.agents.loaded import LoadedAgent, load_agent
from sog.errors import GameError, SettingError
from sog.measure.openspiel_export import infostates_by_string
from sog.play.openspiel_states import SpielGame, openspiel_game

__all__ = ["SogBot", "openspiel_bot"]

SpielState: TypeAlias = Any  # pyspiel has no types

# (action, probability) of each legal action of OpenSpiel's.
ActionPolicy: TypeAlias = list[tuple[int, float]]

# A player's policy at a state of OpenSpiel's game.
Reader: TypeAlias = "Callable[[SpielState], ActionPolicy]"


class SogBot(pyspiel.Bot):  # type: ignore[misc]  # OpenSpiel has no types
    """A `pyspiel.Bot` that plays one seat; `step_with_policy` says what it draws its action from.

    What it plays at a state depends on the state's history alone: states may come in any order, and games
    need not begin with `restart`. Of the history it uses what its player may know.
    """

    def __init__(self, reader: Reader, game: SpielGame, player_id: int, seed: int) -> None:
        """reader: the policy at a state.  game: OpenSpiel's game that it plays.  seed: of the actions drawn."""
        pyspiel.Bot.__init__(self)
        self._game = _rules(game)
        self._reader, self._player, self._rng = reader, player_id, np.random.default_rng((seed, player_id))

    def player_id(self) -> int:
        """0 or 1."""
        return self._player

    def provides_policy(self) -> bool:
        """True."""
        return True

    def get_policy(self, state: SpielState) -> ActionPolicy:
        """(action, probability) of each legal action; GameError in another game, or where another player is to move."""
        self._refuse_other_game(state)
        if not (state.is_simultaneous_node() or state.current_player() == self._player):
            raise GameError(f"this bot is player {self._player}, and player {state.current_player()} is to move")
        return self._reader(state)

    def _refuse_other_game(self, state: SpielState) -> None:
        if not isinstance(state, pyspiel.State):
            raise GameError(f"a bot is asked about a state of OpenSpiel's, not {type(state).__name__}")
        played = _rules(state.get_game())
        for name, own in self._game.items():
            if played.get(name) != own:
                own = own if name == "name" else f"{self._game['name']} with {name}={own}"
                raise GameError(f"this bot plays {own}, not {played.get(name)}")

    def step_with_policy(self, state: SpielState) -> tuple[ActionPolicy, int]:
        """The policy, and an action drawn from it; ([], INVALID_ACTION) where the player has no action."""
        self._refuse_other_game(state)
        if not state.legal_actions(self._player):
            return [], int(pyspiel.INVALID_ACTION)
        policy = self.get_policy(state)
        chances = np.array([probability for _, probability in policy])
        return policy, policy[int(self._rng.choice(len(policy), p=chances / chances.sum()))][0]

    def step(self, state: SpielState) -> int:
        """The action it plays."""
        return self.step_with_policy(state)[1]

    def restart(self) -> None:
        """A new game: there is nothing to forget."""

    def restart_at(self, state: SpielState) -> None:
        """A game from this state on: there is nothing to forget."""


def openspiel_bot(
    checkpoint_or_game: str,
    player_id: int,
    simulations: int | None = None,
    per_update: float | None = None,
    seed: int = 0,
) -> SogBot:
    """The agent of a checkpoint or game as a `pyspiel.Bot`, for OpenSpiel's own match runners.

    Arguments and errors as of `load_agent`; GameError also where OpenSpiel lacks the game, SettingError for another
    seat. With hidden information it plays the policy of its searches, on a board the best move.

        bots = [sog.openspiel_bot("leduc_poker", p) for p in (0, 1)]
        pyspiel.evaluate_bots(pyspiel.load_game("leduc_poker").new_initial_state(), bots, 0)
    """
    if isinstance(player_id, bool) or not isinstance(player_id, Integral) or player_id not in (0, 1):
        raise SettingError(f"player_id is 0 or 1, not {player_id!r}")
    player_id = int(player_id)  # OpenSpiel's C++ takes no integer of numpy's
    agent = load_agent(checkpoint_or_game, simulations, per_update, seed)
    read = _on_board(agent) if agent.game.deterministic else _with_infostates(agent, player_id)
    return SogBot(read, openspiel_game(agent.game), player_id, seed)


def _rules(game: SpielGame) -> dict[str, object]:
    """OpenSpiel's name of a game and its parameters, but those of tensors; of one taken in turns, the game's itself."""
    kind, parameters = game.get_type().short_name, game.get_parameters()
    inner = parameters.get("game") if kind == "turn_based_simultaneous_game" else None
    rules = {"name": kind, **parameters} if inner is None else inner
    return {name: value for name, value in rules.items() if not name.startswith("egocentric")}


def _on_board(agent: LoadedAgent) -> Reader:
    """The best move with probability 1. No position is searched twice."""
    openspiel_game(agent.game)
    best_moves: dict[tuple[int, ...], int] = {}

    def read(state: SpielState) -> ActionPolicy:
        moves = tuple(state.history())
        if moves not in best_moves:
            best_moves[moves] = agent.think(moves).action
        return [(action, float(action == best_moves[moves])) for action in state.legal_actions()]

    return read


def _with_infostates(agent: LoadedAgent, player: int) -> Reader:
    """The policy at the player's infostate, which OpenSpiel's information state string names."""
    public = agent.public
    spiel = openspiel_game(agent.game)
    places = {named.key: (named.node, named.infostate) for named in infostates_by_string(public, player)}

    def read(state: SpielState) -> ActionPolicy:
        known = _as_the_player_sees(spiel, state, player)
        legal = known.legal_actions(player)
        if len(legal) == 1:  # our games leave some of these out
            return [(legal[0], 1.0)]
        key = known.information_state_string(player)
        if key not in places:
            raise GameError(f"{public.game.name} has no infostate {key!r}")
        node, infostate = places[key]
        actions = public.game.actions(public.states[node]).tolist()
        chances = dict(zip(actions, agent.policy(node)[:, infostate].tolist(), strict=True))
        return [(action, chances[action]) for action in legal]

    return read


def _as_the_player_sees(spiel: Any, state: SpielState, player: int) -> SpielState:
    """The turn-based game's state after the same history, where this player is to move.

    Where OpenSpiel lets both move at once, the turn-based game has player 0 move first and hides the move: any will do.
    """
    known = spiel.new_initial_state()
    for action in state.history():
        known.apply_action(action)
    if state.is_simultaneous_node() and known.current_player() != player:
        known.apply_action(known.legal_actions()[0])
    return known
