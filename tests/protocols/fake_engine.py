"""A program that the tests start as an engine: it speaks GTP or UCI as badly as its arguments say.

fake_engine.py PROTOCOL FAULT MOVES: it behaves until it has made MOVES moves; then, asked for one more, it does what
FAULT says. `none` never. The faults of AT_ONCE are there from the start.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

FOREVER = 1000.0
# A child that keeps our stdout open and outlives us, unless somebody ends our process group.
CHILD = [sys.executable, "-c", f"import time; time.sleep({FOREVER})"]


def main(protocol: str, fault: str, moves: int) -> None:
    if fault in AT_ONCE:
        AT_ONCE[fault]()
    played = 0
    stones: set[str] = set()
    position: list[str] = []
    for line in sys.stdin:
        words = line.split()
        if "FAKE_ENGINE_HEARS" in os.environ:
            with open(os.environ["FAKE_ENGINE_HEARS"], "a") as heard:
                heard.write(line)
        if protocol == "gtp":
            answer, mark = "", "="
            if words[0] in ("clear_board", "boardsize"):
                stones, played = set(), 0
            elif words[0] == "komi" and fault == "komi-refused":
                mark, answer = "?", "unacceptable komi"
            elif words[0] == "komi" and fault == "komi-number":
                answer = "7.5"
            elif words[0] == "play":
                stones.add(words[2].lower())
            elif words[0] == "genmove":
                answer = at_fault(fault, played, moves) or free(stones)
                stones.add(answer.lower())
                played += 1
            print(f"{mark} {answer}\n", flush=True)
        elif words[:1] == ["uci"]:
            print("id name fake\noption name Hash type spin default 1 min 1 max 9\nuciok", flush=True)
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
    if fault == "none" or fault in AT_ONCE or played < moves:
        return ""
    if fault in ACTS:
        ACTS[fault]()
    return SAYS.get(fault, "")


def hang() -> None:
    time.sleep(FOREVER)


def put(text: bytes) -> None:
    sys.stdout.flush()
    os.write(1, text)


def pour(text: bytes) -> None:
    """Print without end."""
    sys.stdout.flush()
    while True:
        os.write(1, text)


def trickle() -> None:
    """A line now and then, never the empty one: whoever waits line by line waits for ever."""
    while True:
        put(b"= thinking\n")
        time.sleep(0.2)


def leave_a_child() -> None:
    subprocess.Popen(CHILD)
    sys.stdout.flush()
    os._exit(3)


def close_output() -> None:
    sys.stdout.flush()
    os.close(1)
    hang()


def close_input() -> None:
    """It takes this command, answers it, and reads no other."""
    os.close(0)
    put(b"= pass\n\nbestmove a7a6\n")
    hang()


def stop_itself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


ACTS = {
    "dies": lambda: sys.exit(3),
    "crashes": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "hangs": hang,
    "stops": stop_itself,
    "trickles": trickle,
    "endless-lines": lambda: pour(b"= x\n" * 1000),
    "endless-line": lambda: pour(b"x" * 4096),
    "huge-line": lambda: put(b"=" + b"9" * 3_000_000 + b"\n\n"),
    "half-a-line": lambda: (put(b"= c"), hang()),
    "half-and-dies": lambda: (put(b"= c"), os._exit(0)),
    "bytes": lambda: put(b"= \xff\xfe\x00\x1b[31m\n\nbestmove \xff\xfe\n"),
    "child": leave_a_child,
    "closes-output": close_output,
    "closes-input": close_input,
    "wrong-id": lambda: put(b"=17 c3\n\nbestmove\n"),
    "error": lambda: put(b"? cannot think\n\nbestmove (none)\n"),
    "two-lines": lambda: put(b"= c3\nd4\n\nbestmove 0000\n"),
}
SAYS = {"illegal": "a1a8", "pass": "pass", "garbage": "Q99", "resigns": "resign", "number": "9" * 5000}
AT_ONCE = {
    "silent": hang,
    "dies-at-start": lambda: sys.exit(7),
    "deaf": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "keeps-a-child": lambda: subprocess.Popen(CHILD),
    "chatters": lambda: print("hello, I am an engine", file=sys.stderr),
}


def free(stones: set[str]) -> str:
    """A vertex of 5x5 where no stone was put, or a pass."""
    left = [f"{column}{row}" for column in "abcde" for row in range(1, 6) if f"{column}{row}" not in stones]
    return random.Random(len(stones)).choice(left) if left and len(stones) < 18 else "pass"


def legal(position: list[str]) -> str:
    """The rook's pawn steps on: legal in the first moves of a game, whatever the other side does."""
    played = len(position) - position.index("moves") - 1 if "moves" in position else 0
    return ("a2a3", "a7a6", "a3a4", "a6a5")[played % 4]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
