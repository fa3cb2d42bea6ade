"""Games are saved and loaded: PGN, SGF, hand histories, our own record; whatever is malformed ends in one line."""

from __future__ import annotations

import json
import random
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from sog.errors import SogError
from sog.games.catalog import make_game
from sog.games.game_records import GameRecord
from sog.web.loaded import read_game
from sog.web.offers import Offers
from tests.web.client import Answer, Client, begun, client_of, page_at, played_out

OFFERS = Offers()
FOOLS_MATE = """[Event "it {is} ; so"]
[White "a \\"b\\""]

1. f3 {a weak move} e5 (1... d5 2. d4 (2. e3)) 2. g4?? $4 ; the end comes
Qh4# 0-1

[Event "the next game"]

1. e4 *
"""
TRICKY = "r3k2r/1P4pp/8/8/2pP4/8/PP3PPP/R3K2R b KQkq d3 0 7"


def sent(client: Client, content: bytes, then: str = "game", seats: tuple[str, str] = ("person", "person")) -> Answer:
    """The answer to a form with a file."""
    fields = {"text": "", "seat0": seats[0], "seat1": seats[1], "as": then}
    parts = [f'--x\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in fields.items()]
    file = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n'
    body = b"".join([*parts, file, content, b"\r\n--x--\r\n"])
    return client.post("/load", {}, {"content-type": "multipart/form-data; boundary=x"}, body)


def reason(answer: Answer) -> str:
    """The line of a refusal."""
    assert answer.status == 400
    (words,) = re.findall(r"<h1>This is not possible</h1>\n<p>(.*)</p>", answer.text)
    return unescape(words)


def test_a_mate_of_pgn_is_read() -> None:
    found = read_game(FOOLS_MATE, OFFERS)
    game, names = make_game(found.game), list[str]()
    state = game.root()
    for column in found.columns:
        names.append(game.action_name(state, int(game.actions(state)[column])))
        state = game.child(state, column)
    assert names == ["f2f3", "e7e5", "g2g4", "d8h4"] and game.actor(state) == 3


@pytest.mark.parametrize("name", ["chess", f'chess(fen="{TRICKY}")', "go(board_size=5,komi=0.5)"])
def test_what_is_written_is_read_again(name: str) -> None:
    """Castling, promotion, en passant and ambiguous moves, of random games."""
    offers, game, rng = Offers([name]), make_game(name), random.Random(1)
    for _ in range(10):
        state, moves, columns = game.root(), list[int](), list[int]()
        while game.actor(state) < 2 and len(moves) < 120:
            actions = game.actions(state).tolist()
            columns.append(rng.randrange(len(actions)))
            moves.append(actions[columns[-1]])
            state = game.child(state, columns[-1])
        record = game.write_record(GameRecord(("a", "b"), "2026-01-02", "e", "1", tuple(moves), None, "not over"))
        assert read_game(record, offers).columns == tuple(columns)


def test_a_page_to_load_games_promises_no_trained_network(client: Client) -> None:
    page = client.get("/load").text
    assert "ships" not in page and "the network, trained or not" in page


def test_a_running_game_is_saved_and_played_on(client: Client) -> None:
    address = begun(client, "chess", ("person", "person"))
    for name in ("e2e4", "e7e5", "g1f3"):
        view = client.get(f"{address}/view.json").json()
        column = next(choice["column"] for choice in view["choices"] if choice["name"] == name)
        client.post(f"{address}/move", {"at": view["at"], "move": column})
    for end in ("record", "saved"):
        content = client.get(f"{address}/{end}").body
        there = page_at(sent(client, content))
        ours, theirs = (client.get(f"{each}/view.json").json() for each in (address, there))
        assert {**ours, "table": ""} == {**theirs, "table": ""} and there != address
        assert "1. e4 e5 2. Nf3 *" in client.get(f"{there}/record").text
        looked = sent(client, content, "position").headers["location"]
        assert looked.startswith("/position?") and ours["state"] == theirs["state"]
        page = client.get(looked + "&s=8")
        assert page.status == 200 and ours["state"] in unescape(page.text)
    kept = client_of(client.app.app.state.site.tables.folder)
    assert kept.get(f"{there}/view.json").json() == theirs
    kept.close()


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", "liars_dice(numdice=1,dice_sides=6)", "rps"])
def test_a_finished_hand_is_saved_and_loaded(client: Client, game: str) -> None:
    """Before its end it cannot be saved: that has what chance did and will do."""
    address = begun(client, game, ("person", "person"))
    assert "once the game is over" in reason(client.get(f"{address}/saved"))
    assert "once the game is over" in reason(client.get(f"{address}/record"))
    played_out(client, address, random.Random(2))
    there = page_at(sent(client, client.get(f"{address}/saved").body))
    ours, theirs = (client.get(f"{each}/view.json").json() for each in (address, there))
    assert {**ours, "table": ""} == {**theirs, "table": ""} and theirs["result"]
    assert client.get(sent(client, client.get(f"{address}/saved").body, "position").headers["location"]).status == 200


def test_a_hand_of_holdem_has_a_hand_history(games: Path) -> None:
    pytest.importorskip("pokerkit")
    client = client_of(games, ["holdem"])
    address = begun(client, "holdem(stacks=20000,bets=0.5;1;allin)", ("person", "person"))
    assert client.get(f"{address}/phh").status == 400
    view = client.get(f"{address}/view.json").json()
    fold = next(choice["column"] for choice in view["choices"] if choice["name"] == "fold")
    client.post(f"{address}/move", {"at": "0", "move": fold})
    history = client.get(f"{address}/phh").text
    assert 'variant = "NT"' in history.replace("'", '"') and "blinds_or_straddles" in history
    assert "/phh" in client.get(address).text
    client.close()


def record(**parts: Any) -> str:
    return json.dumps({"record": 1, "game": "tic_tac_toe", "seed": None, "columns": [0]} | parts)


REFUSED = {
    "": "nothing was uploaded",
    "hello": "hello is no legal move",
    "1. e4 e5 2. Ke3": "Ke3 is no legal move",
    "1. e4 e5 2. N3": "N3 is no legal move",
    "1. Nf3 Nf6 2. Na3 Ng8 3. Nd4 Nf6 4. Nb5": "Nb5 is more than one move",
    FOOLS_MATE.replace("0-1", "3. a3"): "after its end",
    '[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n': "not offered here",
    '[FEN "<script>"]\n': "its FEN is malformed",
    "(;SZ[9]KM[7.5];B[aa];B[bb])": "take turns",
    "(;SZ[9]KM[7.5]AB[aa];W[bb])": "take turns",
    "(;SZ[9]KM[7.5];B[aa];W[aa])": "move 2 is not legal",
    "(;SZ[7]KM[6];B[aa])": "sog serve 'go(board_size=7,komi=6)'",
    "(;SZ[x])": "no SGF",
    "(": "no SGF",
    "{": "no record of this program",
    "{}": "no record of this program",
    record(record=2): "another form",
    record(game="go(board_size=2)"): "not offered here",
    record(game=["chess"]): "another form",
    record(columns=[99]): "illegal",
    record(columns=[True]): "another form",
    record(columns="ab"): "another form",
    record(columns=[0] * 3000): "at most 2,000 moves",
    record(seed=-1): "its seed is no whole number",
    record(seed=2**70): "its seed is no whole number",
}


@pytest.mark.parametrize(("text", "why"), REFUSED.items(), ids=range(len(REFUSED)))
def test_what_is_no_game_is_refused_in_a_line(client: Client, text: str, why: str) -> None:
    for then in ("game", "position"):
        words = reason(sent(client, text.encode(), then))
        assert why in words and len(words) < 200


def test_forms_with_files_are_read_within_bounds(client: Client) -> None:
    assert "text" in reason(sent(client, b"\xff\xfe\x00"))
    whole = "multipart/form-data"
    for kind in ("text/plain", whole, f"{whole}; boundary=", f"{whole}; boundary=\n", f"{whole}; boundary=" + "x" * 99):
        assert client.post("/load", {}, {"content-type": kind}, b"abc").status == 400
    assert client.post("/load", {}, {"content-type": "multipart/form-data; boundary=x"}, b"abc").status == 400
    nested = b"".join(b"--x%d\r\nContent-Type: multipart/mixed; boundary=x%d\r\n\r\n" % (k, k + 1) for k in range(3000))
    kind = "multipart/form-data; boundary=x0"
    assert client.post("/load", {}, {"content-type": kind}, nested).status == 400
    assert sent(client, b"x" * 1_100_000).status in (400, 413)
    assert sent(client, b"[" * 900_000).status == 400 and sent(client, b"(" * 900_000).status == 400
    assert sent(client, b'{"record":' * 90_000).status == 400


def test_random_bytes_are_refused(client: Client) -> None:
    rng = random.Random(6)
    seeds = [FOOLS_MATE.encode(), b"(;SZ[9]KM[7.5];B[aa];W[bb])", record().encode()]
    for _ in range(300):
        content = bytearray(rng.choice(seeds))
        for _ in range(rng.randrange(1, 6)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        assert sent(client, bytes(content)).status in (303, 400)


def test_a_refused_game_leaves_no_file(games: Path) -> None:
    client = client_of(games)
    sent(client, record(columns=[99]).encode())
    assert not games.exists()
    client.close()


def test_only_offered_players_sit_at_a_loaded_game(client: Client) -> None:
    assert sent(client, record().encode(), seats=("person", "os:system")).status == 400
    with pytest.raises(SogError):
        read_game(record(game="openspiel:kuhn_poker"), OFFERS)
