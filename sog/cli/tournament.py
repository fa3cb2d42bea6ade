"""`sog tournament`: agents and engines against each other, with Elo, a cross table and a plot."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from sog.cli.frame import ClusterOption, JsonOption, print_json, print_table, progress_bar, save_picture, say, stdout
from sog.cli.options import plain_file
from sog.cli.stopping import stop_notice
from sog.cli.tournament_hands import bounds_text, hand_tournament, rating_of
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.measure.elo import Ratings
    from sog.protocols.tournament import Result

__all__ = ["tournament"]


def tournament(
    file: Annotated[Path, typer.Argument(callback=plain_file, help="A TOML file that names the game and the agents.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the games; by default FILE's name with .games.")] = None,
    cluster: ClusterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play a round robin, colours swapped, and rate the agents; in games of hidden information what a hand earns.

    Each game is kept on disk at once (PGN, SGF or plain moves); the same command resumes after any interruption. An
    engine that crashes, hangs or plays an illegal move loses that game and is restarted.

    A file looks like this:

        game = "chess"

        rounds = 10     # openings a pair; each is played both ways round

        plies = 4       # random moves that begin each opening; or openings = ["e2e4 e7e5", ...], or a file

        # openings = "book.pgn": games in PGN, positions in FEN or EPD; of Go, games in SGF

        # gauntlet = "sog"     only the games of this agent

        [agents.sog]

        checkpoint = "runs/chess"     # or a game: its shipped checkpoint, or an untrained network

        simulations = 200

        per_update = 10     # paper = "sog" or "pog": the papers' search

        [agents.stockfish]

        uci = "/usr/games/stockfish"     # or gtp = "...", alphazero = "runs/...", random = true,

        # openspiel_mcts = 1000 (or 0 and seconds = 0.1), openspiel_alphazero = "runs/..." with simulations or seconds,

        # alphabeta = 5; Go: captures = true, rollouts = 1000

        nodes = 1

    In games of chance or hidden information each pair plays `rounds` deals, both ways round, as `sog match` does, and
    an agent is a checkpoint (its budget as above), random = true, policy = "leduc.json" of `sog solve --out`, or
    code = "my_agents:MyAgent". Each pair's hands are kept in a file. Ratings come only where hands are won or lost.
    """
    from threadpoolctl import threadpool_limits

    from sog.cluster.placement import placement_of
    from sog.measure.elo import by_units, points_of, rate
    from sog.protocols.tournament import fixtures, games_apart, load_results, openings_of, play_tournament
    from sog.protocols.tournament_file import read_tournament

    threadpool_limits(1)
    placement = None if cluster is None else placement_of(cluster, None)
    read = read_tournament(file)
    for name in read.untrained():
        say(f"sog: no checkpoint is shipped for what agent {name} names: its network is untrained")
    folder = out or file.with_suffix(".games")
    if not read.game.deterministic:
        if placement is not None:
            raise SettingError("--cluster is for games of perfect information: hands are played in this process")
        hand_tournament(read, folder, as_json)
        return
    openings = len(set(openings_of(read)))
    if again := _again(read.rounds, openings):
        say(f"sog: {again}")
    results: list[Result] = []
    notice, games = f"finished games are kept in {folder}: the same command continues from there", len(fixtures(read))
    title = f"tournament {read.game.name}"
    begun = len(load_results(folder))
    opened = progress_bar(title, games, "games", begun)
    with stop_notice(lambda: notice if results else ""), opened as report:
        apart = None if placement is None else games_apart(file, read, placement)
        for result in play_tournament(read, folder, apart=apart, note=say):
            results.append(result)
            if len(results) > begun:
                won = f"{result.points[2]:g} ({result.why})"
                report(len(results), f"{result.seats[0]} - {result.seats[1]}: {won}")
    results.sort(key=lambda result: result.number)
    names = list(read.agents)
    units = _units(names, results, {fixture.number: fixture.round for fixture in fixtures(read)})
    ratings = by_units(rate(points_of(names, [result.points for result in results])), units)
    pairs = _pairs(names, results, units)
    answer = _answer(read.game.name, names, ratings, results) | {"pairs": pairs, "rounds": read.rounds}
    answer |= {"openings": openings, "folder": str(folder)}
    if as_json:
        print_json(answer)
    else:
        _show(answer)
    with stop_notice(lambda: f"all games are kept in {folder}; elo.png may be missing"):
        _plot(folder / "elo.png", answer)


def _again(rounds: int, openings: int) -> str:
    """What a reader must know where openings come again: none are drawn or listed, or too few exist."""
    if openings == rounds:
        return ""
    again = "players that draw nothing play the same games again, and intervals are then too narrow"
    return f"{rounds} rounds have {openings} different opening{'s' * (openings > 1)}: {again}"


