"""The mutations of soglab/checks/mutations.py still meet their lines, and a test that fails is named."""

from pathlib import Path

import pytest

from soglab.checks.mutations import MUTATIONS, Mutation, caught, mutated

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_changes_one_line(mutation: Mutation) -> None:
    text = (ROOT / "sog" / mutation.file).read_text()
    assert mutated(mutation, text) != text


def test_a_failing_test_is_named_and_the_mutation_taken_back(tmp_path: Path) -> None:
    (tmp_path / "sog" / "room").mkdir(parents=True)
    (tmp_path / "tests" / "room").mkdir(parents=True)
    code, test = tmp_path / "sog" / "room" / "one.py", tmp_path / "tests" / "room" / "test_one.py"
    code.write_text("X = 1\n")
    test.write_text(f"def test_x():\n    assert open({str(code)!r}).read() == 'X = 1\\n'\n")
    row = caught(Mutation("one", "room/one.py", "X = 1", "X = 2"), tmp_path, rooms_only=True)
    assert (row.caught, row.test) == ("its room", "test_one.py::test_x")
    assert code.read_text() == "X = 1\n"
    row = caught(Mutation("two", "room/one.py", "X = 1\n", "X = 1\n"), tmp_path, rooms_only=True)
    assert (row.caught, row.test) == ("NO TEST", "")
