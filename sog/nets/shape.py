"""What decides the sizes of a network's weights, and how a game sets them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Final

from sog.errors import SettingError
from sog.games.base import DENSE, Game
from sog.games.catalog import make_game
from sog.games.histories.base import HistoryGame
from sog.games.holdem.cards import HANDS
from sog.games.holdem.hand_inputs import has_hand_inputs
from sog.games.holdem.inputs import LEFT
from sog.games.rooted import Rooted
from sog.games.scotland_yard.game import ScotlandYard
from sog.games.scotland_yard.station_inputs import has_station_inputs
from sog.nets.encode import input_width

__all__ = [
    "KINDS",
    "NetworkShape",
    "is_for",
    "policy_shape",
    "same_weights",
    "shape_for",
    "shape_on",
    "sized",
    "station_game",
]

KINDS: Final = ("mlp", "gelu", "resnet", "hands", "stations")  # of a network's body

# From this many logits by slot and action on, a network has logits for the legal pairs alone where its game names them.
PAIRS_FROM: Final = 4_096


@dataclass(frozen=True)
class NetworkShape:
    """Everything that decides the sizes of a network's weights.

    features, slots, actions: those of the game.  width, depth: of the hidden layers.
    kind: the body, one of KINDS.  crossed: see encode.encode.  matchups: see `sog.nets.cvpn.CVPN`.
    width, depth of kind hands: of the layers that all of hold'em's hands share (sog.nets.hands).
    planes, policy_planes: the game's, for a resnet, which has `width` channels and `depth` blocks; otherwise none.
    ownership: a resnet that also learns who will own each cell (Game.owners), which play does not read.
    value_planes: channels that a resnet's value is made of; AlphaGo Zero has 1.
    policies_apart: each player has logits of its own (SoG, Fig. 6), of which the actor's are read; not of a resnet.
    legal_pairs: how many logits each slot has, player 0's slots first, of a network with logits for the game's
    `legal_pairs` alone, each player's own; none of a network with logits for every slot and action.
    game: the game string whose map and rules a network of kind stations reads; "" for all others.
    """

    features: int
    slots: tuple[int, int]
    actions: int
    width: int = 128
    depth: int = 2
    kind: str = "mlp"
    crossed: tuple[int, ...] = ()
    matchups: bool = False
    planes: tuple[int, ...] = ()
    policy_planes: int = 0
    policies_apart: bool = False
    ownership: bool = False
    value_planes: int = 1
    legal_pairs: tuple[int, ...] = ()
    game: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SettingError(f"no network is called {self.kind}; known: {', '.join(KINDS)}")
        if min(self.width, self.depth) < 1:
            raise SettingError(f"a network needs width and depth of at least 1, not {self.width}x{self.depth}")
        if any(not 0 <= column < self.features for column in self.crossed):
            raise SettingError(f"crossed features {self.crossed} are not among the game's {self.features}")
        if self.legal_pairs and not (len(self.legal_pairs) == sum(self.slots) > 2 and self._has_pairs()):
            raise SettingError(f"legal pairs are at most {self.actions} for each of {sum(self.slots)} infostates")
        if self.kind == "hands" and (self.slots != (HANDS, HANDS) or self.features <= LEFT or self._has_extras()):
            raise SettingError("a network over hands is for hold'em, with inputs=strength and nothing besides")
        if (self.kind == "stations") != bool(self.game) or (self.game and not self.legal_pairs):
            raise SettingError("a network over stations reads one game's map, and no other network does")
        if self.kind == "resnet":
            self._check_planes()
        elif self.ownership:
            raise SettingError(f"who owns a cell is learned by a resnet, not by {self.kind}")
        elif self.value_planes != 1:
            raise SettingError(f"value planes are a resnet's, not of {self.kind}")

    def _check_planes(self) -> None:
        """SettingError unless planes, one infostate a player and no more make a resnet's input."""
        if len(self.planes) != 3 or math.prod(self.planes) != self.features or self.slots != (1, 1):
            raise SettingError("a resnet is for games of perfect information whose features are planes")
        if self.crossed or self.matchups or self.policies_apart:
            raise SettingError("a resnet has no crossed features, no matchups and one policy for both players")
        if self.value_planes < 1:
            raise SettingError(f"a resnet's value needs a plane at least, not {self.value_planes}")
        if self.policy_planes * self.planes[1] * self.planes[2] > self.actions:
            raise SettingError(f"{self.policy_planes} policy planes hold more than {self.actions} actions")

    def _has_extras(self) -> bool:
        return bool(self.crossed or self.matchups or self.policies_apart or self.legal_pairs)

    def _has_pairs(self) -> bool:
        return any(self.legal_pairs) and all(0 <= count <= self.actions for count in self.legal_pairs)

    @property
    def inputs(self) -> int:
        """D, the length of an encoded belief."""
        return input_width(self.features, self.slots, self.crossed, self.matchups)

    @property
    def seen(self) -> int:
        """How many of the inputs the body sees: all but the beliefs about the opponent."""
        return input_width(self.features, self.slots, self.crossed)

    @property
    def num_values(self) -> int:
        """S0 + S1."""
        return sum(self.slots)

    @property
    def policy_slots(self) -> int:
        """S, the slots that have logits: max(S0, S1), or where each player has logits of its own S0 + S1."""
        return sum(self.slots) if self.policies_apart or self.legal_pairs else max(self.slots)

    @property
    def logits(self) -> tuple[int, int]:
        """(S, A), or (1, P) with P legal pairs: how the network's logits lie."""
        return (1, sum(self.legal_pairs)) if self.legal_pairs else (self.policy_slots, self.actions)

    @property
    def answered(self) -> tuple[int, int]:
        """(max(S0, S1), A), or (1, P): those of them that belong to the actor, as Evaluations has them."""
        return self.logits if self.legal_pairs else (max(self.slots), self.actions)

    @property
    def num_logits(self) -> int:
        """S * A, or P."""
        return math.prod(self.logits)

    def first_policy_slot(self, player: int) -> int:
        """Where a player's logits begin among the slots."""
        return self.slots[0] if self.policies_apart and player == 1 else 0

    @property
    def cells(self) -> int:
        """H * W where ownership is learned, otherwise 0."""
        return self.planes[1] * self.planes[2] if self.ownership else 0

    @property
    def outputs(self) -> int:
        """What the network answers with."""
        return self.num_values + self.num_logits

    @property
    def head(self) -> int:
        """Outputs of the last layer: values or a matchup matrix, then logits."""
        return (self.slots[0] * self.slots[1] if self.matchups else self.num_values) + self.num_logits


