"""Texts changed at random: game strings, FENs, ranges, locked decisions, tournament files, ACPC, web servers, PHH.

Each is read, or refused with an error of the project's own, in time.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from sog.agents.entrants import open_entrant
from sog.errors import SogError
from sog.files import bounded_json
from sog.games.boards.chess import START, Chess
from sog.games.catalog import known_games, make_game
from sog.games.holdem.ranges import parse_range
from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game
from sog.protocols.acpc_client import AcpcClient, table_of
from sog.protocols.acpc_states import REVERSE_BLINDS, AcpcHand, read_game
from sog.protocols.gtowizard import read_gtowizard
from sog.protocols.phh import read_phh
from sog.protocols.phh_sources import hands_of_log
from sog.protocols.slumbot import read_slumbot
from sog.protocols.tournament_file import read_tournament
from sog.protocols.web_hands import WebAnswer
from sog.protocols.words import Keys
from sog.searches.holdem.locks import read_locks
from tests.fuzz.frame import Finding, arguments, hunt

SLOWEST: Final = 2.0
COMPILED: Final = 10.0  # an OpenSpiel game is listed on the spot, up to the limit on its histories
BYTES: Final = 6 * 10**9  # of address space
OPENSPIEL: Final = (  # with numbers that a change may make enormous
    "openspiel:kuhn_poker",
    "openspiel:tic_tac_toe",
    "openspiel:mnk(m=2,n=2,k=2)",
    "openspiel:hex(board_size=2)",
    "openspiel:goofspiel(num_cards=3)",
    "openspiel:oshi_zumo(coins=3,horizon=3)",
    "openspiel:dots_and_boxes(num_rows=1,num_cols=1)",
    "openspiel:universal_poker(stack=3 3,blind=1 2)",
)
BETS: Final = f"holdem(board=turn,bets={';'.join(f'{k / 1000:g}' for k in range(1, 9_000))})"
FENS: Final = (
    START,
    "r3k2r/1P4pp/8/8/2pP4/8/PP3PPP/R3K2R b KQkq d3 0 7",
    "7k/P7/8/8/8/8/8/K7 w - - 99 150",
    "4k3/8/8/8/8/8/8/4K3 w KQkq e3 0 1",
)
RANGES: Final = ("AA,KK-TT,AKs,AQo+,T9s-76s", "22+,A2s+,K9s+:0.5,AhKd", "random@5", "[50]AKs,JJ[/50],[2]22[/2]", "")
TOML: Final = """game = "go(board_size=5,komi=0.5)"
rounds = 3
seed = 5
plies = 1
longest = 20
patience = 1.5
openings = ["a1 b2", "c3"]
[agents.a]
random = true
[agents."b c"]
gtp = "gnugo --mode 'gtp'"
seconds = 5
[agents.c]
uci = "stockfish"
nodes = 5
options = { Hash = 16, Ponder = false }
[agents.d]
checkpoint = "go(board_size=5)"
simulations = 20
per_update = 2.5
"""
STATES: Final = (
    "MATCHSTATE:1:0::|AsKs",
    "MATCHSTATE:0:3:cr300c/cr600:7c7d|/2s9h9d",
    "MATCHSTATE:1:7:r20000c///:AcAd|AsKs/2s9h9d/3c/4c",
)
LOG: Final = "# a log\nSTATE:0:f:AsKs|7c7d:50|-50:A|B\nSTATE:1:cr300f:AsKs|7c7d:-100|100:B|A\nSCORE:150|-150:A|B\n"
PHH: Final = """variant = 'NT'
ante_trimming_status = true
antes = [0, 0]
blinds_or_straddles = [50, 100]
min_bet = 100
starting_stacks = [2000, 5000]
actions = ['d dh p1 AsKs', 'd dh p2 7c7d', 'p2 cbr 300', 'p1 cc', 'd db 7h8h9h', 'p1 cc', 'p2 cbr 500', 'p1 f']
players = ['left', 'right']
"""
SPOT: Final = holdem_from(parse_game("holdem(board=2s2h7d9c,pot=1000,stacks=2000,bets=0.5;allin,range1=AA-TT)")[1])
LOCKS: Final = (
    """[{"line": "check, bet 500", "hands": {"full": {"fold": 1}, "AA,KK:1": {"call": 0.2, "raise allin": 0.8}}}]""",
    """{"state": "board 2s2h7d9c5h, check, check, 5h", "player": 0, "actions": ["check", "bet 500 (0.5)"],
 "hands": [{"hand": "AsAh", "weight": 1.0, "policy": [0.3, 0.7]}, {"hand": "full", "policy": {"check": 1}}]}""",
    """{"line": "check, check, any, bet allin", "hands": {"22+": {"call": 1.0}}}""",
)
SLUMBOT: Final = (
    '{"action": "b200", "client_pos": 0, "hole_cards": ["Ac", "9d"], "board": [], "token": "a2f42f44"}',
    """{"action": "b200b1103c/b940c/b778b6957", "client_pos": 1, "hole_cards": ["Ac", "9d"],
"board": ["2c", "3c", "4c", "5d"]}""",
    """{"action": "b20000c///", "client_pos": 1, "hole_cards": ["Kd", "2h"], "board": ["Th", "9s", "4s", "3c", "5c"],
"bot_hole_cards": ["Kh", "7h"], "winnings": -20000, "baseline_winnings": 50}""",
)
GTOWIZARD: Final = tuple(
    f"""{{"hand_id": 7, "game": {{"starting_stack": 20000.0, "blinds": [100.0, 50.0]}}, "game_state": {{
"players": [{{"name": "GTO Wizard", "position": "SB", "hole_cards": {theirs}}},
{{"name": "ours", "position": "BB", "hole_cards": "AhKd"}}], "action_history": {history}, "board_cards": "{board}",
"is_hand_over": {over}, "winnings": {won}, "aivat_score": {won}}}}}"""
    for history, board, theirs, over, won in (
        ('["b225"]', "", "null", "false", "null"),
        ('["b225.0", "c", "_", "b300", "b900", "c", "_"]', "2c3c4c5d", "null", "false", "null"),
        ('["b20000", "c", "_", "_", "_"]', "2c3c4c5d8h", '"QhQd"', "true", "-20000.0"),
        ('["c", "k", "_", "k", "b100", "f"]', "2c3c4c", '"QhQd"', "true", "-100.0"),
    )
)
SCRAPS: Final = (
    *("(", ")", "[", "]", "{", "}", ",", ";", ":", "=", '"', "'", "#", "\\", "/", ".", "-", "+", "..", "$", "\n", " "),
    *("0", "-1", "1e999", "nan", "inf", "true", "false", "None", "\x00", "\xff", "\u0663", "\u202e", "[/bold]", "0.5"),
    *("9" * 8, "9" * 23, "9" * 5000, "[" * 3000, "(" * 3000, "a" * 3000, "openspiel:", "chess(fen="),
)


def mutated(rng: random.Random, text: str) -> str:
    """The text with one change or a few."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        i, j = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        j = min(j, i + 20)
        kind = rng.randrange(5)
        letter = chr(rng.randrange(256))
        new = (rng.choice(SCRAPS), rng.choice(SCRAPS), text[i:j] * 2, "", letter)[kind]
        text = text[:i] + new + text[j if kind != 1 else i :]
    return text


