"""The lines of the code that mutations.py breaks one at a time, each with the test file that is to see it.

Each breaks what figures rest on and raises no error: a sign, a constant, a share, a unit, whose turn it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

__all__ = ["MUTATIONS", "Mutation"]


@dataclass(frozen=True)
class Mutation:
    """A line of a file and what it is replaced by.  test: the file under tests/ that is to see it, in its room."""

    name: str
    file: str
    old: str
    new: str
    test: str


# name, file, line, what replaces it, and the test file without test_ and .py
_Row: TypeAlias = tuple[str, str, str, str, str]


def _lines(folder: str, *rows: _Row) -> tuple[Mutation, ...]:
    """Mutations in the files of a folder; a test file of another room has its folder."""
    package, *rooms = folder.split("/")
    room = rooms[0] if package == "sog" else package
    return tuple(
        Mutation(name, f"{folder}/{file}", old, new, test if "/" in test else f"{room}/test_{test}.py")
        for name, file, old, new, test in rows
    )


MUTATIONS: Final = (
    *_lines(
        "sog/searches",
        ("sign of a regret", "cfr/matching.py", "x = regret + instant", "x = regret - instant", "algorithms"),
        ("DCFR's alpha", "cfr/rules.py", '"dcfr", alpha=1.5', '"dcfr", alpha=1.0', "regret"),
        ("CFR+'s averages", "cfr/rules.py", '("cfr+", beta=-math.inf, gamma=1.0', '("cfr+", beta=-math.inf', "regret"),
        ("SoG's averages", "cfr/rules.py", '("sog", beta=-math.inf, gamma=1.0', '("sog", beta=-math.inf', "regret"),
        ("FLOP's last policy", "cfr/fictitious.py", "2.0 / (last + 3.0)", "2.0 / (last + 2.0)", "fictitious"),
        ("outcome sampling", "cfr/monte_carlo.py", "EXPLORATION: Final = 0.6", "EXPLORATION: Final = 0.4", "mccfr"),
        ("averages by paths", "cfr/paths.py", "+= step[2] * policy[k]", "+= policy[k]", "single"),
        ("gadget's turn", "cfr/iterate.py", "not within(choice.opponent", "within(choice.opponent", "gadget"),
        ("PUCT without visits", "gtcfr/trajectories.py", "(1.0 + visits + virtual)", "(1.0 + virtual)", "simulate"),
        ("half by PUCT", "gtcfr/trajectories.py", "(selection.rng) < 0.5", "(selection.rng) < 0.25", "simulate"),
        ("virtual losses", "gtcfr/trajectories.py", "(visits * q - virtual)", "(visits * q)", "simulate"),
        ("prior's regrets", "gtcfr/trajectories.py", "weight * mass[own + i] * unit", "weight * unit", "gtcfr"),
        ("fill's first leaf", "gtcfr/trajectories.py", "in range(below, ", "in range(below + 1, ", "simulate"),
        ("fill", "gtcfr/phases.py", "0 and search.fill:\n            _fill", "-1:\n            _fill", "gtcfr"),
        ("what fill owes", "gtcfr/phases.py", "s - done)\n            ret", "s - done - 1)\n            ret", "gtcfr"),
        ("zero-sum correction", "leaves/weighing.py", "splat(0.5 * surplus)", "splat(surplus)", "leaves"),
        ("temperature", "leaves/kernels.py", "(logit - top) / temperature", "(logit - top) * temperature", "leaves"),
        ("chance's weight", "tree/pairs.py", "ranges.at1, width1) * scale", "ranges.at1, width1)", "pairs"),
        ("dead hands", "tree/cards.py", "pick(live, pick(", "pick(half, pick(", "cards"),
        ("AlphaZero's c_base", "mcts/search.py", "c_base: float = 19_652.0", "c_base: float = 1_965.2", "mcts"),
        ("first play", "mcts/kernels.py", "0.5 + 0.5 * sign * total / tried", "0.5", "mcts"),
    ),
    *_lines(
        "sog/games",
        ("komi", "boards/go.py", '"komi": self.komi}', '"komi": self.komi + 1.0}', "go"),
    ),
    *_lines(
        "sog/play",
        ("what Terminate pays", "resolver.py", "opponent_values(n) * mass", "opponent_values(n)", "resolver"),
        ("the papers' alpha", "resolver.py", "PAPER, alpha=0.5", "PAPER, alpha=0.2", "resolver"),
        ("duplicate deals", "hand.py", "match.seed, self.deal)", "match.seed, self.number)", "hand"),
    ),
    *_lines(
        "sog/algorithms",
        ("TD(1) mask", "student/queries.py", "row.value_mask[0, at] = 1.0", "row.value_mask[0] = 1.0", "queries"),
        ("temperature in play", "student/player.py", "prior_temperature=1.5", "prior_temperature=1.0", "presets"),
        ("Table 3's temperature", "student/presets_paper.py", "temperature=1.5", "temperature=1.0", "presets"),
        ("preset's temperature", "boards/presets.py", "target_temperature=1.5", "target_temperature=1.0", "presets"),
        ("exploit's unit", "student/measure.py", "utility * public.game.unit.per_utility", "utility", "algorithms"),
        ("ReBeL's unit", "rebel/measure.py", "sampled * unit, mean * unit", "sampled, mean * unit", "rebel"),
        ("ReBeL's iteration", "rebel/agent.py", ", p=settings.weights", "", "rebel"),
        ("beliefs handed on", "rebel/agent.py", "games.reaches(n, mean)", "games.reaches(n)", "rebel"),
        ("beliefs in training", "rebel/actor.py", "n, mean=self.acting.solve.solver.average", "n", "rebel"),
        ("who explores", "rebel/leaf_sampling.py", "if actor == explorer", "if actor >= 0", "training/test_rebel.py"),
        (
            "completed values",
            "boards/targets.py",
            "visits * mean) / (1.0 + visits)",
            "mean) / 2.0",
            "training/test_policy_targets.py",
        ),
        ("V-trace's KL", "policy/vtrace.py", "other[1] += eta * kl", "other[1] -= eta * kl", "policy_gradient"),
        ("NeuRD's threshold", "policy/rnad.py", "(centred < settings", "(logits < settings", "policy_gradient"),
        ("PPO's clip", "policy/ppo.py", "torch.minimum(ratio", "torch.maximum(ratio", "policy_gradient"),
        ("SePoT's leaves", "sepot/search.py", 'rs == "opponent" else', 'rs != "opponent" else', "sepot_search"),
    ),
    *_lines(
        "sog/training",
        ("KL by probabilities", "learner.py", "- policies * log_policy", "- policies.sqrt() * log_policy", "learner"),
        ("window's growth", "replay.py", " - 1.0) / self.window_power", " - 1.0)", "algorithms/test_boards.py"),
    ),
    *_lines(
        "sog/measure",
        ("LBR's bets", "lbr_hand.py", "(1.0 - folds) * called", "called", "lbr"),
        ("AIVAT's deal", "aivat.py", "self._deals[record.a] - _mean", "_mean", "aivat"),
        ("Elo's scale", "elo.py", "_SLOPE = math.log(10.0) / 400.0", "_SLOPE = math.log(10.0) / 200.0", "elo"),
        ("games that share luck", "elo.py", "max(1.0, float(len(units) / spare * apart / expected))", "1.0", "elo"),
        ("deviation of a sample", "intervals.py", "ddof=1", "ddof=0", "intervals"),
        ("share by units", "intervals.py", "units_met / (units_met - 1) *", "", "intervals"),
    ),
    *_lines(
        "sog/opponents",
        ("OpenSpiel's MCTS", "openspiel_mcts.py", "_UCT: Final = 2.0", "_UCT: Final = 0.2", "opponents"),
        (
            "mistakes",
            "connect_four/positions.py",
            "value_of(min(self",
            "value_of(max(self",
            "soglab/test_connect_four_mistakes.py",
        ),
    ),
    *_lines(
        "sog/protocols",
        ("both ways round", "tournament.py", "(pair, pair[::-1])", "(pair, pair)", "tournament"),
        ("a period's stones", "gtp_clock.py", "_BANKED * settings.a_move", "_BANKED * settings.period", "gtp_clocks"),
    ),
    *_lines(
        "soglab/papers",
        ("ReBeL's Table 2", "rebel_table2.py", '"1x4f": 0.041', '"1x4f": 0.014', "published"),
        ("PoG's Table 5", "pog_table5.py", "2168, 2058", "2168, 2085", "published"),
        ("SePoT's Table 1", "sepot_table1.py", '"2.70 ', '"2.07 ', "published"),
        ("SePoT's rewards", "sepot_table1.py", "100 * value for", "10 * value for", "sepot_studies"),
        ("SoG's Table 2", "sog_table2.py", "loses 434", "loses 343", "published"),
        ("CFR-D's Fig. 5", "cfrd_figures.py", '"0.39"', '"0.29"', "published"),
        ("seats of a match", "elo_matches.py", "[len(starts) :] *= -1.0", "[len(starts) :] *= 1.0", "elo_experiments"),
    ),
)