def shape_for(
    game: Game,
    width: int = 128,
    depth: int = 2,
    kind: str = "mlp",
    crossed: tuple[int, ...] = (),
    matchups: bool = False,
    policies_apart: bool = False,
    ownership: bool = False,
) -> NetworkShape:
    """The shape of a network for this game: with logits for its legal pairs where it names them and PAIRS_FROM says so.

    Raises SettingError for matchups of a game too wide for matrices, for ownership where a game names no owners, and
    for hands and stations of other games than hold'em and Scotland Yard.
    """
    if ownership and not game.ownership:
        raise SettingError(f"{game.name} does not say who owns a cell")
    if kind == "hands" and not has_hand_inputs(game):
        raise SettingError(f"a network over hands is for hold'em, inputs=strength; not {game.name}")
    if kind == "stations" and not has_station_inputs(game):
        raise SettingError(f"a network over stations is for scotland_yard with inputs=stations, not {game.name}")
    if matchups and game.weights(game.root()).operator.kind != DENSE:
        raise SettingError(f"matchups are for few infostates, not {game.name}'s {game.num_slots[0]:,} a player")
    planes = (game.planes or (), game.policy_planes) if kind == "resnet" else ((), 0)
    sizes = game.num_features, game.num_slots, game.num_actions
    pairs, many = game.legal_pairs, max(game.num_slots) * game.num_actions >= PAIRS_FROM or kind == "stations"
    return NetworkShape(
        *sizes,
        width,
        depth,
        kind,
        crossed,
        matchups,
        *planes,
        policies_apart,
        ownership,
        legal_pairs=pairs.counts if pairs is not None and many else (),
        game=game.name if kind == "stations" else "",
    )


def is_for(shape: NetworkShape, game: Game) -> bool:
    """Whether a network of this shape reads this game's beliefs and answers with its values and actions."""
    try:
        sizes = shape.width, shape.depth
        flags = shape.matchups, shape.policies_apart, shape.ownership
        # value_planes are the network's own: no game sets them. Legal pairs are the game's, or none.
        wanted = shape_for(game, *sizes, shape.kind, shape.crossed, *flags)
        wanted = replace(wanted, value_planes=shape.value_planes, legal_pairs=shape.legal_pairs)
    except SettingError:
        return False
    pairs = () if game.legal_pairs is None else game.legal_pairs.counts
    return shape == wanted and shape.crossed in ((), tuple(game.crossed)) and shape.legal_pairs in ((), pairs)


def same_weights(one: NetworkShape, other: NetworkShape) -> bool:
    """Whether weights of one shape are weights of the other: equal, or over stations of two maps."""
    if one.kind == other.kind == "stations":
        return (one.width, one.depth) == (other.width, other.depth)
    return one == other


def shape_on(shape: NetworkShape, game: Game) -> NetworkShape:
    """The shape that the same weights have in another game: of a network over stations that game's, else the shape.

    SettingError for a network over stations in another game than Scotland Yard with inputs=stations.
    """
    if shape.kind != "stations":
        return shape
    # A subgame has the map of the whole game.
    whole = game.game if isinstance(game, Rooted) else game
    return shape_for(whole, shape.width, shape.depth, "stations")


def station_game(shape: NetworkShape) -> ScotlandYard:
    """The game of a network over stations; SettingError unless it is Scotland Yard with inputs=stations."""
    game = make_game(shape.game)
    if not has_station_inputs(game):
        raise SettingError(f"a network over stations is for scotland_yard with inputs=stations, not {game.name}")
    return game


def policy_shape(game: HistoryGame, width: int, depth: int) -> NetworkShape:
    """The shape of a policy network for the game."""
    return NetworkShape(game.num_inputs, (1, 1), game.num_actions, width, depth)


_SIZE: Final = re.compile(r"([0-9]{1,9})x([0-9]{1,9})")


_DEEPEST: Final = 1_000  # hidden layers


_WIDEST: Final = 1_000_000  # units a layer


def sized(shape: NetworkShape, size: str) -> NetworkShape:
    """A network's shape with other hidden layers; SettingError as of `network_size`."""
    depth, width = network_size(size)
    return replace(shape, depth=depth, width=width)


def network_size(size: str) -> tuple[int, int]:
    """How many hidden layers and their width; SettingError unless `size` reads like 2x256."""
    read = _SIZE.fullmatch(size)
    if read is None or int(read[1]) > _DEEPEST or int(read[2]) > _WIDEST:
        most = f"at most {_DEEPEST:,} x {_WIDEST:,}"
        raise SettingError(f"a network's size is hidden layers x width, such as 2x256, {most}, not {size}")
    return int(read[1]), int(read[2])
