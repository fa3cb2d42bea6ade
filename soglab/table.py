"""The experiments that `sog reproduce` runs, one entry each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from soglab.checks import (
    chess_scales,
    connect_four_ablation,
    connect_four_mistakes,
    histories,
    random_games,
    sepot_critic,
)
from soglab.papers import (
    cfrd_figures,
    cfrd_memory,
    gtcfr_growth,
    leaf_tolerance,
    paper_deviations,
    pog_fig15,
    pog_table5,
    pog_table6,
    policy_learners,
    rebel_endgame,
    rebel_fig3,
    rebel_fig5,
    rebel_rps,
    rebel_table2,
    resolving,
    search_time,
    sepot_distilled,
    sepot_fig1,
    sepot_figures,
    sepot_table1,
    sog_fig3,
    sog_fig4,
    sog_table1,
    training_elo,
    ttt_never_loses,
)
from soglab.study import Study


@dataclass(frozen=True)
class Experiment:
    """One figure or table remade.

    paper: its short name.  figure: the figure, table or section.  minutes: on two cores, about.
    what: what is run, in one line.
    """

    id: str
    paper: str
    figure: str
    minutes: float
    what: str
    study: Study


# To add an experiment: a module with a STUDY (see study.py), and its entry here.
EXPERIMENTS: Final = (
    Experiment(
        "sog-fig3",
        "SoG",
        "Fig. 3 (PoG Fig. 7)",
        10,
        "Exploitability against training steps of the runs in runs/ or --run, SoG(10,1) to SoG(1000,1), 3 seeds",
        sog_fig3.STUDY,
    ),
    Experiment(
        "sog-fig4",
        "SoG",
        "Fig. 4",
        60,
        "Elo of SoG(s,1) and AlphaZero(s) with the network of --run, s = 25 to 400 (--full: 1,600), 96 games a pair",
        sog_fig4.STUDY,
    ),
    Experiment(
        "sog-table1",
        "SoG",
        "Table 1 (PoG Table 4)",
        90,
        "Elo of SoG(s,1), SoG(s,10) and AlphaZero(s) at s = 25, 100 and 400 after a third, two thirds and all of --run",
        sog_table1.STUDY,
    ),
    Experiment(
        "training-elo",
        "SoG",
        "Table 1, over training",
        60,
        "Elo of the snapshots of a SoG and an AlphaZero --run at 100 simulations, over the minutes of training",
        training_elo.STUDY,
    ),
    Experiment(
        "gtcfr-growth",
        "SoG",
        "Theorem 1",
        6,
        "One search from the root of nine small games: errors of value and policy against s, exact and zero leaves",
        gtcfr_growth.STUDY,
    ),
    Experiment(
        "resolving",
        "SoG",
        "Modified continual re-solving",
        2,
        "Leduc, re-solving with complete trees: four regret rules x alpha 0.2, 0.5, 1, and without the gadget",
        resolving.STUDY,
    ),
    Experiment(
        "paper-deviations",
        "SoG",
        "Methods (PoG B.1, B.5)",
        2,
        "Leduc with one network, (100,1), --full: five budgets: the papers' search, each deviation of ours, PoG's",
        paper_deviations.STUDY,
    ),
    Experiment(
        "leaf-tolerance",
        "SoG",
        "Growing-tree CFR",
        4,
        "Leduc and 1x4f, (100,1): exploitability where leaves whose belief moved a little are not evaluated anew",
        leaf_tolerance.STUDY,
    ),
    Experiment(
        "cfrd-fig3",
        "CFR-D",
        "Fig. 3",
        13,
        "Leduc: the five subgames of an equilibrium re-solved, safe and unsafe, 100 to 6.5 million iterations",
        cfrd_figures.FIG3,
    ),
    Experiment(
        "cfrd-fig4",
        "CFR-D",
        "Fig. 4",
        45,
        "Leduc: CFR-D with 500 to 8,000 trunk iterations (--full: 32,000) and 100 to 12,800 in its subgames",
        cfrd_figures.FIG4,
    ),
    Experiment(
        "cfrd-fig5",
        "CFR-D",
        "Fig. 5",
        1,
        "Leduc: the subgames of an abstract strategy re-solved, safe and unsafe; exploitability, and chips won from it",
        cfrd_figures.FIG5,
    ),
    Experiment(
        "cfrd-memory",
        "CFR-D",
        "Memory",
        1,
        "Bytes of full CFR and of CFR-D as Leduc's deck grows from 3 to 24 ranks (--full: 48, 96)",
        cfrd_memory.STUDY,
    ),
    Experiment(
        "rebel-fig3",
        "ReBeL",
        "Fig. 3, Table 2",
        2,
        "FP, linear FP, FLOP and linear CFR on four games of Liar's Dice",
        rebel_fig3.STUDY,
    ),
    Experiment(
        "rebel-rps",
        "ReBeL",
        "Fig. 1a, section 6",
        1,
        "The rock-paper-scissors variant searched one ply deep with perfect leaf values, unsafe and safe",
        rebel_rps.STUDY,
    ),
    Experiment(
        "rebel-fig5",
        "ReBeL",
        "Fig. 5, left",
        2,
        "Liar's Dice 1x3f to depth 2 with oracle leaves: CFR-D, CFR-AVE, modified CFR-AVE, FP",
        rebel_fig5.STUDY,
    ),
    Experiment(
        "rebel-table2",
        "ReBeL",
        "Table 2",
        60,
        "Liar's Dice, runs in runs/ or --run, ReBeL and SoG: curves, and 1,024 playthroughs of the last three networks",
        rebel_table2.STUDY,
    ),
    Experiment(
        "pog-table5",
        "PoG",
        "Table 5",
        2,
        "Leduc: IS-MCTS at every infostate, 10 to 10,000 simulations, seven UCT constants, three final policies",
        pog_table5.STUDY,
    ),
    Experiment(
        "pog-fig15",
        "PoG",
        "Fig. 15",
        5,
        "Kuhn, Leduc: Q-learning, DQN and A2C in self-play, exploitability against episodes (--full: ten times them)",
        pog_fig15.STUDY,
    ),
    Experiment(
        "pog-table6",
        "PoG",
        "Table 6",
        35,
        "Kuhn, Leduc: A2C in self-play with each of 90 settings of the paper's sweep (--full: ten times the episodes)",
        pog_table6.STUDY,
    ),
    Experiment(
        "rebel-endgame",
        "ReBeL",
        "C.2, Fig. 2 (full-game CFR)",
        15,
        "Turn endgame hold'em, every hand, no abstraction: exploitability by iteration to 1,000, three rules",
        rebel_endgame.STUDY,
    ),
    Experiment(
        "sog-search-time",
        "SoG",
        "GT-CFR",
        1,
        "Chess, constant network: time of a search against s at c = 1, 10 and 100, to s = 3,000 (--full: 30,000)",
        search_time.STUDY,
    ),
    Experiment(
        "connect-four-mistakes",
        "SoG",
        "Connect four, absolute strength",
        1,
        "Moves that lose value in solved positions: both searches with the network of --run (or the shipped one), MCTS",
        connect_four_mistakes.STUDY,
    ),
    Experiment(
        "connect-four-ablation",
        "SoG",
        "Connect four, what each technique is worth",
        400,
        "Self-play with one technique left out or added, --minutes 20 of one core a run: value-losing moves and Elo",
        connect_four_ablation.STUDY,
    ),
    Experiment(
        "chess-scales",
        "SoG",
        "Chess, absolute strength",
        60,
        "Mates in 1 and 2, KQK and KRK won from 100 starts: searches with the network of --run (--full: also at 800)",
        chess_scales.STUDY,
    ),
    Experiment(
        "random-games",
        "SoG",
        "Chess, Go",
        10,
        "Chess, 9x9 Go and connect four: 1,000 random games each (--full: 10,000) beside OpenSpiel, every position",
        random_games.STUDY,
    ),
    Experiment(
        "random-histories",
        "SePoT",
        "5.1, B",
        1,
        "Thirteen games by histories: 1,000 random games each (--full: 10,000) beside OpenSpiel, every infostate",
        histories.STUDY,
    ),
    Experiment(
        "sepot-table1",
        "SePoT",
        "Table 1",
        300,
        "Network with search against network, below 25,000 and 100,000 histories: --run or runs/sepot-GAME",
        sepot_table1.STUDY,
    ),
    Experiment(
        "sepot-fig1",
        "SePoT",
        "Fig. 1",
        5,
        "Battleship 5x5: where network and search shoot when each fleet lies in one of two ways",
        sepot_fig1.STUDY,
    ),
    Experiment(
        "sepot-fig3",
        "SePoT",
        "Fig. 3",
        3,
        "Exploitability over training, network and search to depths 1 to 3, of the runs in runs/sepot-GAME-N or --run",
        sepot_figures.FIG3,
    ),
    Experiment(
        "sepot-fig4",
        "SePoT",
        "Fig. 4",
        3,
        "The same with the gadget's values from the critic or from the search before",
        sepot_figures.FIG4,
    ),
    Experiment(
        "sepot-fig5",
        "SePoT",
        "Fig. 5",
        3,
        "The same at depth 1: runs with learned and predefined transformations and with the identity alone",
        sepot_figures.FIG5,
    ),
    Experiment(
        "sepot-critic",
        "SePoT",
        "(ours)",
        5,
        "The critic's errors beside how far exact values spread, and searches with its leaves and with exact ones",
        sepot_critic.STUDY,
    ),
    Experiment(
        "policy-learners",
        "SePoT",
        "(ours)",
        450,
        "R-NaD, MMD, NashPG with and without search on three games, --minutes 30 of one core a run, 3 seeds, or --run",
        policy_learners.STUDY,
    ),
    Experiment(
        "sepot-distilled",
        "SePoT",
        "(ours)",
        20,
        "Runs of one game by --run, or runs/*-goofspiel5: policy, SePoT's search, GT-CFR and ReBeL over value networks",
        sepot_distilled.STUDY,
    ),
    Experiment(
        "ttt-never-loses",
        "SoG",
        "Methods",
        1,
        "Tic-tac-toe: the shipped agent (or --run) meets every line of play from both sides",
        ttt_never_loses.STUDY,
    ),
)
