"""What the tests of ACPC share: a dealer on a thread, clients of a few lines, and hands without sockets."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sog.play.match import ContestantFault
from sog.protocols.acpc_client import ClientHand, ClientTable
from sog.protocols.acpc_dealer import Clocks, Dealer, DealerFiles, DealtMatch
from sog.protocols.acpc_states import REVERSE_BLINDS, VERSION, AcpcGame, AcpcHand, Dealt, MatchState, read_match_state

# What a client says at a state where it acts: pieces that are sent one by one, or nothing more at all.
Says = Callable[[MatchState, AcpcHand], list[bytes] | None]


def calls(state: MatchState, hand: AcpcHand) -> list[bytes]:
    return [f"{state.line()}:c\r\n".encode()]


def raiser(seed: int) -> Says:
    """Folds seldom, and raises to any amount that is legal."""
    rng = np.random.default_rng(seed)

    def says(state: MatchState, hand: AcpcHand) -> list[bytes]:
        return [f"{state.line()}:{any_action(hand, rng)}\r\n".encode()]

    return says


def any_action(hand: AcpcHand, rng: np.random.Generator) -> str:
    """A legal action: a raise to any legal amount, often one of the smallest."""
    (smallest, largest), u = hand.limits, rng.random()
    if hand.betting.facing and u < 0.1:
        return "f"
    if not largest or u < 0.5:
        return "c"
    most = largest if u > 0.95 else min(largest, 3 * smallest)
    return hand.written(int(rng.integers(smallest, most + 1)))


class Client(threading.Thread):
    """Plays at a port until the dealer hangs up, or until it has nothing more to say.  seen: states, in order."""

    def __init__(self, port: int, game: AcpcGame, says: Says, version: str = VERSION) -> None:
        super().__init__(daemon=True)
        self.game, self.says = game, says
        self.seen: list[MatchState] = []
        self.link = socket.create_connection(("127.0.0.1", port))
        self.link.sendall(f"{version}\r\n".encode())
        self.start()

    def run(self) -> None:
        with self.link, self.link.makefile("rb") as lines:
            try:
                for raw in lines:
                    assert raw.endswith(b"\r\n")
                    state = read_match_state(raw.decode().removesuffix("\r\n"))
                    self.seen.append(state)
                    hand = AcpcHand.begun(self.game).played(state.betting)
                    if hand.over or hand.betting.actor != state.position:
                        continue
                    said = self.says(state, hand)
                    if said is None:
                        return
                    for piece in said:
                        self.link.sendall(piece)
            except OSError:
                pass


class Played:
    """A match of two clients, played to its end.  fault: why it ended early.  warned: what the dealer let pass."""

    def __init__(
        self,
        says: tuple[Says, Says],
        game: AcpcGame = REVERSE_BLINDS,
        hands: int = 1,
        seed: int = 5,
        clocks: Clocks | None = None,
        files: DealerFiles | None = None,
        versions: tuple[str, str] = (VERSION, VERSION),
        players: tuple[str, str] = ("A", "B"),
    ) -> None:
        self.warned: list[str] = []
        self.fault = ""
        match = DealtMatch("match", game, "holdem.game", hands, seed, players)
        self.dealer = Dealer(match, clocks or Clocks(start=60_000), files or DealerFiles(), self.warned.append)
        ports = zip(self.dealer.ports, says, versions, strict=True)
        self.clients = [Client(port, game, one, version) for port, one, version in ports]
        try:
            self.dealer.play()
        except ContestantFault as fault:
            self.fault = str(fault)
        for client in self.clients:
            client.join(60)


def log_of(folder: Path, *says: Says, game: AcpcGame = REVERSE_BLINDS, hands: int = 100, seed: int = 5) -> str:
    """The log of a match."""
    path = folder / f"{len(list(folder.iterdir()))}.log"
    played = Played((says[0], says[1]), game, hands, seed, files=DealerFiles(path))
    assert not played.fault and not played.warned
    return path.read_text()


def hand_against(agent: Callable[[MatchState], ClientHand], table: ClientTable, number: int, seed: int) -> ClientHand:
    """A hand of an agent against `any_action`, without sockets: the agent is asked as a client asks it."""
    rng, position = np.random.default_rng((seed, number)), number % 2
    hand, dealt = AcpcHand.begun(table.dealt), Dealt.of(seed, number)
    seated: ClientHand | None = None
    while True:
        seen = dealt.seen(hand.betting.street, None if hand.shown_down else position)
        state = MatchState(position, number, hand.text, seen)
        seated = seated or agent(state)
        seated.follow(state)
        if hand.over:
            return seated
        action = seated.act(state) if hand.betting.actor == position else any_action(hand, rng)
        assert hand.admitted(action) == (action, "")
        hand = hand.after(action)
