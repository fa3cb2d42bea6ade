"""Tournaments from positions: FEN and EPD files, PGN games that begin from a FEN, in records and for engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from sog.errors import SettingError
from sog.games.boards.chess import START
from sog.games.boards.pgn_reader import read_pgn
from sog.games.boards.sgf_reader import read_sgf
from sog.games.catalog import make_game
from sog.protocols.opening_book import Opening, openings_in
from sog.protocols.tournament import openings_of, play_tournament
from sog.protocols.tournament_file import read_tournament
from tests.protocols.test_tournament import FAKE

SICILIAN = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
BLACK_MOVES = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
PAWNS = "4k3/p7/8/8/8/8/P7/4K3 w - -"
POSITIONS = (f'{BLACK_MOVES[:-4]} bm e5; id "one; 5";', f"{PAWNS} hmvc 3; fmvn 40;", PAWNS, PAWNS)
BOOK = "\n".join(["# a comment", "", SICILIAN, *POSITIONS, ""])
FOUND = [SICILIAN, BLACK_MOVES, f"{PAWNS} 3 40", f"{PAWNS} 0 1"]
TWO = "[agents.a]\nrandom = true\n[agents.b]\nrandom = true\n"


def tournament_file(folder: Path, book: str, more: str = "", agents: str = TWO) -> Path:
    (folder / "book.epd").write_text(book)
    path = folder / "matches.toml"
    path.write_text(f'game = "chess"\nopenings = "book.epd"\n{more}\n{agents}')
    return path


def test_positions_are_openings_and_records_begin_there(tmp_path: Path) -> None:
    """Lines of FEN and of EPD, whose counters are operations; the same position twice is one opening."""
    tournament = read_tournament(tournament_file(tmp_path, BOOK, "longest = 6"))
    assert openings_of(tournament) == tuple(Opening(fen=fen) for fen in FOUND) and tournament.rounds == 4
    results = list(play_tournament(tournament, tmp_path / "games"))
    records = [(tmp_path / "games" / result.record).read_text() for result in results]
    tags = [next(read_pgn(record)).tags for record in records]
    assert [tag["FEN"] for tag in tags] == [fen for fen in FOUND for _ in range(2)]
    assert [tag["White"] for tag in tags] == ["b", "a"] * 4 and "\n1... " in records[2] and "\n40. " in records[4]
    assert len(list(play_tournament(read_tournament(tmp_path / "matches.toml"), tmp_path / "games"))) == 8


def test_games_of_a_book_may_begin_from_a_fen(tmp_path: Path) -> None:
    """Beside games from the start; each opening is where its game begins and the moves that follow."""
    book = f'1. e4 c5 *\n\n[FEN "{BLACK_MOVES}"]\n\n1... c5 2. Nf3 *\n'
    tournament = read_tournament(tournament_file(tmp_path, book, "longest = 3\nplies = 2"))
    first, second = openings_of(tournament)
    assert first.fen == "" and second.fen == BLACK_MOVES and len(first.moves) == len(second.moves) == 2
    results = list(play_tournament(tournament, tmp_path / "games"))
    records = [(tmp_path / "games" / result.record).read_text() for result in results]
    assert all("1. e4 c5" in record for record in records[:2]) and all("1... c5 2. Nf3" in one for one in records[2:])


def test_an_engine_is_told_the_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE_HEARS", str(tmp_path / "heard"))
    agents = f'[agents.a]\nuci = "{FAKE} uci none 1"\nnodes = 1\n[agents.b]\nuci = "{FAKE} uci none 1"\nnodes = 1\n'
    path = tournament_file(tmp_path, f"{START}\n{SICILIAN}\n", "longest = 2", agents)
    assert not any(result.fault for result in play_tournament(read_tournament(path), tmp_path / "games"))
    heard = [line for line in (tmp_path / "heard").read_text().splitlines() if line.startswith("position")]
    assert f"position fen {SICILIAN}" in heard and f"position fen {SICILIAN} moves a2a3" in heard
    assert "position startpos" in heard and all(line.split()[1] in ("fen", "startpos") for line in heard)


@pytest.mark.parametrize(
    ("book", "more", "told"),
    [
        (f"{SICILIAN}\n8/8/8/8/8/8/8/8 w - - 0 1\n", "", "game 2: not a chess position"),
        (f"{SICILIAN}\nhello\n", "", "game 2: not a chess position"),
        (f"{SICILIAN}\n7k/6Q1/6K1/8/8/8/8/8 b - -\n", "", "game 2: the opening ends the game"),
        (SICILIAN, "plies = 2", "leave it out"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n1. e4 *', "", "game 1: not a chess position"),
        (f'[FEN "{BLACK_MOVES}"]\n1. e4 *', "", "game 1: e4 is no legal move"),
    ],
)
def test_a_position_that_is_none_is_refused(tmp_path: Path, book: str, more: str, told: str) -> None:
    with pytest.raises(SettingError) as refused:
        read_tournament(tournament_file(tmp_path, book, more))
    assert told in str(refused.value) and "\n" not in str(refused.value) and "book.epd" in str(refused.value)


def test_a_book_as_editors_write_it(tmp_path: Path) -> None:
    """With a mark of its encoding, in Latin-1, with a comment that looks like a tag, with quoted operands."""
    game = make_game("chess")
    tagged = '[Event "M\u00fcller"]\n\n1. e4 {\n[Event "zzz"]\n} e5 *\n'
    for content in (tagged.encode("utf-8-sig"), tagged.encode("latin-1"), tagged.encode()):
        (tmp_path / "book.pgn").write_bytes(content)
        (opening,) = openings_in(tmp_path / "book.pgn", game, None)
        assert len(opening.moves) == 2
    epd = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm Nf3; id "x hmvc 33;";'
    (tmp_path / "book.epd").write_text(epd)
    (opening,) = openings_in(tmp_path / "book.epd", game, None)
    assert opening.fen.endswith("- 0 1")


def test_sgf_may_name_its_size_last() -> None:
    first, last = (read_sgf(f"(;{node};W[dd])") for node in ("SZ[13]AB[am]", "AB[am]SZ[13]"))
    assert first == last and first.plays[0] == (0, 0, False)
