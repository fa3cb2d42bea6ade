"""Tables of records: columns are the table's own memory, and a table is freed with them."""

from __future__ import annotations

import gc
import weakref

import numpy as np

from sog.searches.tree.records import LinkRows


def test_a_column_is_the_tables_own_memory() -> None:
    table = LinkRows.zeros(4)
    for rows in (table, table[1:3], table[np.array([0, 2])], table.copy()):
        rows.source[0] = 7
        assert rows[0].source == 7 and rows[0].target == 0
    assert table.source.tolist() == [7, 7, 0, 0]
    assert table.source is table.source  # read again and again: it is made once


def test_parts_and_copies_of_a_table_are_freed_with_their_columns() -> None:
    table = LinkRows.zeros(4)
    copies = [table.copy(), table[np.array([0, 2])], table[table.target == 0], table[:2]]
    assert [rows.source[0] for rows in copies] == [0, 0, 0, 0]
    freed = [weakref.ref(rows) for rows in copies]
    copies.clear()  # the table itself lives on
    gc.collect()
    assert [each() for each in freed] == [None] * 4
