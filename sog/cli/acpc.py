"""`sog dealer` and `sog acpc`: poker matches between programs, by ACPC 2.0.0."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from sog.cli.frame import (
    JsonOption,
    count_preflop,
    facts_table,
    print_json,
    progress_bar,
    say,
    stdout,
    write_unless_there,
)
from sog.cli.options import LARGEST_COUNT, LARGEST_SEED, PerUpdateOption, SimulationsOption, plain_file, seed_of, word
from sog.cli.stopping import stop_notice
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.games.base import Game
    from sog.protocols.acpc_states import AcpcGame

__all__ = ["acpc", "dealer", "own_game", "read_game_file"]

_LARGEST_FILE: Final = 100_000  # bytes of a game file
_WHOLE_GAME: Final = "holdem(inputs=paper)"  # of an agent without a network, which asks for no inputs
_HOST: Final = "127.0.0.1"
_PATIENCE: Final = 10.0  # seconds that a client waits for its dealer to listen

_GameFile = typer.Argument(metavar="GAME_FILE", callback=plain_file, help="A game file of two-player Texas hold'em.")


def _milliseconds(text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(min=1, max=LARGEST_COUNT, metavar="MS", help=text)
    return option


def _write_game_file(path: Path | None) -> None:
    """Write the usual game file and end the command."""
    if path is None:
        return
    from sog.protocols.acpc_states import REVERSE_BLINDS

    write_unless_there(path, REVERSE_BLINDS.text())
    raise typer.Exit


def dealer(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the match is called in its log.")],
    game_file: Annotated[Path, _GameFile],
    hands: Annotated[int, typer.Argument(min=1, max=LARGEST_COUNT, help="How many hands.")],
    seed: Annotated[int, typer.Argument(min=0, max=LARGEST_SEED, help="Seed of the cards.")],
    player1: Annotated[str, typer.Argument(metavar="PLAYER1", help="Name of the player at the first port.")],
    player2: Annotated[str, typer.Argument(metavar="PLAYER2", help="Name of the player at the second port.")],
    ports: Annotated[str, word("Two ports such as 18374,18375; by default any that are free.")] = "0,0",
    host: Annotated[str, word("Address to listen at; by default this machine alone can connect.")] = _HOST,
    t_response: Annotated[int, _milliseconds("Time of a player for an action.")] = 600_000,
    t_hand: Annotated[int, _milliseconds("Time of a player for all its actions of a hand.")] = 600_000,
    t_per_hand: Annotated[int, _milliseconds("Times the hands: time of a player for the match.")] = 7_000,
    start_timeout: Annotated[int | None, _milliseconds("Time for both to connect; by default any.")] = None,
    log: Annotated[Path | None, typer.Option(callback=plain_file, help="New file for the hands and the score.")] = None,
    transactions: Annotated[
        Path | None, typer.Option(callback=plain_file, help="New file for the actions, to resume the match from.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the match that --transactions has.")] = False,
    fixed_seats: Annotated[
        bool, typer.Option("--fixed-seats", help="Players keep their positions; by default they alternate.")
    ] = False,
    write_game_file: Annotated[
        Path | None,
        typer.Option(
            callback=_write_game_file, is_eager=True, help="Write the usual no-limit game to this new file, and end."
        ),
    ] = None,
) -> None:
    """Deal a poker match to two programs by ACPC 2.0.0, as the competition's server does.

    The first line printed has the two ports, the last one the score. A seed deals the same cards whoever plays: for a
    duplicate match play it again with the names swapped. Faults of a player are let pass as the reference server does,
    with a line on stderr; silence beyond a time limit and a closed connection end the match. --resume with
    the same arguments continues one that was ended, from the file of --transactions.
    """
    from sog.protocols.acpc_dealer import Clocks, Dealer, DealerFiles, DealtMatch

    if resume and transactions is None:
        raise SettingError("--resume continues what --transactions has: name that file")
    if log is not None and transactions is not None and log.resolve() == transactions.resolve():
        raise SettingError(f"{log} is named for two outputs; give each a file of its own")
    dealt = DealtMatch(name, read_game_file(game_file), game_file.name, hands, seed, (player1, player2), fixed_seats)
    clocks = Clocks(t_response, t_hand, t_per_hand, start_timeout)
    files = DealerFiles(log, transactions, resume)
    made = Dealer(dealt, clocks, files, lambda text: say(f"sog: {text}"), host, _two_ports(ports))
    notice = "" if transactions is None else f"the same command with --resume continues from {transactions}"
    print(*made.ports, flush=True)
    with stop_notice(lambda: notice), progress_bar(f"match {name}", hands, "hands") as report:
        made.play(report)
    print(made.score() + f":{player1}|{player2}", flush=True)


def acpc(
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            help="A run's folder, a game of whole hold'em, always-call, always-fold, random, equity, or MODULE:CLASS "
            "of an agent of your own.",
        ),
    ],
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The dealer's port for this player.")],
    host: Annotated[str, word("The dealer's address.")] = _HOST,
    game_file: Annotated[
        Path | None,
        typer.Option(callback=plain_file, help="The dealer's game file; by default blinds 50 and 100, stacks 20000."),
    ] = None,
    game: Annotated[str | None, word("The agent's game, such as 'holdem(bets=allin)': its bets.")] = None,
    simulations: SimulationsOption = None,
    per_update: PerUpdateOption = None,
    algorithm: Annotated[
        str | None, word("The algorithm string, such as 'sog(simulations=20)'; by default what trained its network.")
    ] = None,
    seed: Annotated[int, seed_of("Seed of the agent.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Play a poker match at a dealer of ACPC 2.0.0, such as `sog dealer`, until it hangs up.

    The agent plays the dealer's stacks and blinds, and searches where the opponent bet any amount: the bet enters its
    tree. Prints what it won a hand, in the dealer's chips, with a 95% interval.
    """
    from sog.agents.entrants import open_entrant
    from sog.cli.match import earned
    from sog.measure.intervals import plus_minus
    from sog.protocols.acpc_client import AcpcClient, connected, table_of
    from sog.protocols.acpc_states import REVERSE_BLINDS

    table = table_of(
        own_game(agent, game, algorithm), REVERSE_BLINDS if game_file is None else read_game_file(game_file)
    )
    budget = {"simulations": simulations, "per_update": per_update}
    entrant = open_entrant(agent, agent, table.game, algorithm, budget)
    for setting, value in budget.items():
        if value is not None and setting not in entrant.takes:
            raise SettingError(f"{agent} does not search: --{setting.replace('_', '-')} changes nothing")
    if entrant.note:
        say(f"sog: {entrant.note}")
    count_preflop(table.game)  # before the dealer's clock runs
    client = AcpcClient(entrant, table, seed)
    with connected(host, port, _PATIENCE) as link, progress_bar(f"acpc {agent}", None, "hands") as report:
        for done in client.serve(link):
            report(done, "")
    won = [float(client.won[hand]) for hand in sorted(client.won)]
    if not won:
        raise SettingError("the dealer has hung up before a hand was over")
    winnings = earned(won, 1)
    if as_json:
        print_json({"agent": agent, "game": table.game.name, **winnings, "unit": "chips"})
        return
    big = max(table.dealt.blinds)
    half = None if winnings["interval95"] is None else winnings["interval95"][1] - winnings["mean"]
    of_big = plus_minus(1000 * winnings["mean"] / big, half and 1000 * half / big)
    wins = f"{plus_minus(winnings['mean'], half)} ({of_big} {table.game.unit.name})"
    stdout().print(facts_table({"game": table.game.name, "hands": f"{len(won):,}", "wins a hand": wins}))


