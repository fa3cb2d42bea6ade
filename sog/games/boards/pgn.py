"""Games of chess as PGN, the format that chess programs read."""

from __future__ import annotations

from sog.games.base import Game
from sog.games.boards.positions import BoardPosition
from sog.games.game_records import GameRecord, states_of, wrapped

__all__ = ["pgn_record"]


def pgn_record(game: Game, record: GameRecord, fen: str, start: str) -> str:
    """The game of chess, which began at `fen`, as PGN.

    start: the FEN that needs no tag, since games begin there unless a tag says otherwise.
    """
    result = "*" if record.utility is None else {1.0: "0-1", -1.0: "1-0"}.get(record.utility, "1/2-1/2")  # 0 is Black
    tags = {
        "Event": record.event,
        "Site": "?",
        "Date": record.date.replace("-", "."),
        "Round": record.round,
        "White": record.players[1],
        "Black": record.players[0],
        "Result": result,
        "Termination": record.why,
    }
    if fen != start:
        tags |= {"SetUp": "1", "FEN": fen}
    words: list[str] = []
    fields = fen.split()
    number, white = int(fields[5]), fields[1] == "w"
    for k, (state, action) in enumerate(zip(states_of(game, record.moves), record.moves, strict=True)):
        if white or k == 0:
            words.append(f"{number}." if white else f"{number}...")
        assert isinstance(state, BoardPosition)
        words.append(str(state.spiel.action_to_string(state.actor, action)))
        number, white = number + (not white), not white
    head = "".join(f'[{tag} "{_quoted(value)}"]\n' for tag, value in tags.items())
    return f"{head}\n{wrapped([*words, result])}\n"


def _quoted(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
