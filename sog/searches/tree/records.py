"""The rows of the trees' tables, field by field, and the names of rows of their matrices.

Kernels freeze the layouts. What inner loops count with, infostates and places of numbers, is unsigned: Numba tests a
signed index for counting from the end. What may be -1 is signed, and so are numbers of actions, edges and links.
"""

from __future__ import annotations

from enum import IntEnum

from sog.records import Flag, Pair, Real, Record, Records, Whole

__all__ = [
    "Action",
    "Actions",
    "Awaited",
    "AwaitedNodes",
    "Child",
    "Children",
    "Counts",
    "Edge",
    "Edges",
    "Entry",
    "Evaluated",
    "Infostate",
    "Kind",
    "LinkRow",
    "LinkRows",
    "Node",
    "Nodes",
    "OperatorRow",
    "OperatorRows",
    "PublicState",
    "PublicStates",
    "Used",
]


# --- of a public tree ---


class PublicState(Record):
    """A public state of the game. Pairs belong to the players."""

    actor = Whole("u1")  # who acts: 0, 1, NATURE or TERMINAL, as in games.base
    plain = Flag()  # every infostate's action a takes edge a and keeps its index
    same = Flag()  # nobody's infostate changes over any edge: no edge has links
    width = Pair("u4")  # how many infostates
    edge0 = Whole("i4")  # its first edge; -1: its edges are not listed yet
    edges = Whole("i4")  # how many edges
    action0 = Whole("u4")  # the actor's first action
    actions = Whole("i4")  # how many actions
    slot0 = Pair("u4")  # where the network slots of its infostates begin in `slots`
    weight = Whole("u4")  # the operator of the infostates' weights W
    payoff = Whole("i4")  # the operator of payoffs; -1: the game continues
    weight_scale = Real("f8")  # what the weights' operator is multiplied by
    payoff_scale = Real("f8")  # what the payoffs' operator is multiplied by
    value_unit = Real("f8")  # the utility that a network value of 1 means


class PublicStates(Records[PublicState], PublicState):
    """A row per public state."""


class Edge(Record):
    """A way from a public state to the next; those of a state lie one after another."""

    child = Whole("i4")  # the public state that it leads to; -1: not listed yet
    carry0 = Pair("i4")  # the first of each player's links over it; -1: every infostate keeps its index
    carries = Pair("i4")  # how many links


class Edges(Records[Edge], Edge):
    """A row per public edge."""


class Action(Record):
    """An action of a public state's actor; those of a state lie one after another, by identity."""

    identity = Whole("i4")  # the game's number of the action
    edge = Whole("i4")  # the edge that it takes with every infostate; -1: its links say which
    link0 = Whole("i4")  # its first link
    links = Whole("i4")  # how many links


class Actions(Records[Action], Action):
    """A row per action of a public state."""


class LinkRow(Record):
    """Where one infostate goes over an edge."""

    source = Whole("u4")  # the infostate
    edge = Whole("i4")  # the edge, counted from the public state's first; 0 where the link belongs to an edge
    target = Whole("u4")  # the infostate at the child


class LinkRows(Records[LinkRow], LinkRow):
    """A row per link."""


class OperatorRow(Record):
    """A pair operator as it is packed in `operator_values`."""

    start = Whole("u4")  # where it begins there
    kind = Whole("i4")  # how it is applied (games.base.Operator)
    rows = Whole("u4")  # player 0's infostates
    columns = Whole("u4")  # player 1's infostates
    factors = Whole("i8")  # where two vectors begin whose outer product a dense operator is; -1: it is not one


class OperatorRows(Records[OperatorRow], OperatorRow):
    """A row per operator."""


# --- of a lookahead ---


class Kind(IntEnum):
    """What a node of a lookahead is."""

    LEAF = 0  # the game continues below, the tree does not
    INTERIOR = 1  # some of its children are in the tree
    ENDED = 2  # the game ends here


class Evaluated(IntEnum):
    """How far a leaf has come."""

    AWAITING = 0  # it has not been evaluated yet
    READY = 1  # it has, and may be opened
    CLOSED = 2  # no trajectory opens it


class Node(Record):
    """A node of a lookahead. Much of it repeats the public state's, so that a sweep reads one line of memory a node.

    Pairs belong to the players. Edges, children and entries are there once a node has them.
    """

    public = Whole("i4")  # its public state; -1: not known yet
    parent = Whole("i4")  # the node above; -1 at the root
    in_edge = Whole("i4")  # the parent's edge that leads here, counted from its first; 0 at the root
    kind = Whole("u1")  # Kind
    evaluated = Whole("u1")  # Evaluated
    actor = Whole("u1")  # who acts, as at its public state
    plain = Flag()  # as there, and all children are in the tree
    same = Flag()  # as there, and all children are in the tree
    offset = Pair("u4")  # where the infostates begin in `infostates`
    width = Pair("u4")  # how many infostates
    entry0 = Whole("u4")  # where its (action, infostate) entries begin in `entries`
    child0 = Whole("u4")  # its first child in `child`: one for each edge
    edge0 = Whole("u4")  # the public state's first edge
    edges = Whole("i4")  # how many edges
    action0 = Whole("u4")  # the public state's first action
    actions = Whole("i4")  # how many actions


class Nodes(Records[Node], Node):
    """A row per node."""


class Child(Record):
    """What a node's edge leads to, with enough of the child that sweeps need not visit it."""

    node = Whole("i4")  # the child; -1: not in the tree
    offset = Pair("u4")  # where its infostates begin


class Children(Records[Child], Child):
    """A row per (node, edge)."""


class Counts(Record):
    """How much of a lookahead's tables is in use."""

    nodes = Whole("u4")
    infostates = Whole("u4")
    entries = Whole("u4")
    children = Whole("u4")
    ends = Whole("u4")
    late = Whole("u4")  # 1 where a decision gets its entries when it is opened; 0: when it is added


class Used(Records[Counts], Counts):
    """One row."""


class Awaited(Record):
    """A node of a deterministic game that was added before its public state was listed."""

    public = Whole("i4")  # the public state above; once it is listed, its own
    edge = Whole("i4")  # the edge that leads from there to it


class AwaitedNodes(Records[Awaited], Awaited):
    """A row per node, in the order of the newest nodes of a lookahead."""


class Infostate(IntEnum):
    """Rows of Tree.infostates: numbers of each (node, player, infostate)."""

    REACH = 0  # how likely the player's own actions lead there: its range
    CFV = 1  # the counterfactual value
    CFV_SUM = 2  # counterfactual values summed over iterations, weighed as the averages are
    REACH_SUM = 3  # ranges summed over iterations
    LEAF_VALUE = 4  # a leaf's evaluation, conditional on the infostate
    LEAF_RANGE = 5  # of the belief that a leaf was evaluated at


class Entry(IntEnum):
    """Rows of Tree.entries: numbers of each (node, action, infostate)."""

    REGRET = 0
    POLICY_SUM = 1  # policies summed over iterations, weighed by the player's own reach
    POLICY = 2  # the policy of the next iteration
    AVERAGE_POLICY = 3
    ACTION_CFV = 4  # the counterfactual value of the action
    PRIOR = 5  # the evaluator's policy, up to a factor for each infostate
    VISITS = 6  # expansions that took the action
    VIRTUAL = 7  # visits of this expansion phase
