"""A program that the tests start as an engine: it speaks GTP and plays Othello's last legal move."""

from __future__ import annotations

import sys

import pyspiel


def main() -> None:
    state = pyspiel.load_game("othello").new_initial_state()
    for line in sys.stdin:
        command, *words = line.split()
        answer, mark = "", "="
        if command == "clear_board":
            state = pyspiel.load_game("othello").new_initial_state()
        elif command == "boardsize" and words != ["8"]:
            mark, answer = "?", "unacceptable size"
        if command in ("play", "genmove") and state.action_to_string(state.legal_actions()[0]) == "pass":
            state.apply_action(state.legal_actions()[0])  # nobody says a forced pass
        if command in ("play", "genmove") and "bw"[state.current_player()] != words[0]:
            mark, answer = "?", "not the colour to move"
        elif command == "play":
            state.apply_action(state.string_to_action(words[1].lower()))
        elif command == "genmove":
            action = state.legal_actions()[-1]
            answer = state.action_to_string(action).upper()
            state.apply_action(action)
        print(f"{mark} {answer}\n", flush=True)


if __name__ == "__main__":
    main()
