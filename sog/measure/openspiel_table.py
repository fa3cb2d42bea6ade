"""The table of OpenSpiel games: our NashConv beside OpenSpiel's for the same policies, or why it is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Final

import numpy as np
import pyspiel
from rich.table import Table

from sog.errors import GameError
from sog.games.openspiel.game import OpenSpielGame
from sog.games.openspiel.histories import LIMIT
from sog.searches.cfr import exact
from sog.searches.cfr.exact import Policy
from sog.searches.cfr.rules import CFR_PLUS
from sog.searches.tree.public_tree import PublicTree

ITERATIONS: Final = 100
TOLERANCE: Final = 1e-9
_BATTLESHIP = "battleship(board_width=2,board_height=2,ship_sizes=[{}],ship_values=[{}],num_shots={},{})"
_GOOFSPIEL = "goofspiel(imp_info={},num_cards={},points_order={})"

# Those that go through come first, small games before large ones within a family.
CANDIDATES: Final = (
    "kuhn_poker",
    "misere(game=kuhn_poker())",
    "add_noise(epsilon=0.1,seed=1,game=kuhn_poker())",
    "start_at(history=0;1,game=kuhn_poker())",
    "normal_form_extensive_game(game=kuhn_poker())",
    "leduc_poker",
    "leduc_poker(suit_isomorphism=True)",
    "misere(game=leduc_poker())",
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,firstPlayer=1 1,numSuits=2,numRanks=3,"
    "numHoleCards=1,numBoardCards=0 1,raiseSize=2 4,maxRaises=1 2)",
    "liars_dice(numdice=1,dice_sides=3)",
    "liars_dice(numdice=1,dice_sides=3,bidding_rule=reset-quantity)",
    "liars_dice(numdice=1,dice_sides=4)",
    "liars_dice(numdice=1,dice_sides=5)",
    "liars_dice(numdice=2,dice_sides=2)",
    _GOOFSPIEL.format(True, 3, "descending"),
    _GOOFSPIEL.format(True, 3, "ascending"),
    _GOOFSPIEL.format(True, 3, "random"),
    _GOOFSPIEL.format(False, 3, "random"),
    _GOOFSPIEL.format(True, 4, "descending"),
    _GOOFSPIEL.format(True, 4, "descending,returns_type=point_difference"),
    _GOOFSPIEL.format(True, 4, "random"),
    "oshi_zumo(coins=3,size=1,horizon=3)",
    "oshi_zumo(coins=4,size=1,horizon=4)",
    "matrix_mp",
    "matrix_rps",
    "matrix_brps",
    "matrix_rpsw",
    "zerosum(game=matrix_pd())",
    "coordinated_mp",
    "blotto(coins=3,fields=3)",
    "blotto(coins=5,fields=3)",
    "zerosum(game=first_sealed_auction(max_value=3))",
    _BATTLESHIP.format("1", "1", 2, "loss_multiplier=1.0"),
    _BATTLESHIP.format("1", "1", 3, "allow_repeated_shots=False,loss_multiplier=1.0"),
    _BATTLESHIP.format("1;2", "1;2", 2, "loss_multiplier=1.0"),
    "dark_hex(num_rows=2,num_cols=2)",
    "dark_hex(num_rows=2,num_cols=2,gameversion=adh)",
    "dark_hex(num_rows=2,num_cols=3,gameversion=adh)",
    "hex(board_size=2)",
    "y(board_size=2)",
    "havannah(board_size=2)",
    "mnk(m=3,n=2,k=2)",
    "connect_four(rows=3,columns=3,x_in_row=3)",
    "nim(pile_sizes=1;2;3)",
    "dots_and_boxes(num_rows=1,num_cols=2)",
    "go(board_size=2)",
    # No infostates in OpenSpiel to compare on: ours are its observations in order.
    "repeated_game(stage_game=matrix_rps(),num_repetitions=2)",
    "markov_soccer(horizon=3)",
    "pig(winscore=5,diceoutcomes=2,horizon=6)",
    "breakthrough(rows=3,columns=2)",
    # Refused.
    "catch",
    "kuhn_poker(players=3)",
    "matching_pennies_3p",
    "matrix_pd",
    "matrix_shapleys_game",
    "first_sealed_auction",
    "laser_tag(horizon=2)",
    "coin_game",
    "sheriff",
    _BATTLESHIP.format("1", "1", 2, "loss_multiplier=2.0"),
    "tiny_bridge_2p",
    "tiny_hanabi",
    "negotiation",
    "mfg_crowd_modelling",
    "dark_hex_ir(num_rows=2,num_cols=2)",
    "liars_dice_ir(numdice=1,dice_sides=3)",
    "dark_hex(num_rows=2,num_cols=3)",
    _GOOFSPIEL.format(False, 4, "descending"),
    "restricted_nash_response(game=kuhn_poker(),fixed_player=0)",
    "phantom_ttt",
    "latent_ttt",
    "liars_dice",
    "goofspiel(imp_info=True)",
    "battleship(loss_multiplier=1.0)",
    "repeated_leduc_poker",
    "go_fish",
    "phantom_go(board_size=2)",
    "gin_rummy",
    "backgammon",
    "kriegspiel",
    "dark_chess",
    "chess",
    "cursor_go(board_size=2,max_cursor_moves=2)",
)


@dataclass(frozen=True)
class OpenSpielRow:
    """One game of the table; NashConvs are in utilities, None where missing.

    public: how the public states were found.  states: public states, terminals and NATURE's included.
    uniform, random, cfr: our NashConv of the uniform policy, of a random one and of the average policy after
    ITERATIONS of CFR+; openspiel_*: OpenSpiel's of the same policy.  refused: why the game is not played, or
    why OpenSpiel cannot be compared with.
    """

    game: str
    histories: int | None = None
    public: str = ""
    states: int | None = None
    infostates: int | None = None
    uniform: float | None = None
    openspiel_uniform: float | None = None
    random: float | None = None
    openspiel_random: float | None = None
    cfr: float | None = None
    openspiel_cfr: float | None = None
    refused: str = ""

    @property
    def difference(self) -> float | None:
        """The largest difference between ours and OpenSpiel's, None where OpenSpiel was not compared."""
        ours, theirs = (self.uniform, self.random, self.cfr), self._theirs()
        differences = [abs(a - b) for a, b in zip(ours, theirs, strict=True) if a is not None and b is not None]
        return float(np.max(differences)) if len(differences) == len(theirs) else None  # NaN where one is

    @property
    def agrees(self) -> bool:
        """Whether all three NashConvs were compared and are equal within TOLERANCE."""
        return self.difference is not None and self.difference <= TOLERANCE

    @property
    def differs(self) -> bool:
        """Whether all three NashConvs were compared and one is not equal within TOLERANCE."""
        return self.difference is not None and not self.agrees

    def _theirs(self) -> tuple[float | None, ...]:
        return self.openspiel_uniform, self.openspiel_random, self.openspiel_cfr


