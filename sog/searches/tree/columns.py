"""Column names of the integer tables that the kernels and the trees share. Kernels freeze them."""

from __future__ import annotations

# Columns of PublicTree.nodes, int32[N, PUBLIC_FIELDS]; I0 + p and SLOT0 + p belong to player p.
# PLAIN: every infostate's action a takes edge a and keeps its index.  SAME: no edge has links.
ACTOR, I0, I1, EDGE0, EDGES, ACTION0, ACTIONS, WEIGHT_OP, PAYOFF_OP, SLOT0, SLOT1, PLAIN, SAME = range(13)
PUBLIC_FIELDS = 13
NATURE, TERMINAL = 2, 3  # of ACTOR, beside the players 0 and 1, as in games.base

# Columns of PublicTree.scales, float64[N, 3].
WEIGHT_SCALE, PAYOFF_SCALE, VALUE_UNIT = range(3)

# Columns of PublicTree.edges, int32[E, 5]: the child's node, then start and length of each player's
# links; start -1: every infostate keeps its index.
CHILD, CARRY0, CARRY0_LEN, CARRY1, CARRY1_LEN = range(5)
EDGE_FIELDS = 5

# Columns of PublicTree.action_rows, int32[R, 4]: one row per (node, action). EDGE -1: the action's links
# (infostate, edge, infostate at the child) say where it leads; otherwise it takes EDGE for every infostate.
IDENTITY, EDGE, LINK0, LINKS = range(4)
ACTION_FIELDS = 4

# Columns of PublicTree.operators, int64[O, OPERATOR_FIELDS]: where the packed operator starts in operator_values,
# its shape, and its kind (games.base.Operator), which says how it is applied. OP_FACTORS: where two vectors start
# there, float64[I0] and float64[I1], whose outer product a dense operator is; -1 if it is none.
OP_START, OP_ROWS, OP_COLUMNS, OP_KIND, OP_FACTORS = range(5)
OPERATOR_FIELDS = 5

# Columns of Lookahead.nodes, int32[M, NODE_FIELDS]. The columns from N_ACTOR on repeat the public
# node's, so that a sweep reads one line of memory a node. OFF0 + p, N_I0 + p belong to player p.
PUBLIC, KIND, PARENT, OFF0, OFF1, VAR0, CHILD0, EVALUATED = range(8)
# N_PLAIN, N_SAME: as PLAIN and SAME, and all children are in the tree.
N_ACTOR, N_I0, N_I1, N_EDGE0, N_EDGES, N_ACTION0, N_ACTIONS, N_PLAIN, N_SAME = range(8, 17)
IN_EDGE = 17  # the parent's public edge that leads here, 0 at the root
NODE_FIELDS = 18
LEAF, INTERIOR, ENDED = range(3)  # of KIND
AWAITING, READY, CLOSED = range(3)  # of EVALUATED: not yet; it has been; and no trajectory opens it

# Rows of Lookahead.child, int32[3, *], one column per (node, public edge): the child's node (-1: not in
# the tree) and its OFF0 and OFF1 again, so that sweeps need not visit the child.
NODE, AT0, AT1 = range(3)

# Rows of Lookahead.infostates, float64[INFOSTATE_ROWS, S]: one column per (node, player, infostate).
# LEAF_RANGE: of the belief that a leaf was evaluated at.
REACH, CFV, CFV_SUM, REACH_SUM, LEAF_VALUE, LEAF_RANGE = range(6)
INFOSTATE_ROWS = 6

# Rows of Lookahead.entries, float64[ENTRY_ROWS, V]: one column per (node, action, infostate).
REGRET, POLICY_SUM, POLICY, AVERAGE_POLICY, ACTION_CFV, PRIOR, VISITS, VIRTUAL = range(8)
ENTRY_ROWS = 8