def _answer(game: str, names: list[str], ratings: Ratings, results: list[Result]) -> dict[str, Any]:
    """What the tournament found, as one object; agents by rating."""
    agents = []
    for i in sorted(range(len(names)), key=lambda i: -ratings.elo[i]):
        mine = [r for r in results if names[i] in r.seats]
        against = {name: _score(names[i], [r for r in mine if name in r.seats]) for name in names if name != names[i]}
        total = _score(names[i], mine)
        agents.append({"name": names[i], **rating_of(ratings, i), **total, "against": against})
    faults = [{"game": r.number, "why": r.why} for r in results if r.fault]
    return {
        "game": game,
        "games": len(results),
        "agents": agents,
        "virtual_draws": ratings.virtual,
        "faults": faults,
    }


def _units(names: list[str], results: list[Result], rounds: Mapping[int, int]) -> list[tuple[int, int, float, int]]:
    """(i, j, i's points, games) of two agents in a round, from one opening both ways round.

    rounds: by a game's number.
    """
    units: dict[tuple[int, int, int], list[float]] = {}
    for r in results:
        i, j = map(names.index, r.seats)
        points = r.points[2] if i < j else 1.0 - r.points[2]
        units.setdefault((min(i, j), max(i, j), rounds[r.number]), []).append(points)
    return [(i, j, sum(points), len(points)) for (i, j, _), points in units.items()]


def _pairs(
    names: list[str], results: list[Result], units: Sequence[tuple[int, int, float, int]]
) -> list[dict[str, Any]]:
    """Each pair that met: a's share of the points with its 95% interval by rounds, and as player 0 and as player 1."""
    from sog.measure.intervals import share_interval

    pairs = []
    for (i, a), (j, b) in itertools.combinations(enumerate(names), 2):
        as_0, as_1 = ([r.points[2] for r in results if r.seats == seats] for seats in ((a, b), (b, a)))
        as_1 = [1.0 - points for points in as_1]
        if both := [*as_0, *as_1]:
            shares = {"a_as_0": _mean(as_0), "a_as_1": _mean(as_1)}
            interval = list(share_interval(unit[2:] for unit in units if unit[:2] == (i, j)))
            pairs.append({"a": a, "b": b, "games": len(both), "share": _mean(both), "interval95": interval, **shares})
    return pairs


def _mean(points: list[float]) -> float | None:
    """None where there were no games."""
    return sum(points) / len(points) if points else None


def _score(name: str, results: list[Result]) -> dict[str, int]:
    """Wins, draws and losses of an agent."""
    utilities = [r.utility if r.seats[0] == name else -r.utility for r in results]
    return {
        "wins": sum(u > 0 for u in utilities),
        "draws": sum(u == 0 for u in utilities),
        "losses": sum(u < 0 for u in utilities),
    }


def _show(answer: dict[str, Any]) -> None:
    agents = answer["agents"]
    table = Table(title=Text(f"{answer['game']}: {answer['games']} games"), title_justify="left")
    for column in map(Text, ("agent", "Elo", "95%", "points", "games", *(agent["name"] for agent in agents))):
        table.add_column(column, justify="right" if table.columns else "left")
    for agent in agents:
        games = agent["wins"] + agent["draws"] + agent["losses"]
        cells = [_cell(agent["against"].get(other["name"])) for other in agents]
        points = agent["wins"] + agent["draws"] / 2
        table.add_row(
            Text(agent["name"]), f"{agent['elo']:+.0f}", f"±{agent['interval']:.0f}", f"{points:g}", str(games), *cells
        )
    print_table(table)
    stdout().print(
        "Cells: wins-draws-losses of the row's agent. Elo has mean 0 over the agents; intervals are by rounds."
    )
    if again := _again(answer["rounds"], answer["openings"]):
        stdout().print(f"{again}.")
    if answer["virtual_draws"]:
        stdout().print(bounds_text(answer["virtual_draws"]))
    for fault in answer["faults"]:
        stdout().print(f"game {fault['game']} was lost by a fault: {fault['why']}")
    stdout().print(f"Games and elo.png are in {answer['folder']}.", soft_wrap=True)


def _cell(score: dict[str, int] | None) -> str:
    """Wins, draws and losses; empty where the two have not met."""
    return f"{score['wins']}-{score['draws']}-{score['losses']}" if score and any(score.values()) else ""


def _plot(path: Path, answer: dict[str, Any]) -> None:
    """Ratings with their intervals, the strongest on top."""
    from matplotlib.figure import Figure

    agents = answer["agents"][::-1]
    figure = Figure(figsize=(7.0, 1.2 + 0.4 * len(agents)), layout="constrained")
    axes = figure.subplots()
    places = range(len(agents))
    axes.errorbar(
        [a["elo"] for a in agents], places, xerr=[a["interval"] for a in agents], fmt="o", capsize=3, color="tab:blue"
    )
    axes.set_yticks(list(places), [a["name"] for a in agents], parse_math=False)  # a name may have dollars in it
    axes.set_xlabel("Elo, 95% intervals")
    axes.set_title(f"{answer['game']}, {answer['games']} games", parse_math=False)
    axes.grid(axis="x", alpha=0.3)
    save_picture(figure, path, dpi=130)
