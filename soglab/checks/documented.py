"""The figures of the documents that a command prints again: which page has them, and the command.

Left out are trainings, speeds, and commands that need a run's folder, another program or hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = ["FIGURES", "DocumentedFigure"]

_HIDDEN: Final = "measured/student_of_games.md"
_REBEL: Final = "measured/rebel.md"
_SOLVING: Final = "measured/solving.md"


@dataclass(frozen=True)
class DocumentedFigure:
    """A command and what a page says that it prints.

    command: as it is run.  page: under docs/.  seconds: about, of one core.
    figures: as the page writes them, by what they are: min, mean or max of an exploitability, wins of a match, an entry
    of the command's object, else the entry of that name in the experiment's comparison.
    named: how the page names the command, where that differs, as with a table over budgets.
    """

    command: str
    page: str
    seconds: int
    figures: Mapping[str, str]
    named: str = field(default="")

    @property
    def on_the_page(self) -> str:
        """What of the command the page has."""
        return self.named or self.command


def _exploit(game: str, options: str, page: str, seconds: int, figures: str, named: str = "") -> DocumentedFigure:
    """`sog exploit`, on one core.  figures: the mean, or mean, min and max with commas between them."""
    values = dict(zip(("mean", "min", "max"), figures.split(","), strict=False))
    return DocumentedFigure(f"sog exploit {game} {options}", page, seconds, values, named)


def _reproduce(name: str, page: str, seconds: int, figures: Mapping[str, str]) -> DocumentedFigure:
    """`sog reproduce`; of CFR-D's experiments the page has the command once, for all of them."""
    named = f"`{name}`" if name.startswith("cfrd") else ""
    return DocumentedFigure(f"sog reproduce {name}", page, seconds, figures, named)


def _london(simulations: int, options: str, seconds: int, wins: str, named: str = "") -> DocumentedFigure:
    """London's network against PimBot."""
    game = "'scotland_yard(map=london)'"
    command = f"sog match {game} 'pimbot(simulations={simulations})' --game {game} {options}"
    return DocumentedFigure(command, _HIDDEN, seconds, {"wins": wins}, named)


def _resolved(rule: str, *figures: str) -> dict[str, str]:
    """A rule's row of `resolving`, by alpha."""
    return {
        f"{rule}, alpha {alpha}, 1,000 iterations a step": written
        for alpha, written in zip(("0.2", "0.5", "1"), figures, strict=True)
    }


# By simulations, mbb/h: normalised visits, most visits, highest value.
_ISMCTS: Final = {
    "10": ("1755", "2492", "2432"),
    "100": ("1240", "1370", "1330"),
    "1,000": ("756", "712", "723"),
    "10,000": ("512", "455", "455"),
}
_TABLE_5: Final = {
    f"{sims} sims, C 13, {policy}": written
    for sims, row in _ISMCTS.items()
    for policy, written in zip(("mvd", "mvis", "mval"), row, strict=True)
}
_LEDUC: Final = "sog exploit leduc_poker -s S -c C --seeds 10 [--paper]"
_PURE: Final = "--algorithm-a 'sog(purify=1)'"
_DICE: Final = "'liars_dice(numdice={},dice_sides={})'"

# By purify: what a best response wins from purified play.
_PURIFIED: Final = tuple(
    _exploit(
        game,
        f"-s 100 -c 1 --seeds 3 --algorithm 'sog(purify={share})'",
        _HIDDEN,
        5,
        written,
        "sog exploit leduc_poker -s 100 -c 1 --seeds 3 --algorithm 'sog(purify=0.25)'",
    )
    for game, row in {
        "'scotland_yard(map=glasses)'": ("0.031", "0.028", "0.028", "0.043", "1"),
        "leduc_poker": ("34", "90", "197", "329", "1339"),
    }.items()
    for share, written in zip(("0.0", "0.1", "0.25", "0.5", "1.0"), row, strict=True)
)

