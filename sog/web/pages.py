"""HTML of views, positions and runs, by templates; no world, deal or hidden infostate comes here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from sog.games.base import NATURE, TERMINAL, Game, State
from sog.games.public_lines import Step
from sog.games.strings import OPENSPIEL
from sog.pictures.icicle import drawn_count
from sog.pictures.svg import SvgPicture
from sog.web.asked import MOST_SIMULATIONS, PERSON, RANDOM, SearchGrowth
from sog.web.drawn import card_drawn, view_pictures
from sog.web.files import ShownPicture, name_of, shown_of
from sog.web.guard import STREAM
from sog.web.looks import cards_of, chips_of, limits_of, roles_of, text_of
from sog.web.offers import NETWORK, Offers, RunFolder, Sitter
from sog.web.positions import Place, position_pictures, search_pictures, values_of, worths
from sog.web.views import GameView, LegalMove

__all__ = ["Pages", "Square", "cards_shown", "json_of", "squares_of"]

_ROOM: Final = Path(__file__).parent
_BUTTONS: Final = 12  # moves up to which nobody wants to type
_GO_LETTERS: Final = "ABCDEFGHJKLMNOPQRST"
_TITLES: Final = {"holdem": "hold'em", "liars dice": "Liar's Dice", "scotland yard": "Scotland Yard"}


@dataclass(frozen=True)
class Square:
    """A cell over a board's picture: a button that makes a move, a link that chooses a piece, or neither."""

    label: str = ""
    column: int | None = None
    link: str = ""
    chosen: bool = False


