"""PoG Fig. 15: how exploitable Q-learning, DQN and A2C in self-play are on Kuhn and Leduc, by training episodes.

The paper shows the best of a sweep (its Table 6); here each agent has one setting out of that table.
"""

from __future__ import annotations

from statistics import mean
from typing import Final

from sog.games.catalog import make_game
from sog.measure.intervals import mean_and_range
from sog.searches.cfr import exact
from sog.searches.tree.public_tree import PublicTree
from soglab.baselines.dqn import DQNSettings
from soglab.baselines.reinforcement import AGENTS, SelfPlay
from soglab.plots import Level, Line, Mark, Panel, Picture, Scale, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint

# Episodes of one run, and what the text of C.4.2 says the best agents converge to, mbb/h.
EPISODES: Final = {"kuhn_poker": 20_000, "leduc_poker": 15_000}
PAPER: Final = {
    "kuhn_poker": {"q-learning": "about 250", "dqn": "about 250", "a2c": "52"},
    "leduc_poker": {"q-learning": "about 1300", "dqn": "about 900", "a2c": "78"},
}
MEASURES: Final = 20
MILLI: Final = 1000.0  # both games: a big blind is one chip, which is one utility
_SEEDS: Final = 2


def plan(options: Options, note: Note) -> list[Key]:
    """Every agent on both games, seed after seed; --full: ten times the episodes."""
    scale = 0.05 if options.quick else 10.0 if options.full else 1.0
    return [
        {"game": game, "agent": agent, "episodes": int(scale * episodes), "seed": seed}
        for seed in range(options.num_seeds(_SEEDS))
        for game, episodes in EPISODES.items()
        for agent in AGENTS
    ]


def compute(key: Key) -> Result:
    """Exploitability in mbb/h of what the agents play together, before training and at 20 even steps of it."""
    public = PublicTree(make_game(key["game"])).list_all()
    # An agent has about two turns an episode on Leduc, where half of the episodes see epsilon fall, and about one on
    # Kuhn, where most do.
    run = SelfPlay(public, key["agent"], key["seed"], DQNSettings(epsilon_steps=key["episodes"]))
    return {**curve(run, key["episodes"], MEASURES), "uniform": MILLI * _uniform(public)}


def curve(run: SelfPlay, episodes: int, measures: int) -> Result:
    """Train and measure at even steps: trained, the episodes so far; mbb_per_hand, the agents' exploitability then."""
    trained = [episodes * k // measures for k in range(measures + 1)]
    mbb_per_hand: list[float] = []
    for before, count in zip([0, *trained], trained, strict=False):
        run.train(count - before)
        mbb_per_hand.append(MILLI * exact.measure_policy(run.public, run.policy()).exploitability)
    return {"trained": trained, "mbb_per_hand": mbb_per_hand}


def last_fifth(result: Result) -> float:
    """The mean exploitability over the last fifth of a curve's measures, mbb/h."""
    mbb_per_hand: list[float] = result["mbb_per_hand"]
    return mean(mbb_per_hand[-(len(mbb_per_hand) // 5) :])


def _uniform(public: PublicTree) -> float:
    return exact.measure_policy(public, exact.uniform_policy(public)).exploitability


def present(points: list[StudyPoint]) -> Outcome:
    """A line for each game and agent: the last fifth of training, mean over seeds, beside the paper's best agent."""
    rows = [
        {"game": p.key["game"], "agent": p.key["agent"], "seed": p.key["seed"], "episodes": count, "mbb_per_hand": mbb}
        for p in points
        for count, mbb in zip(p.result["trained"], p.result["mbb_per_hand"], strict=True)
    ]
    beside = []
    for game, agents in PAPER.items():
        for agent, paper in agents.items():
            runs = [p for p in points if p.key["game"] == game and p.key["agent"] == agent]
            if runs:
                last = [last_fifth(p.result) for p in runs]
                label = f"{game}, {agent}, last fifth of {runs[0].key['episodes']:,} episodes"
                ours = f"{mean_and_range(last, '.0f')} mbb/h"
                beside.append(Beside(label, paper, ours))
    panels = [_panel(game, [p for p in points if p.key["game"] == game]) for game in EPISODES]
    return Outcome(rows, {"pog-fig15": Picture(panels, "Reinforcement learning in self-play")}, beside)


def _panel(game: str, runs: list[StudyPoint]) -> Panel:
    """A colour for each agent, a line for each seed; dashed: the uniform policy."""
    marks: list[Mark] = []
    for k, agent in enumerate(AGENTS):
        own = [p.result for p in runs if p.key["agent"] == agent]
        for j, result in enumerate(own):
            style = {"color": f"C{k}", "alpha": 0.8}
            marks.append(Line(result["trained"], result["mbb_per_hand"], None if j else agent, style))
    uniform = {"color": "black", "linestyle": "--"}
    marks += [Level(p.result["uniform"], "uniform", uniform) for p in runs[:1]]
    return Panel(marks, Scale("episodes"), log_scale("exploitability, mbb/h"), game, grid={"which": "both"})


EXPERIMENT: Final = Experiment(
    id="pog-fig15",
    paper="PoG",
    figure="Fig. 15",
    minutes=5,
    what="Kuhn, Leduc: Q-learning, DQN and A2C in self-play, exploitability against episodes (--full: ten times them)",
    study=Study(plan, compute, present, takes=("full", "seeds")),
)