def read_file(text: str) -> object:
    FILE.write_bytes(text.encode("utf-8", "surrogatepass"))
    return read_tournament(FILE)


def answered(text: str, read: Callable[[Keys, int], WebAnswer]) -> object:
    """An answer of a web server's, whose readers ask for a ValueError."""
    try:
        keys = bounded_json(text.encode("utf-8", "surrogatepass"))
        answer = read(keys if isinstance(keys, dict) else {}, 0)
        return answer.won() if answer.hand.over else answer
    except ValueError as error:
        raise SogError(str(error)) from error


def heard(line: str) -> object:
    """A dealer's line, to a client and, as an action, to a dealer."""
    hand = AcpcHand.begun(REVERSE_BLINDS)
    hand.after(hand.admitted(line.rpartition(":")[2])[0])
    return AcpcClient(CALLER, TABLE, 0).answer(line)


def case(rng: random.Random) -> str:
    kinds = (
        "game",
        "openspiel",
        "fen",
        "range",
        "lock",
        "tournament",
        "slumbot",
        "gtowizard",
        "game file",
        "match state",
        "log",
        "phh",
    )
    kind = rng.choice(kinds)
    game = rng.choice([*(name for name, _ in known_games() if not name.startswith("openspiel:")), BETS])
    text, read = {
        "game": (game, make_game),
        "openspiel": (rng.choice((*OPENSPIEL, f"openspiel:{game}")), make_game),
        "fen": (rng.choice(FENS), Chess),
        "range": (rng.choice(RANGES), parse_range),
        "lock": (rng.choice(LOCKS), lambda text: read_locks(SPOT, text.encode("utf-8", "surrogatepass"))),
        "tournament": (TOML, read_file),
        "slumbot": (rng.choice(SLUMBOT), lambda text: answered(text, read_slumbot)),
        "gtowizard": (rng.choice(GTOWIZARD), lambda text: answered(text, read_gtowizard)),
        "game file": (REVERSE_BLINDS.text(), read_game),
        "match state": (rng.choice(STATES), heard),
        "log": (LOG, lambda text: list(hands_of_log(text, REVERSE_BLINDS))),
        "phh": (rng.choice((PHH, f"[1]\n{PHH}")), read_phh),
    }[kind]
    text = mutated(rng, text) if rng.random() < 0.9 else text
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 20)
    try:
        read(text)  # type: ignore[operator]
        kind += " read"
    except SogError as error:
        kind += " refused"
        if len(str(error)) > 20_000 + len(text):
            raise Finding(f"{kind}: {len(str(error))} characters of error", text) from error
    except Exception as error:
        raise Finding(f"{kind}: {type(error).__name__}: {str(error)[:200]!r}", text) from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if time.process_time() - began > (COMPILED if kind.startswith("openspiel") else SLOWEST):
        raise Finding(f"{kind}: {time.process_time() - began:.1f} s", text)
    return kind


class Slow(Exception):
    """It took far too long, of a processor's time: the machine may be busy."""


def alarm(signum: int, frame: object) -> None:
    raise Slow


if __name__ == "__main__":
    TABLE = table_of(make_game("holdem(inputs=paper)"), REVERSE_BLINDS)
    CALLER = open_entrant("caller", "always-call", TABLE.game, None, {})
    signal.signal(signal.SIGPROF, alarm)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))  # a MemoryError rather than a dead machine
    os.chdir(Path(__file__).parents[2])
    with tempfile.TemporaryDirectory() as folder:
        FILE = Path(folder) / "matches.toml"
        with suppress(SogError):
            read_file(TOML)  # importing is no text's fault
        sys.exit(hunt("texts", case, arguments("texts").parse_args()))
