"""Continual re-solving with complete trees: what the gadget is worth, at few iterations."""

from __future__ import annotations

import pytest

from soglab.papers import resolving
from soglab.study import Key, Options, StudyPoint


def key(rule: str, alpha: float | str, iterations: int) -> Key:
    return {"game": "leduc_poker", "rule": rule, "alpha": alpha, "iterations": iterations}


def test_the_plan_has_every_rule_alpha_and_no_gadget() -> None:
    keys = resolving.plan(Options(), print)
    assert len(keys) == 5 * 4 * 4
    assert key("sog", 0.5, 1_000) in keys
    assert key("dcfr", "no gadget", 1_000) in keys


def test_more_iterations_help_with_the_gadget_only() -> None:
    few, many, unsafe = (
        resolving.compute(key("dcfr", *rest))["mbb_per_hand"] for rest in ((1.0, 10), (1.0, 60), ("no gadget", 60))
    )
    assert many < 0.2 * few
    assert unsafe > 5 * many


def test_the_table_is_that_of_the_most_iterations() -> None:
    keys = [key("sog", 1.0, 10), key("sog", 1.0, 30)]
    outcome = resolving.present([StudyPoint(k, {"mbb_per_hand": 100.0 / k["iterations"]}) for k in keys])
    (row,) = outcome.beside
    assert row.what == "sog, alpha 1, 30 iterations a step"
    assert row.ours == "3.333 mbb/h"
    assert [r["mbb_per_hand"] for r in outcome.rows] == pytest.approx([10.0, 10 / 3])
