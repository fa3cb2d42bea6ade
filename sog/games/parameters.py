"""What a game string says of the games that have two forms, by public states and by histories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sog.errors import GameError
from sog.games.base import Unit
from sog.games.strings import (
    Parameters,
    bool_parameter,
    choice_parameter,
    int_parameter,
    number_parameter,
    number_text,
    numbers_parameter,
    refuse_unknown,
    whole_numbers_parameter,
)

__all__ = ["ORDERS", "BattleshipParameters", "GoofspielParameters", "dice_parameters"]

ORDERS: Final = ("random", "descending", "ascending")
_RETURNS: Final = ("win_loss", "point_difference")
_LONGEST_SIDE: Final = 100  # of battleship's board
_MOST_DICE: Final = 1_000  # a player's, and faces of a die


def dice_parameters(parameters: Parameters) -> tuple[int, int]:
    """Liar's Dice: dice of each player, faces of a die; GameError for what is unknown or not of its kind."""
    refuse_unknown("liars_dice", parameters, ("numdice", "dice_sides"))
    dice = int_parameter("liars_dice", parameters, "numdice", 1, high=_MOST_DICE)
    return dice, int_parameter("liars_dice", parameters, "dice_sides", 6, high=_MOST_DICE)


@dataclass(frozen=True)
class GoofspielParameters:
    """Goofspiel with hidden bids. GameError for an unknown order or returns; each form says how many cards it takes.

    returns_type: `win_loss` pays 1 to whoever has more points, `point_difference` half the difference of points.
    """

    num_cards: int
    points_order: str = "random"
    returns_type: str = "win_loss"

    def __post_init__(self) -> None:
        if self.points_order not in ORDERS:
            raise GameError(f"goofspiel has no points_order={self.points_order}; known: {', '.join(ORDERS)}")
        if self.returns_type not in _RETURNS:
            raise GameError(f"goofspiel has no returns_type={self.returns_type}; known: {', '.join(_RETURNS)}")

    @staticmethod
    def read(parameters: Parameters) -> GoofspielParameters:
        """GameError for what is unknown or not of its kind."""
        short = "goofspiel"
        refuse_unknown(short, parameters, ("imp_info", "num_cards", "points_order", "returns_type"))
        if not bool_parameter(short, parameters, "imp_info", False):
            raise GameError("goofspiel is played here with hidden bids only: add imp_info=True")
        return GoofspielParameters(
            int_parameter(short, parameters, "num_cards", 13),
            choice_parameter(short, parameters, "points_order", "random", ORDERS),
            choice_parameter(short, parameters, "returns_type", "win_loss", _RETURNS),
        )

    @property
    def points(self) -> bool:
        """Whether the difference of points is what counts."""
        return self.returns_type == "point_difference"

    @property
    def name(self) -> str:
        """The game string."""
        returns = ",returns_type=point_difference" if self.points else ""
        return f"goofspiel(imp_info=True,num_cards={self.num_cards},points_order={self.points_order}{returns})"

    @property
    def u_max(self) -> float:
        """Both hold the same cards, so whoever wins a round loses another: at best the one-point card."""
        return (self.num_cards * (self.num_cards + 1) / 2 - 2) / 2 if self.points else 1.0

    @property
    def unit(self) -> Unit:
        return Unit("points", 2.0) if self.points else Unit()


@dataclass(frozen=True)
class BattleshipParameters:
    """Battleship in which no cell is shot at twice. GameError for ships, values or shots that cannot be.

    values: what a sunk ship pays, as in OpenSpiel with loss_multiplier 1; None: whoever sinks the whole fleet wins 1
    (SePoT B.3), which OpenSpiel does not have.
    """

    width: int
    height: int
    sizes: tuple[int, ...]
    values: tuple[float, ...] | None
    num_shots: int

    def __post_init__(self) -> None:
        if min(self.width, self.height) < 1:
            raise GameError(f"battleship needs a board of at least 1 x 1, not {self.width} x {self.height}")
        if not self.sizes or min(self.sizes) < 1:
            raise GameError(f"battleship needs ships of at least one cell, not {list(self.sizes)}")
        if sum(self.sizes) > self.cells:
            raise GameError(f"battleship's ships of {sum(self.sizes)} cells do not fit on {self.cells}")
        if self.values is not None and (len(self.values) != len(self.sizes) or not min(self.values) > 0):
            raise GameError("battleship needs one positive ship value for each ship size")
        if not 1 <= self.num_shots <= self.cells:
            raise GameError(f"battleship on {self.cells} cells has 1 to {self.cells} shots, not {self.num_shots}")

    @staticmethod
    def of(
        width: int, height: int, sizes: Sequence[int], values: Sequence[float] | None, num_shots: int | None
    ) -> BattleshipParameters:
        """num_shots: None for all cells."""
        paid = None if values is None else tuple(float(value) for value in values)
        return BattleshipParameters(
            width, height, tuple(sizes), paid, width * height if num_shots is None else num_shots
        )

    @staticmethod
    def read(parameters: Parameters) -> BattleshipParameters:
        """GameError for what is unknown or not of its kind."""
        short = "battleship"
        places = ("board_width", "board_height", "ship_sizes", "ship_values")
        rules = ("num_shots", "allow_repeated_shots", "loss_multiplier", "returns_type")
        refuse_unknown(short, parameters, (*places, *rules))
        if bool_parameter(short, parameters, "allow_repeated_shots", True):
            raise GameError("no cell is shot at twice in this battleship: add allow_repeated_shots=False")
        returns = choice_parameter(short, parameters, "returns_type", "ship_values", ("ship_values", "win_loss"))
        if number_parameter(short, parameters, "loss_multiplier", 1.0) != 1:
            raise GameError("battleship is zero-sum only with loss_multiplier=1.0")
        width, height = (int_parameter(short, parameters, side, 10, high=_LONGEST_SIDE) for side in places[:2])
        sizes = whole_numbers_parameter(short, parameters, "ship_sizes", "[2;3;3;4;5]")
        values, shots = None, width * height
        if returns == "ship_values":
            ones = f"[{';'.join('1' * len(sizes))}]"
            values, shots = numbers_parameter(short, parameters, "ship_values", ones), 50
        shots = int_parameter(short, parameters, "num_shots", shots)
        return BattleshipParameters(width, height, sizes, values, shots)

    @property
    def cells(self) -> int:
        return self.width * self.height

    @property
    def u_max(self) -> float:
        return 1.0 if self.values is None else sum(self.values)

    @property
    def name(self) -> str:
        """The game string."""
        sizes = ";".join(map(str, self.sizes))
        board = f"board_width={self.width},board_height={self.height},ship_sizes=[{sizes}]"
        shots = f"num_shots={self.num_shots},allow_repeated_shots=False"
        if self.values is None:
            return f"battleship({board},{shots},returns_type=win_loss)"
        values = ";".join(number_text(value) for value in self.values)
        return f"battleship({board},ship_values=[{values}],{shots},loss_multiplier=1.0)"