def own_game(agent: str, game: str | None, algorithm: str | None) -> Game:
    """The game that an agent plays by itself: the one that is named, its network's, or whole hold'em."""
    from sog.agents.entrants import OPPONENTS
    from sog.agents.opening import open_network
    from sog.algorithms.table import player_of
    from sog.games.catalog import make_game

    if game is not None:
        return make_game(game)
    if agent in OPPONENTS or (":" in agent and "(" not in agent):
        return make_game(_WHOLE_GAME)
    return open_network(agent, player_of(agent, algorithm).name).game


def read_game_file(path: Path) -> AcpcGame:
    """The game of a game file; SettingError where it cannot be read."""
    from sog.files import open_regular, read_bounded
    from sog.protocols.acpc_states import read_game

    try:
        with open_regular(path, _LARGEST_FILE) as (file, size):
            return read_game(read_bounded(file, size).decode("utf-8", "replace"))
    except OSError as error:
        raise SettingError(f"cannot read {path}: {error.strerror}") from error


def _two_ports(text: str) -> tuple[int, int]:
    words = [part.strip() for part in text.split(",")]
    if len(words) != 2 or not all(part.isdecimal() and len(part) < 6 and int(part) < 65_536 for part in words):
        raise SettingError(f"--ports are two numbers up to 65535 with a comma between, not {text}")
    return int(words[0]), int(words[1])