FIGURES: Final = (
    _exploit("leduc_poker", "-s 10 -c 1 --seeds 10", _HIDDEN, 5, "321,279,364", _LEDUC),
    _exploit("leduc_poker", "-s 100 -c 1 --seeds 10", _HIDDEN, 8, "31.5,25.9,40.4", _LEDUC),
    _exploit("leduc_poker", "-s 100 -c 0.1 --seeds 10", _HIDDEN, 20, "15.5,13.2,19.0", _LEDUC),
    _exploit("leduc_poker", "-s 400 -c 1 --seeds 10", _HIDDEN, 10, "2.44,2.18,2.76", _LEDUC),
    _exploit("leduc_poker", "-s 1000 -c 1 --seeds 10", _HIDDEN, 10, "0.37,0.29,0.48", _LEDUC),
    _exploit("leduc_poker", "-s 10 -c 1 --seeds 10 --paper", _HIDDEN, 5, "722,655,789", _LEDUC),
    _exploit("leduc_poker", "-s 100 -c 1 --seeds 10 --paper", _HIDDEN, 10, "76.9,71.7,80.8", _LEDUC),
    _exploit("leduc_poker", "-s 100 -c 0.1 --seeds 10 --paper", _HIDDEN, 40, "23.9,20.3,27.0", _LEDUC),
    _exploit("leduc_poker", "-s 400 -c 1 --seeds 10 --paper", _HIDDEN, 30, "30.7,26.1,34.3", _LEDUC),
    _exploit("leduc_poker", "-s 1000 -c 1 --seeds 10 --paper", _HIDDEN, 20, "14.2,13.5,15.0", _LEDUC),
    _exploit("leduc_poker", "-s 200 -c 1 --seeds 10", _HIDDEN, 8, "13.7"),
    _exploit("leduc_poker", "-s 100 -c 1 --seeds 30", _HIDDEN, 20, "31.7", "`--seeds 30`"),
    _exploit("leduc_poker", "-s 100 -c 1 --seeds 30 --paper", _HIDDEN, 40, "76.3", "`--seeds 30`"),
    _exploit(_DICE.format(1, 4), "-s 100 -c 1 --seeds 30", _REBEL, 15, "0.0038", "`--seeds 30`"),
    _exploit("'scotland_yard(map=glasses)'", "-s 100 -c 1 --seeds 10", _HIDDEN, 25, "0.031,0.024,0.041"),
    _exploit(_DICE.format(1, 4), "-s 100 -c 1 --seeds 3", "figures.md", 5, "0.0035"),
    _exploit(_DICE.format(1, 5), "-s 100 -c 1 --seeds 3", "figures.md", 10, "0.0100", "and so for the others"),
    _exploit(_DICE.format(1, 6), "-s 100 -c 1 --seeds 3", "figures.md", 30, "0.0151", "and so for the others"),
    _exploit(_DICE.format(1, 6), "-s 100 -c 1 --seeds 10", "figures.md", 60, "0.0139", "on 1x6f is of `--seeds 10`"),
    _exploit(_DICE.format(2, 3), "-s 100 -c 1 --seeds 3", "figures.md", 60, "0.0174", "and so for the others"),
    _exploit(_DICE.format(1, 4), "-s 100 -c 1", _REBEL, 5, "0.0029"),
    _exploit(_DICE.format(1, 4), "--algorithm rebel --playthroughs 1024", _REBEL, 60, "0.0073"),
    _reproduce(
        "cfrd-memory",
        _SOLVING,
        17,
        {
            "full CFR: numbers between iterations": "S^1.00",
            "CFR-D, cut before the board: numbers between iterations": "S^0.50",
        },
    ),
    _reproduce(
        "cfrd-fig5",
        _SOLVING,
        10,
        {
            "the abstract strategy": "0.3823",
            "safe, CFR, 200 iterations": "0.295",
            "safe, CFR, 2,000 and more": "0.240 to 0.279",
            "unsafe, CFR, 6,250 iterations": "0.401",
        },
    ),
    _reproduce("pog-table5", _SOLVING, 260, _TABLE_5),
    _reproduce(
        "resolving",
        _HIDDEN,
        20,
        {
            **_resolved("dcfr", "0.19", "0.22", "0.29"),
            **_resolved("cfr+", "0.30", "0.28", "0.44"),
            **_resolved("pcfr+", "0.69", "0.72", "0.79"),
            **_resolved("sog", "10.0", "10.0", "11.2"),
            "sog, no gadget, 1,000 iterations a step": "557",
            "pcfr+, no gadget, 1,000 iterations a step": "1,022",
        },
    ),
    _reproduce(
        "ttt-never-loses",
        _HIDDEN,
        28,
        {
            "SoG(400,1) as x": "102 won, 17 drawn, 0 lost",
            "SoG(400,1) as o": "347 won, 142 drawn, 0 lost",
        },
    ),
    _reproduce(
        "rebel-fig5",
        _REBEL,
        47,
        {
            "cfr-d, 512 iterations": "0.0003",
            "cfr-ave, 512 iterations": "0.0007",
            "fp, 512 iterations": "0.0032",
            "modified-cfr-ave, 512 iterations": "0.24",
        },
    ),
    _reproduce(
        "paper-deviations",
        _HIDDEN,
        90,
        {
            "(100,1), the papers' (--paper)": "76.9 (71.7 .. 80.8)",
            "(100,1), alternating DCFR": "38.0 (29.3 .. 48.6)",
            "(100,1), opened nodes begin at their prior": "72.8 (64.1 .. 83.3)",
            "(100,1), no expansion is lost (fill)": "74.7 (69.5 .. 83.7)",
            "(100,1), zero-sum correction at leaves": "77.2 (71.5 .. 81.3)",
            "(100,1), worlds drawn by the last iteration's ranges": "75.4 (69.8 .. 81.3)",
            "(100,1), opponent's decisions not searched": "88.2 (72.5 .. 100)",
            "(100,1), PoG: alpha 0.2": "73.5 (60.6 .. 83.2)",
            "(100,1), PoG: selection by the current policy": "78.9 (66.9 .. 94.1)",
            "(100,1), PoG, both: sog(paper=pog)": "77.4 (67.1 .. 86.8)",
            "(100,1), ours, all of it": "31.5 (25.9 .. 40.4)",
            "(100,1), ours, and the opponent's decisions searched": "18.0 (13.2 .. 21.2)",
        },
    ),
    _reproduce(
        "rebel-endgame",
        _SOLVING,
        280,
        {
            "Linear CFR: exploitability, chips": "25.3",
            "DCFR: exploitability, chips": "16.8",
            "CFR+: exploitability, chips": "36.5",
        },
    ),
    _reproduce(
        "rebel-rps",
        _REBEL,
        44,
        {
            "safe search, player 1: rock, paper, scissors": "0.40, 0.41, 0.19",
            "safe search, exploitability": "0.019",
            "unsafe search, exploitability": "0.51",
        },
    ),
    _exploit(
        "'holdem(board=3s7hTdKs,pot=2000,stacks=20000,bets=0.5;1.0;allin,raises=0.75;allin)'",
        "-s 400 -c 1 --seeds 3",
        _SOLVING,
        170,
        "21.1,20.9,21.2",
    ),
    DocumentedFigure(
        "sog exploit 'holdem(board=3s7hTdKs,pot=2000,stacks=20000,bets=0.5;1.0;allin,raises=0.75;allin)' "
        "--algorithm rebel --playthroughs 1",
        _REBEL,
        60,
        {"mean_policy_safe_rivers": "20.4"},
    ),
    *_PURIFIED,
    _london(100, f"--hands 200 --seed 62 {_PURE}", 340, "92.5% [88, 95.4]", "100 simulations | 200, 62 |"),
    _london(1_000, f"--hands 400 --seed 61 {_PURE}", 800, "60.5% [55.6, 65.2]"),
    _london(1_000, "--hands 200 --seed 41", 480, "54.5% [47.3, 61.5]", "1,000 simulations | 200, 41 |"),
)
