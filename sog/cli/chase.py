"""`sog show` of a recorded chase: stations with the belief over Mr X's, tickets and log, and the map as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sog.cli.frame import facts_table, figures_table, print_json, print_table, save_picture, stdout
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.opponents.scotland_yard.recorded import RecordedChase

__all__ = ["show_chase"]

_COLOURS: Final = {"taxi": "#c8b560", "bus": "#3c9a6c", "underground": "#c0504d", "ferry": "#555555"}
_WIDTHS: Final = {"taxi": 0.8, "bus": 1.4, "underground": 2.2, "ferry": 1.2}


def show_chase(records: Path, hand: int, moves: int | None, png: Path | None, as_json: bool) -> None:
    """Show a hand of a match's records after some of its moves."""
    from itertools import islice

    from sog.games.catalog import make_game
    from sog.games.scotland_yard.game import ScotlandYard
    from sog.opponents.scotland_yard.recorded import recorded_chase
    from sog.play.hand_match import read_match, read_records

    match = read_match(records)
    game = make_game(str(match["game"]))
    if not isinstance(game, ScotlandYard):
        raise SettingError(f"{records} has hands of {game.name}: hands of scotland_yard are shown")
    record = next(islice(read_records(records), hand, None), None)
    if record is None:
        raise SettingError(f"{records} has no hand {hand}")
    seen = recorded_chase(game, record, int(match["seed"]), moves)
    if png is not None:
        _draw(seen, f"hand {hand} after {seen.moves} moves", png)
    if as_json:
        print_json({"game": game.name, "hand": hand, **_answer(seen)})
        return
    _print(seen, hand)


def _answer(seen: RecordedChase) -> dict[str, Any]:
    city, state = seen.game.city, seen.state
    return {
        "moves": seen.moves,
        "log": list(state.log),
        "station": city.stations[seen.station],
        "possible": [city.stations[k] for k in state.hidden],
        "belief": seen.belief.tolist(),
        "belief_of": "policies" if seen.exact else "possible stations alike",
        "detectives": [city.stations[k] for k in state.detectives],
        "detective_tickets": [list(own) for own in state.tickets],
        "x_tickets": list(state.x_tickets),
    }


def _print(seen: RecordedChase, hand: int) -> None:
    from sog.games.scotland_yard.rules import TICKETS

    city, state = seen.game.city, seen.state
    facts = {
        "game": f"{seen.game.name}, hand {hand} after {seen.moves} moves",
        "state": seen.game.state_name(state),
        "Mr X": f"on {city.stations[seen.station]}, which the detectives do not see",
        "belief": _said(seen),
        "log": " ".join(state.log) or "no move yet",
    }
    stdout().print(facts_table(facts))
    tickets = figures_table("who", "station", figures=TICKETS)
    for k, (place, own) in enumerate(zip(state.detectives, state.tickets, strict=False), 1):
        tickets.add_row(f"detective {k}", str(city.stations[place]), *map(str, own), "", "")
    tickets.add_row("Mr X", "?", *map(str, state.x_tickets))
    print_table(tickets)
    table = figures_table("possible station", figures=("belief",))
    order = sorted(range(len(state.hidden)), key=lambda i: (-seen.belief[i], i))
    for i in order:
        here = " (Mr X)" if state.hidden[i] == seen.station else ""
        table.add_row(f"{city.stations[state.hidden[i]]}{here}", f"{100 * seen.belief[i]:.1f}%")
    print_table(table)


def _said(seen: RecordedChase) -> str:
    if seen.exact:
        return "exact, by the policies that Mr X's moves were drawn from"
    return "all possible stations alike: the records have no policy of Mr X (sog match --policies)"


def _draw(seen: RecordedChase, title: str, path: Path) -> None:
    """The map with the belief: darker stations are likelier, squares are detectives, a ring is Mr X."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patheffects import withStroke

    from sog.games.scotland_yard.layout import layout
    from sog.games.scotland_yard.map import TRANSPORTS

    city, state = seen.game.city, seen.state
    places = layout(city)
    figure = Figure(figsize=(11, 9))
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for kind in reversed(range(len(TRANSPORTS))):
        name = TRANSPORTS[kind]
        lines = [(places[a], places[b]) for a, b, t in city.links if t == kind]
        for k, (start, end) in enumerate(lines):
            label = name if k == 0 else None
            axes.plot(
                *zip(start, end, strict=True), color=_COLOURS[name], linewidth=_WIDTHS[name], label=label, zorder=1
            )
    size = 4000.0 / max(len(city.stations), 20)
    shares = np.zeros(len(city.stations))
    shares[list(state.hidden)] = seen.belief
    dots = axes.scatter(
        places[:, 0],
        places[:, 1],
        c=shares,
        s=size,
        cmap="Purples",
        vmin=0.0,
        edgecolors="grey",
        linewidths=0.5,
        zorder=2,
    )
    held = places[list(state.detectives)]
    axes.scatter(held[:, 0], held[:, 1], s=1.5 * size, marker="s", color="#2b6cb0", label="detectives", zorder=3)
    x, y = places[seen.station]
    axes.scatter([x], [y], s=2.5 * size, facecolors="none", edgecolors="red", linewidths=1.8, label="Mr X", zorder=4)
    halo = [withStroke(linewidth=1.0, foreground="white")]  # black words are read on every colour with it
    for (x, y), number in zip(places, city.stations, strict=True):
        axes.text(x, y, str(number), fontsize=5, ha="center", va="center", zorder=5, path_effects=halo)
    axes.set(xticks=[], yticks=[], aspect="equal", title=f"{title}; belief: {_said(seen).split(',')[0].split(':')[0]}")
    axes.legend(loc="upper right", fontsize=8)
    figure.colorbar(dots, ax=axes, label="belief", shrink=0.6)
    save_picture(figure, path, tight=True)
