"""The mutations of soglab/checks/broken_lines.py still meet their lines, and a test that fails is named."""

from dataclasses import replace
from pathlib import Path

import pytest

from soglab.checks.broken_lines import MUTATIONS, Mutation
from soglab.checks.mutations import caught, mutated

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_changes_one_line(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text()
    assert mutated(mutation, text) != text
    assert (ROOT / "tests" / mutation.test).exists()


def test_each_mutation_has_a_name_of_its_own() -> None:
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS) >= 30


def test_a_failing_test_is_named_and_the_mutation_taken_back(tmp_path: Path) -> None:
    (tmp_path / "sog" / "room").mkdir(parents=True)
    (tmp_path / "tests" / "room").mkdir(parents=True)
    code, test = tmp_path / "sog" / "room" / "one.py", tmp_path / "tests" / "room" / "test_one.py"
    code.write_text("X = 1\n")
    test.write_text(f"def test_x():\n    assert open({str(code)!r}).read() == 'X = 1\\n'\n")
    one = Mutation("one", "sog/room/one.py", "X = 1", "X = 2", "room/test_other.py")
    (test.parent / "test_other.py").write_text("def test_nothing():\n    pass\n")
    for until, found in (("file", ("NO TEST", "")), ("room", ("its room", "test_one.py::test_x"))):
        row = caught(one, tmp_path, until)
        assert (row.caught, row.test) == found
        assert code.read_text() == "X = 1\n"
    row = caught(replace(one, test="room/test_one.py"), tmp_path, "suite")
    assert (row.caught, row.test) == ("its test file", "test_one.py::test_x")