class Pages:
    """The pages, each as HTML."""

    def __init__(self, known_runs: Sequence[RunFolder]) -> None:
        """known_runs: whether the pages lead to any."""
        self._templates = Environment(
            loader=FileSystemLoader(_ROOM / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["title_of"] = _title
        self._templates.globals["has_runs"] = bool(known_runs)

    def _page(self, template: str, values: Mapping[str, Any]) -> str:
        return str(self._templates.get_template(template).render(values))

    def home(self, offers: Offers) -> str:
        """The first page."""
        trained = [name for name in offers.games if offers.trained(name)]
        return self._page("home.html", {"offers": offers, "trained": trained})

    def setup(self, game: Game, description: str, sitters: Sequence[Sitter]) -> str:
        """Who is to play a game."""
        return self._page(
            "setup.html",
            {
                "game": game,
                "roles": roles_of(game),
                "description": description,
                "sitters": sitters,
                "limits": limits_of(game),
            },
        )

    def load(self) -> str:
        """Where games are uploaded."""
        sitters = [(PERSON, "a person"), (NETWORK, "the network, trained or not"), (RANDOM, "random moves")]
        return self._page("load.html", {"sitters": sitters})

    def played(self, views: Sequence[GameView]) -> str:
        """The games that were played on last."""
        return self._page("played.html", {"views": views})

    def message(self, heading: str, words: str, back: str = "/") -> str:
        """What went wrong, with a link back."""
        return self._page("message.html", {"heading": heading, "words": words, "back": back})

    def game(self, view: GameView, chosen: str = "", offered: bool = True) -> str:
        """A game.  chosen: the square of the piece that is to move, on a chessboard.  offered: whether the game is."""
        squares, rest = squares_of(view, chosen)
        shown = shown_of(view_pictures(view), lambda file: f"/games/{quote(view.table)}/pictures/{file}")
        values = {
            "view": view,
            "shown": shown,
            "seas": _seas(shown, view.roles),
            "groups": _grouped(rest, " to ", "to") if view.chase else _grouped(rest, " ", "from") if view.seas else (),
            "squares": squares,
            "rest": rest,
            "cards": {
                owner: [Markup(card_drawn(card)) for card in view.cards if card.owner == owner] for owner in (-1, 0, 1)
            },
            "positions": _positions(view) if offered else [],
            "offered": offered,
            "typing": _is_typing_offered(view),
            "shared": view.hidden and all(name == "a person" for name in view.names),
        }
        return self._page("game.html", values)

    def position(
        self,
        place: Place,
        game: Game,
        states: Sequence[State],
        steps: Sequence[Step],
        sitters: Sequence[Sitter],
        growth: SearchGrowth | None,
    ) -> str:
        """A position.  sitters: who may search it.  growth: the recorded search, None where nobody is to move."""
        state = states[-1]
        shown = shown_of(position_pictures(game, states, None), _files_of(place))
        values: dict[str, Any] = {
            "place": place,
            "sitters": sitters,
            "name": game.state_name(state),
            "text": text_of(game, state),
            "shown": shown,
            "cards": cards_shown(game, state),
            "chips": chips_of(game, state),
            "seas": _seas(shown, roles_of(game)),
            "steps": [(step.name, place.after(step.edge).address()) for step in steps],
            "back": [(k, _moved(place, place.line[:k]).address()) for k in range(len(place.line))],
            "over": game.actor(state) == TERMINAL,
            "mover": roles_of(game)[game.actor(state)] if game.actor(state) < NATURE else "chance",
            "search": None,
            "beside": place.address("/beside"),
        }
        if growth is not None:
            last = len(growth.snapshots) - 1
            at = last if place.step is None else min(place.step, last)
            marks = [(k, each.simulations, _at(place, k).address()) for k, each in enumerate(growth.snapshots)]
            values["search"] = {
                **_step_values(game, state, growth, at, _files_of(_at(place, at))),
                "at": at,
                "marks": marks,
            }
            values["stream"] = place.watched(game).address(STREAM)
            values["longer"] = place.longer()
        return self._page("position.html", values)

    def growing(self, place: Place, game: Game, state: State, growth: SearchGrowth) -> str:
        """The part of a position's page that a search which is watched replaces."""
        done = replace(place, simulations=growth.snapshots[-1].simulations)
        address = done.address() if growth.finished and done.simulations <= MOST_SIMULATIONS else ""
        return self._page("step.html", {"search": _step_values(game, state, growth, -1), "address": address})

    def beside(self, values: Mapping[str, Any]) -> str:
        """Two searchers of a position.  values: see `sog.web.beside`."""
        return self._page("beside.html", values)

    def spot(self, values: Mapping[str, Any]) -> str:
        """A public state of a solved spot.  values: see `sog.web.spots`."""
        return self._page("spot.html", values)

    def runs(self, runs: Sequence[RunFolder]) -> str:
        """The runs there are."""
        return self._page("runs.html", {"runs": runs})

    def run(self, shown: Sequence[RunFolder], others: Sequence[RunFolder], pictures: Mapping[str, SvgPicture]) -> str:
        """One run, or two beside each other."""
        first, *beside = (quote(run.name, safe="") for run in shown)
        query = f"?beside={beside[0]}" if beside else ""
        drawn = shown_of(pictures, lambda file: f"/runs/{first}/pictures/{file}{query}")
        return self._page("run.html", {"shown": shown, "others": others, "pictures": drawn.values()})


def cards_shown(game: Game, state: State) -> list[Markup]:
    """The cards on the table."""
    return [Markup(card_drawn(card)) for card in cards_of(game, state, (None, None), None) if card.owner < 0]


def _is_typing_offered(view: GameView) -> bool:
    """Whether a move can be typed: where the buttons are too many to be reached one by one with the keyboard."""
    is_large = view.board is not None and view.board.kind in ("chess", "go")
    return bool(view.choices) and (is_large or len(view.choices) > _BUTTONS)


def _title(game: str) -> str:
    """A game's short name for people."""
    short = game.partition("(")[0].removeprefix(OPENSPIEL).replace("_", " ")
    short = _TITLES.get(short, short)
    return f"{short[:1].upper()}{short[1:]}{' of OpenSpiel' if game.startswith(OPENSPIEL) else ''}"


def json_of(view: GameView) -> str:
    """A view as JSON."""
    return json.dumps(asdict(view), allow_nan=False)


def _step_values(
    game: Game, state: State, growth: SearchGrowth, at: int, address: Callable[[str], str] | None = None
) -> dict[str, Any]:
    """What a search knows at one of its steps.  address: of its pictures' files."""
    snapshot = growth.snapshots[at]
    shown = shown_of(search_pictures(game, state, snapshot), address)
    return {
        "trained": growth.trained,
        "snapshot": snapshot,
        "worths": [
            (role, cut, rows, values_of(role), _csv_of(role, address))
            for role, cut, rows in worths(game, state, snapshot.ranges, snapshot.values)
        ],
        "unit": game.unit.name,
        "tree": shown.pop("Tree"),
        "policies": shown.values(),
        "drawn": drawn_count(snapshot.blocks),
        "marks": [],
    }


def _csv_of(role: str, address: Callable[[str], str] | None) -> str:
    """The address of a player's whole table of values and ranges; "" where pictures have none either."""
    return "" if address is None else address(f"{name_of(values_of(role))}.csv")


def _files_of(place: Place) -> Callable[[str], str]:
    """The addresses of the files of a position's pictures."""
    return lambda file: place.address(f"/position/pictures/{file}")


def _moved(place: Place, line: tuple[int, ...]) -> Place:
    return Place(place.game, line, place.agent, place.simulations, place.per_update, place.seed)


def _at(place: Place, step: int) -> Place:
    return Place(place.game, place.line, place.agent, place.simulations, place.per_update, place.seed, step)


def _grouped(choices: Sequence[LegalMove], between: str, word: str) -> list[tuple[str, list[tuple[str, LegalMove]]]]:
    """Moves by what their names begin with, each with where it leads; Scotland Yard's double card leads nowhere."""
    groups: dict[str, list[tuple[str, LegalMove]]] = {}
    for choice in choices:
        first, _, goal = choice.name.partition(between)
        groups.setdefault(f"{first} {word}" if goal else "", []).append((goal or choice.name, choice))
    return list(groups.items())


def _seas(shown: Mapping[str, ShownPicture], roles: tuple[str, str]) -> list[ShownPicture]:
    """Both players' boards at Battleship."""
    return [shown[heading] for heading in (f"Board of {role}" for role in roles) if heading in shown]


def _positions(view: GameView) -> list[str]:
    """Links to the positions before each move of a finished game; chance may act between two."""
    if view.line is None:
        return []
    return [Place(view.game, view.line[:count]).address() for count in view.edges]


def squares_of(view: GameView, chosen: str) -> tuple[list[Square], tuple[LegalMove, ...]]:
    """The cells over a board's picture, row by row, and the choices that have no cell."""
    board = view.board if view.seas is None else view.seas[0]
    if board is None:
        return [], view.choices
    if board.kind == "connect_four":
        by_column = {int(choice.name) - 1: choice for choice in view.choices}
        return [_button(by_column.get(c)) for c in range(len(board.rows[0]))], ()
    if board.kind == "chess":
        return _chess_squares(view, chosen)
    height, letters = len(board.rows), _GO_LETTERS if board.kind == "go" else ascii_lowercase
    placed: dict[tuple[int, int], LegalMove] = {}
    rest = []
    for choice in view.choices:
        match = re.fullmatch(r"(?:shoot )?([A-Za-z])([0-9]+)", choice.name)
        if match is None:
            rest.append(choice)
        else:
            row = int(match[2]) - 1 if board.kind == "battleship" else height - int(match[2])
            placed[row, letters.index(match[1])] = choice
    cells = [(r, c) for r in range(height) for c in range(len(board.rows[0]))]
    return [_button(placed.get(cell)) for cell in cells], tuple(rest)


def _button(choice: LegalMove | None) -> Square:
    return Square() if choice is None else Square(choice.name, choice.column)


def _chess_squares(view: GameView, chosen: str) -> tuple[list[Square], tuple[LegalMove, ...]]:
    """Pieces that can move are links; once one is chosen, where it can go are buttons."""
    starts = {choice.name[:2] for choice in view.choices}
    goals: dict[str, LegalMove] = {}
    for choice in view.choices:
        if choice.name[:2] == chosen and (choice.name[2:4] not in goals or choice.name.endswith("q")):
            goals[choice.name[2:4]] = choice
    cells = []
    for rank in "87654321":
        for file in "abcdefgh":
            name = f"{file}{rank}"
            if name in goals:
                cells.append(Square(f"{chosen} to {name}", goals[name].column))
            elif name in starts:
                cells.append(Square(name, None, f"?from={name}#state", name == chosen))
            else:
                cells.append(Square())
    return cells, view.choices