def rows(games: Iterable[str] = CANDIDATES, limit: int = LIMIT, seed: int = 0) -> Iterator[OpenSpielRow]:
    """One row for each game string, made on demand; refused games give the reason."""
    for game in games:
        try:
            yield compare(game, limit, seed)
        except GameError as error:
            why = str(error).partition("; ")[0]  # without the way out, which is not the table's
            yield OpenSpielRow(game, refused=why.removeprefix(f"{game} "))


def compare(name: str, limit: int = LIMIT, seed: int = 0) -> OpenSpielRow:
    """The row of one game; GameError where it is refused."""
    game = OpenSpielGame(name, limit)
    public = PublicTree(game).list_all()
    uniform = exact.uniform_policy(public)
    solved = exact.policy_of(exact.solve(public, CFR_PLUS, ITERATIONS))
    policies = (uniform, random_policy(uniform, seed), solved)
    # NashConv is the sum of both players' gains, our exploitability its half.
    ours = [2.0 * exact.measure_policy(public, policy).exploitability for policy in policies]
    theirs: list[float | None] = [None, None, None]
    if game.recalls:
        theirs = [float(pyspiel.nash_conv(game.spiel_game, openspiel_policy(public, policy))) for policy in policies]
    return OpenSpielRow(
        game=name,
        histories=game.num_histories,
        public=game.way,
        states=game.num_states,
        infostates=game.num_acting_infostates,
        uniform=ours[0],
        openspiel_uniform=theirs[0],
        random=ours[1],
        openspiel_random=theirs[1],
        cfr=ours[2],
        openspiel_cfr=theirs[2],
        refused="" if game.recalls else "OpenSpiel gives this game no infostates to compare on",
    )


