"""What programs for people send to a Go engine, replayed: Sabaki from its start to a game; KaTrain speaks no GTP.

Sources, read on GitHub. Sabaki: SabakiHQ/Sabaki src/modules/enginesyncer.js (start, abort, setting up), sabaki.js
(generateMove, analyzeMove) and src/setting.js (which analysing commands it looks for, hundredths of a second);
SabakiHQ/gtp src/ControllerStateTracker.js (komi, size, replaying, undo). KaTrain: sanderland/katrain
katrain/core/engine.py. KataGo's `query_version`: lightvector/KataGo docs/Analysis_Engine.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial

import pytest

from sog.algorithms.student.player import SogPlayer
from sog.games.boards.go import Go
from sog.play.player import Candidate
from sog.protocols.gtp import GtpEngine
from sog.protocols.gtp_analysis import kata_row, lz_row

START = ("name", "version", "protocol_version", "list_commands")
# The commands that Sabaki looks for in that list, the first that is there.
GENMOVES = ("genmove_analyze", "kata-genmove_analyze", "lz-genmove_analyze")
ANALYSES = ("analyze", "kata-analyze", "lz-analyze")
INTERVAL = "50"


@pytest.fixture
def answers(player: SogPlayer, talk: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """What is answered to lines that come all at once, as Sabaki sends them: to each one answer and an empty line."""
    gtp = partial(talk, lambda say: GtpEngine(player, Go(5, 2.5), say, simulations=30))

    def answers(*said: str) -> list[str]:
        text = "".join(line + "\n" for line in gtp(*said))
        assert text.endswith("\n\n")
        found = text.removesuffix("\n\n").split("\n\n")
        assert len(found) == len(said) and all(answer[:1] in ("=", "?") for answer in found), found
        return found

    return answers


def read_by_sabaki(line: str) -> list[dict[str, object]]:
    """The rows of an `info` line as parseAnalysis reads them: pairs before the line of play, chances by their point."""
    rows = []
    for part in re.split(r"\s*info\s+", line)[1:]:
        pv = re.search(r"(pass|[A-Za-z]\d+)(\s+(pass|[A-Za-z]\d+))*$", part.strip())
        assert pv is not None
        words = part.strip()[: pv.start()].split()[:-1]
        row: dict[str, object] = dict(zip(words[::2], words[1::2], strict=True))
        chance = str(row["winrate"])
        row["percent"] = 100.0 * float(chance) if "." in chance else float(chance) / 100.0
        rows.append(row | {"pv": pv[0].split()})
    return rows


def test_sabaki_attaches_sets_up_and_plays(answers: Callable[..., list[str]]) -> None:
    start = answers(*START)
    commands = start[-1].removeprefix("= ").split("\n")
    assert start[0] == "= sog" and start[2] == "= 2" and {"undo", "set_free_handicap", "loadsgf"} <= set(commands)
    genmove = next(name for name in GENMOVES if name in commands)
    analyse = next(name for name in ANALYSES if name in commands)
    assert "sabaki-genmovelog" not in commands  # older versions ask for it only where it is listed
    game = ("komi 7.5", "boardsize 5", "clear_board", "set_free_handicap B2 D4", "play W C3", f"{genmove} B {INTERVAL}")
    heard = answers(*START, *game, f"{analyse} W {INTERVAL}", "protocol_version", "undo", "play B pass", "name")[4:]
    assert all(answer.startswith("=") for answer in heard) and heard[:5] == ["="] * 5
    mark, *infos, play = heard[5].split("\n")
    assert mark == "=" and re.fullmatch(r"play ([A-E][1-5]|pass)", play) and infos
    rows = read_by_sabaki(infos[-1])
    assert rows and all(0.0 <= row["percent"] <= 100.0 for row in rows)  # type: ignore[operator]
    assert {"move", "visits", "winrate", "pv"} <= set(rows[0]) and heard[7] == "= 2" and heard[-1] == "= sog"


@pytest.mark.parametrize("row", [kata_row, lz_row])
@pytest.mark.parametrize("value", [-1.0, -0.99999999, 0.0, 0.25, 1.0])
def test_sabaki_reads_every_chance(row: Callable[[int, Candidate, float, int], str], value: float) -> None:
    """It takes a number without a point for ten thousandths: KataGo's 1 would be a hundredth of a percent."""
    (read,) = read_by_sabaki(row(0, Candidate(12, 1.0, value, 7, (12, 25)), value, 5))
    assert read["percent"] == pytest.approx(50.0 * (1.0 + value), abs=0.01)
    assert read["move"] == "C3" and read["pv"] == ["C3", "pass"]


def test_katrain_hears_in_one_line_that_this_is_no_analysis_engine(answers: Callable[..., list[str]]) -> None:
    """It sends KataGo's JSON queries, which are no GTP; nothing of them is implemented."""
    query = {"id": "QUERY:1", "rules": "japanese", "analyzeTurns": [0], "maxVisits": 500, "komi": 6.5, "moves": []}
    said = [json.dumps(query), json.dumps({"id": "v", "action": "query_version"})]
    assert answers(*said, "name") == ["? unknown command", "? unknown command", "= sog"]
