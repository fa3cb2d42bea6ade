"""A program that the tests start as an engine: it speaks GTP or UCI as badly as its arguments say.

fake_engine.py PROTOCOL FAULT MOVES: after MOVES moves it dies, hangs or names an illegal move; `none` never.
"""

from __future__ import annotations

import random
import sys
import time


def main(protocol: str, fault: str, moves: int) -> None:
    played = 0
    stones: set[str] = set()
    position: list[str] = []
    for line in sys.stdin:
        words = line.split()
        if protocol == "gtp":
            answer = ""
            if words[0] in ("clear_board", "boardsize"):
                stones, played = set(), 0
            elif words[0] == "play":
                stones.add(words[2].lower())
            elif words[0] == "genmove":
                answer = at_fault(fault, played, moves) or free(stones)
                stones.add(answer.lower())
                played += 1
            print(f"= {answer}\n", flush=True)
        elif words[:1] == ["uci"]:
            print("id name fake\nuciok", flush=True)
        elif words[:1] == ["isready"]:
            print("readyok", flush=True)
        elif words[:1] == ["position"]:
            position = words
        elif words[:1] == ["go"]:
            print(f"bestmove {at_fault(fault, played, moves) or legal(position)}", flush=True)
            played += 1
        elif words[:1] == ["quit"]:
            return


def at_fault(fault: str, played: int, moves: int) -> str:
    """What it says where it fails, if it says anything; "" while it does not fail."""
    if fault == "none" or played < moves:
        return ""
    if fault == "dies":
        sys.exit(3)
    if fault == "hangs":
        time.sleep(1000)
    return {"illegal": "a1a8", "pass": "pass", "garbage": "Q99", "resigns": "resign"}[fault]


def free(stones: set[str]) -> str:
    """A vertex of 5x5 where no stone was put, or a pass."""
    left = [f"{column}{row}" for column in "abcde" for row in range(1, 6) if f"{column}{row}" not in stones]
    return random.Random(len(stones)).choice(left) if left and len(stones) < 18 else "pass"


def legal(position: list[str]) -> str:
    import chess

    board = chess.Board()
    for move in position[position.index("moves") + 1 :] if "moves" in position else []:
        board.push_uci(move)
    return sorted(move.uci() for move in board.legal_moves)[0]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
