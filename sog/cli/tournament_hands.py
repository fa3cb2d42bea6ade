"""`sog tournament` in games of chance or hidden information: what each agent wins a hand of each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from sog.cli.frame import print_json, print_table, progress_bar, say, small_tree, stdout
from sog.cli.match import by_seat, decided, earned, unit_of_means, words
from sog.cli.stopping import stop_notice

if TYPE_CHECKING:
    from sog.games.base import Game
    from sog.measure.elo import Ratings
    from sog.protocols.tournament_file import Tournament
    from sog.protocols.tournament_hands import PairResult

__all__ = ["bounds_text", "hand_tournament", "rating_of"]


def hand_tournament(tournament: Tournament, folder: Path, as_json: bool) -> None:
    """Play what is left of a file's deals, and print what each agent won."""
    from sog.protocols.tournament import in_folder
    from sog.protocols.tournament_hands import Deals, play_pairs

    game, notice = tournament.game, f"finished hands are kept in {folder}: the same command continues from there"
    with stop_notice(lambda: notice), in_folder(tournament, folder, say):
        entrants = {name: tournament.entrant(name) for name in tournament.agents}
        played = Deals(game, small_tree(game, None), tournament.rounds, tournament.seed)
        results = list(play_pairs(entrants, tournament.pairs(), played, folder, progress_bar))
    answer = _answer(game, list(tournament.agents), results, folder)
    if as_json:
        print_json(answer)
    else:
        _show(game, answer, results)


def _answer(game: Game, names: list[str], results: Sequence[PairResult], folder: Path) -> dict[str, Any]:
    """What the tournament found, as one object; agents by what they won a hand."""
    agents: list[dict[str, Any]] = [{"name": name, **earned(_all_of(name, results))} for name in names]
    elo, virtual = _elo(game, names, results)
    for agent, rating in zip(agents, elo, strict=True):
        agent["hands"] = sum(len(result.won) for result in results if agent["name"] in (result.a, result.b))
        agent |= rating
    pairs = [{"a": result.a, "b": result.b, **earned(result.won), **by_seat(result.won, game)} for result in results]
    agents.sort(key=lambda agent: -agent["mean"])
    answer = {"game": game.name, **unit_of_means(game), "agents": agents, "pairs": pairs, "folder": str(folder)}
    return answer if virtual is None else answer | {"virtual_draws": virtual}


def rating_of(ratings: Ratings, i: int) -> dict[str, Any]:
    """Player i's rating.  interval: half the width of elo95."""
    elo, half = float(ratings.elo[i]), ratings.interval(i)
    return {"elo": elo, "interval": half, "elo95": [elo - half, elo + half]}


def bounds_text(virtual_draws: float) -> str:
    """What a reader must know of ratings that would be infinite."""
    return (
        "Some agents won or lost every game against the others; their ratings would be infinite, so each pair "
        f"was given {virtual_draws:g} draw more. Read them as bounds."
    )


def _all_of(name: str, results: Sequence[PairResult]) -> list[float]:
    """What an agent won in each hand, the mean over its opponents: they all play the same deals."""
    own = [_won_by(name, result) for result in results if name in (result.a, result.b)]
    return [sum(hands) / len(hands) for hands in zip(*own, strict=True)]


def _won_by(name: str, result: PairResult) -> list[float]:
    """What one of a pair won in each hand."""
    return list(result.won) if name == result.a else [-won for won in result.won]


def _elo(game: Game, names: list[str], results: Sequence[PairResult]) -> tuple[list[dict[str, Any]], float | None]:
    """Each agent's rating and the draws that were added where hands are won, drawn or lost; otherwise nothing."""
    from sog.measure.elo import by_units, points_of, rate

    if not all(decided(result.won, game) for result in results):
        return [{} for _ in names], None
    points = [[(won / game.u_max + 1) / 2 for won in result.won] for result in results]
    met = [(r.a, r.b, sum(own), len(own)) for r, own in zip(results, points, strict=True)]
    deals = [
        (names.index(r.a), names.index(r.b), own[k] + own[k + 1], 2)
        for r, own in zip(results, points, strict=True)
        for k in range(0, len(own), 2)
    ]
    ratings = by_units(rate(points_of(names, met)), deals)
    return [rating_of(ratings, i) for i in range(len(names))], ratings.virtual


def _show(game: Game, answer: dict[str, Any], results: Sequence[PairResult]) -> None:
    agents = answer["agents"]
    rated = "elo" in agents[0]
    table = Table(title=Text(f"{game.name}: what an agent wins a hand"), title_justify="left")
    for column in map(Text, ("agent", *["Elo"] * rated, "all", *(agent["name"] for agent in agents))):
        table.add_column(column, justify="right" if table.columns else "left")
    for agent in agents:
        name = agent["name"]
        cells = [f"{agent['elo']:+.0f} ± {agent['interval']:.0f}"] if rated else []
        cells.append(words(_all_of(name, results), game.unit))
        for other in agents:
            met = [result for result in results if {result.a, result.b} == {name, other["name"]}]
            cells.append(words(_won_by(name, met[0]), game.unit) if met else "")
        table.add_row(Text(name), *cells)
    print_table(table)
    hands = len(results[0].won)
    stdout().print(f"Means with 95% intervals over {hands // 2:,} deals a pair, each played both ways round.")
    if added := answer.get("virtual_draws"):
        stdout().print(bounds_text(added))
    stdout().print(f"The hands are in {answer['folder']}.", soft_wrap=True)