def random_policy(uniform: Policy, seed: int) -> Policy:
    """A policy drawn evenly from all, with the legal actions of the uniform one, float64[A, I] by node."""
    rng = np.random.default_rng(seed)
    out = {}
    for node, legal in uniform.items():
        # Normalised exponentials are uniform on the simplex.
        drawn = rng.exponential(size=legal.shape) * (legal > 0)
        out[node] = drawn / drawn.sum(axis=0)
    return out


def openspiel_policy(public: PublicTree, policy: Policy) -> dict[str, list[tuple[int, float]]]:
    """The policy by OpenSpiel's infostate, as OpenSpiel's C++ code takes it: (action, probability) of legal ones.

    GameError where OpenSpiel has the same words for two infostates: such a policy cannot be given to it.
    """
    game = public.game
    assert isinstance(game, OpenSpielGame)
    out: dict[str, list[tuple[int, float]]] = {}
    for node, probabilities in policy.items():
        s = public.states[node]
        fan, actions = game.fan(s), game.actions(s).tolist()
        assert fan.moves is not None
        for i, word in enumerate(game.information_states(s, game.actor(s))):
            if word in out:
                raise GameError(f"{game.name}: both players have an infostate {word!r} in OpenSpiel")
            legal = np.flatnonzero(fan.moves.edge[i] >= 0).tolist()
            out[word] = [(actions[k], float(probabilities[k, i])) for k in legal]
    return out


# --- the table for people and programs ---


def rich_table(table: Sequence[OpenSpielRow]) -> Table:
    """The rows that go through, with sizes and NashConvs, and then the refused ones with the reason."""
    out = Table("game", "public", title="NashConv of the same policies, in utilities: ours and OpenSpiel's")
    for heading in ("histories", "states", "infostates", "uniform", "random", f"CFR+ {ITERATIONS}", "difference"):
        out.add_column(heading, justify="right")
    out.add_column("note")
    for row in table:
        sizes = (row.histories, row.states, row.infostates)
        counts = ["" if size is None else f"{size:,}" for size in sizes]
        values = ["" if value is None else f"{value:.6g}" for value in (row.uniform, row.random, row.cfr)]
        difference = "" if row.difference is None else f"{row.difference:.0e}"
        out.add_row(row.game, row.public, *counts, *values, difference, row.refused)
    agreed = sum(row.agrees for row in table)
    out.caption = f"{agreed} games agree with OpenSpiel within {TOLERANCE:g}; {len(table) - agreed} others"
    return out


def as_markdown(table: Sequence[OpenSpielRow]) -> str:
    """The rows as a page of Markdown: those compared, with sizes and the largest difference, and then the others."""
    compared = [row for row in table if row.difference is not None]
    others = [row for row in table if row.difference is None]
    out = _PAGE.format(
        version=version("open_spiel"),
        compared=len(compared),
        agree=sum(row.agrees for row in compared),
        others=len(others),
        iterations=ITERATIONS,
        tolerance=TOLERANCE,
    )
    out += "".join(map(_markdown_row, compared))
    if others:
        out += "\n| not compared | reason |\n|---|---|\n"
        out += "".join(f"| `{row.game}` | {row.refused} |\n" for row in others)
    return out


_PAGE: Final = """# OpenSpiel games compiled into public states

Written by `sog games --check-openspiel --markdown`, with OpenSpiel {version}. NashConv (both best responses' gains
together, in the game's utilities) of the uniform policy, a random one and the average of {iterations} iterations of
CFR+, by this project's best responses and by OpenSpiel's. Compared: {compared} games; equal within {tolerance:g}:
{agree}; not compared: {others}.

| game | public states by | histories | public states | infostates | NashConv, CFR+ {iterations} | largest difference |
|---|---|---:|---:|---:|---:|---:|
"""


def _markdown_row(row: OpenSpielRow) -> str:
    sizes = (f"{size:,}" for size in (row.histories, row.states, row.infostates))
    return f"| `{row.game}` | {row.public} | {' | '.join(sizes)} | {row.cfr:.6g} | {row.difference:.0e} |\n"


def as_json(table: Sequence[OpenSpielRow]) -> dict[str, object]:
    """{games: [one object a row, with `difference` and `agrees`], agree: how many agree}, for json.dumps."""
    games = [{**asdict(row), "difference": row.difference, "agrees": row.agrees} for row in table]
    return {"games": games, "agree": sum(row.agrees for row in table)}
