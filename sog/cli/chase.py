"""`sog show` of a recorded chase: stations with the belief over Mr X's, tickets and log, and the map as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sog.cli.frame import facts_table, figures_table, print_json, print_table, stdout, write_unless_there
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.opponents.scotland_yard.recorded import RecordedChase

__all__ = ["show_chase"]


def show_chase(records: Path, hand: int, moves: int | None, svg: Path | None, as_json: bool) -> None:
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
    if svg is not None:
        write_unless_there(svg, _drawn(seen, f"hand {hand} after {seen.moves} moves; belief: {_belief_kind(seen)}"))
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
        "belief": _belief_kind(seen),
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


def _belief_kind(seen: RecordedChase) -> str:
    if seen.exact:
        return "exact, by the policies that Mr X's moves were drawn from"
    return "all possible stations alike: the records have no policy of Mr X (sog match --policies)"


def _drawn(seen: RecordedChase, title: str) -> str:
    """SVG: the map with the belief, the detectives and Mr X, as the page draws it."""
    from sog.web.drawn import chase_drawn
    from sog.web.looks import chase_of

    at = seen.state.hidden.index(seen.station)
    chase = chase_of(seen.game, seen.state, at, tuple(seen.belief.tolist()))
    assert chase is not None
    return chase_drawn(chase, title).svg
