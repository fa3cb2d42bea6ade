"""README and docs keep their word: snippets run, command lines parse, names and paths exist, counts are right.

What a page may hold: fenced ```python blocks, run one after the other in one namespace a page; command lines of
`sog`, `make` and `python -m sog...` as inline code or in indented blocks; paths of this repository. Words in capitals
stand for what a reader fills in, [brackets] for what may be left out. Commands that are cheap are run with what they
print: see PRINTED.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import pytest
import typer

import sog
from sog import algorithms
from sog.algorithms import table
from sog.algorithms.settings import value_of
from sog.algorithms.table import read
from sog.cli.app import app, main
from sog.games.catalog import known_games, make_game
from sog.games.strings import OPENSPIEL
from soglab import checks
from tests.written import write_die_bluff

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MATCHES = sorted((ROOT / "docs" / "matches").glob("*.toml"))

Capture = pytest.CaptureFixture[str]


def text(name: str) -> str:
    """A page, by its name in docs/ or README.md."""
    return (ROOT / name if name == "README.md" else ROOT / "docs" / name).read_text()


def page_ids() -> list[str]:
    return [str(page.relative_to(ROOT)) for page in PAGES]


def test_the_site_has_every_page() -> None:
    """`make docs` finds broken links by itself, but no page that was left out."""
    named = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    docs = ROOT / "docs"
    assert sorted(named) == sorted(str(page.relative_to(docs)) for page in docs.rglob("*.md"))


# --- snippets ---


def snippets(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=lambda page: page.name)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = ModuleType("snippet")
    monkeypatch.setitem(sys.modules, "snippet", module)  # where dataclasses look up their annotations
    for number, snippet in enumerate(snippets(page)):
        exec(compile(snippet, f"{page.name}, snippet {number + 1}", "exec", dont_inherit=True), vars(module))


def test_every_name_of_sog_is_in_a_snippet() -> None:
    written = "".join(snippet for page in PAGES for snippet in snippets(page))
    assert [name for name in sog.__all__ if not re.search(rf"\bsog\.{name}\b", written)] == []


def test_the_pages_have_snippets() -> None:
    assert {page.name for page in PAGES if snippets(page)} >= {"README.md", "extending.md"}


# --- whole files of extending.md ---


@pytest.fixture
def recipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The learning algorithm and the experiment of extending.md, as if their files were in the folders that it says.

    A snippet under a line with a path is a whole file: `even/algorithm.py` of sog/algorithms, a lone file of
    soglab/checks.
    """
    before = set(sys.modules)
    for path, source in re.findall(r"^`([\w/]+\.py)`:\n\n```python\n(.*?)^```", text("extending.md"), re.M | re.S):
        file = tmp_path / ("algorithms" if "/" in path else "checks") / path
        file.parent.mkdir(parents=True)
        file.write_text(source)
    for package in (algorithms, checks):
        folder = tmp_path / package.__name__.rpartition(".")[2]
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    importlib.invalidate_caches()
    even = importlib.import_module("sog.algorithms.even.algorithm")
    monkeypatch.setattr(table, "ALGORITHMS", (*table.ALGORITHMS, even.Even))
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("sog.algorithms.even", "soglab.checks.regret_rules")):
            del sys.modules[name]


@pytest.mark.usefixtures("recipes")
def test_the_algorithm_of_the_page_trains_and_plays(tmp_path: Path, capsys: Capture) -> None:
    run = tmp_path / "run"
    assert main(["algorithms"]) == 0 and main(["algorithms", "even"]) == 0
    printed = " ".join(capsys.readouterr().out.split())  # however wide the terminal is
    assert "Even: Monte Carlo tree search whose root" in printed and "of a move, in play (by default 100)" in printed
    trained = ["tic_tac_toe", "--algorithm", "even(games=4,simulations=9,network=1x16)", "--rounds", "3"]
    assert main(["train", *trained, "--workers", "1", "--out", str(run)]) == 0
    thought = sog.load_agent(run, algorithm="even").think([0, 3, 1, 4])
    assert thought.action == 2  # three in the upper row
    assert {candidate.visits for candidate in thought.candidates} == {20}
    settings = read("even").settings(make_game("connect_four"), "demo")
    assert value_of(settings, "gumbel") == 0.0


@pytest.mark.usefixtures("recipes")
def test_the_experiment_of_the_page_runs(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "results"
    assert main(["reproduce", "--list"]) == 0 and "regret-rules" in capsys.readouterr().out
    assert main(["reproduce", "regret-rules", "--quick", "--workers", "1", "--out", str(out)]) == 0
    assert "cfr+, 100 iterations" in capsys.readouterr().out
    files = {path.name for path in (out / "regret-rules-quick").iterdir()}
    assert files == {"points.jsonl", "regret-rules.csv", "regret-rules.png"}


# --- the tutorials ---


def test_the_tutorials_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Every command of the page, in order, with the files that it writes."""
    monkeypatch.chdir(tmp_path)
    write_die_bluff(tmp_path / "my_games.py")
    page = ROOT / "docs" / "tutorials.md"
    for path, content in re.findall(r"`([\w.]+)`:\n\n```toml\n(.*?)^```", page.read_text(), re.M | re.S):
        (tmp_path / path).write_text(content)
    lines = re.findall(r"^    (.+)$", page.read_text(), re.MULTILINE)
    assert lines.pop(0) == "export SOG_GAMES=my_games"
    monkeypatch.setenv("SOG_GAMES", "my_games")
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, line
    said = " ".join(capsys.readouterr().out.split())
    zero, trained = (float(found) for found in re.findall(r"exploitability ([\d.]+) utility", said))
    assert abs(zero - 1 / 3) < 1e-3 and trained < zero / 3 and "value of player 0 -0.1111" in said
    ours, theirs = re.findall(r"nash_conv, \S+ ([\d.e-]+)", said)
    assert abs(float(ours) - float(theirs)) < 1e-12 and "value of player 0 -0.05556" in said
    assert (tmp_path / "results/rebel-rps-quick/rebel-rps.png").is_file()


# --- command lines ---

# What a reader fills in, by what the option or argument accepts; other words in capitals stay as they are.
_FILLED = {"S": "100", "C": "1", "DEPTH": "3", "N": "1"}


def code(page: Path) -> Iterator[str]:
    """Inline code, and the lines of indented blocks and of ``` blocks that are not Python."""
    prose, fence = "", ""
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            fence = "" if fence else line
        elif fence:
            if fence == "```":
                yield line.strip()
        elif line.startswith("    "):
            yield line.strip()
        else:
            prose += line + "\n"
    for span in re.findall(r"`([^`]+)`", prose):
        yield " ".join(span.split())


def command_lines(page: Path) -> list[list[str]]:
    """The words of every command line of `sog` on a page, filled in; a comment after two blanks is left out."""
    found = []
    for line in code(page):
        line = re.split(r"\s+# ", line)[0].strip().removeprefix(".venv/bin/")
        if re.match(r"sog [a-z]", line):
            line = line.replace("[", "").replace("]", "") if re.search(r"\[--", line) else line
            words = [word for word in shlex.split(line)[1:] if word not in ("...", "…")]
            found.append([_FILLED.get(word, word) for word in words])
    return found


def parse(words: list[str]) -> None:
    """Have the command line's own parser, and that of algorithm strings, read the words; nothing is run.

    AssertionError says what is wrong.
    """
    command = typer.main.get_command(app)
    try:
        name, path = "sog", list(words)
        while hasattr(command, "commands"):
            name = path.pop(0)
            command = command.commands[name]
            if not path:  # a command that is only mentioned by name
                return
        given = command.make_context(name, path).params
        if name in ("train", "exploit", "play") and given["algorithm"]:
            read(given["algorithm"])
    except KeyError as error:
        raise AssertionError(f"no command {error}: sog {' '.join(words)}") from None
    except Exception as error:
        raise AssertionError(f"sog {' '.join(words)}: {getattr(error, 'message', error)}") from None


@pytest.mark.usefixtures("recipes")
@pytest.mark.parametrize("page", PAGES, ids=page_ids())
def test_command_lines_parse(page: Path) -> None:
    for words in command_lines(page):
        parse(words)


def test_the_parser_refuses_what_is_wrong() -> None:
    wrong = ("solve leduc_poker --iteration-count 3", "slove leduc_poker", "perft chess four")
    for line in (*wrong, "train leduc_poker --algorithm rebel(solvers=fp)", "exploit"):
        if line == "exploit":
            parse([line])  # a mention
            continue
        with pytest.raises(AssertionError):
            parse(line.split())


def test_pages_show_command_lines() -> None:
    shown = dict(zip(page_ids(), (len(command_lines(page)) for page in PAGES), strict=True))
    assert shown["README.md"] >= 3 and shown["docs/commands.md"] >= 14 and shown["docs/figures.md"] >= 10
    assert min(shown[page] for page in shown if page.startswith("docs/measured/")) >= 1, shown
    assert sum(shown[page] for page in shown if page.startswith("docs/measured/")) >= 80, shown


def anchors(page: Path) -> set[str]:
    """What GitHub calls the headings of a page: lower case, blanks as hyphens, other signs left out."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_ids())
def test_links_to_sections_lead_there(page: Path) -> None:
    links = [link for link in re.findall(r"\]\(([^)\s]*#[^)\s]+)\)", page.read_text()) if "://" not in link]
    for target, _, anchor in (link.partition("#") for link in links):
        assert anchor in anchors(page.parent / target if target else page), f"{target}#{anchor}"


def test_every_measurement_is_listed() -> None:
    front = text("measured.md")
    for page in sorted((ROOT / "docs" / "measured").glob("*.md")):
        assert f"](measured/{page.name})" in front
        sections = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)
        names = {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in sections}
        missing = {name for name in names if f"(measured/{page.name}#{name})" not in front}
        assert not missing


@pytest.mark.parametrize("page", PAGES, ids=page_ids())
def test_modules_and_targets_that_are_run(page: Path) -> None:
    """`python -m MODULE --option`: the module exists and knows the option. `make TARGET`: the Makefile has it."""
    makefile = (ROOT / "Makefile").read_text()
    for line in code(page):
        if run := re.match(r"python -m (\S+)(.*)", line):
            spec = importlib.util.find_spec(run[1])
            assert spec is not None and spec.origin is not None, line
            source = Path(spec.origin).read_text()
            for option in re.findall(r"--[a-z-]+", run[2]):
                assert f'"{option}"' in source, line
        if run := re.match(r"make ([a-z]+)\b", line):
            assert re.search(rf"^{run[1]}:", makefile, re.MULTILINE), line


# Commands of the pages that take a second or a few, and what they print, as regular expressions.
PRINTED = {
    "sog games": ["kuhn_poker", "connect_four"],
    "sog perft chess 4": ["197,281 lines"],
    "sog reproduce --list": ["rebel-table2", "ttt-never-loses"],
}


@pytest.mark.parametrize("line", PRINTED)
def test_cheap_commands_print_what_the_pages_say(line: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(line in code(page) for page in PAGES), f"no page has `{line}` any longer"
    monkeypatch.setenv("COLUMNS", "200")
    assert main(shlex.split(line)[1:]) == 0
    printed = capsys.readouterr().out
    for words in PRINTED[line]:
        assert re.search(words, printed), printed


def test_every_command_is_listed() -> None:
    table = text("commands.md")
    listed = set(re.findall(r"^\|.*?`sog ([a-z]+)|, `sog ([a-z]+)", table, re.MULTILINE))
    assert {a or b for a, b in listed} == set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


# --- names and paths ---

_PATH = re.compile(r"(?<![\w/.-])(?:sog|soglab|docs|tests)/[\w./-]*\w")


@lru_cache
def names_in(path: Path) -> frozenset[str]:
    """Functions, classes, `Class.method`, fields of classes and module constants, as the text defines them."""
    out: set[str] = set()

    def add(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                out.add(prefix + node.name)
            if isinstance(node, ast.ClassDef):
                add(node.body, f"{node.name}.")
            targets = node.targets if isinstance(node, ast.Assign) else []
            if isinstance(node, ast.AnnAssign):
                targets = [node.target]
            out.update(prefix + target.id for target in targets if isinstance(target, ast.Name))

    add(ast.parse(path.read_text()).body, "")
    return frozenset(out)


def named(page: Path) -> list[tuple[str, list[str]]]:
    """(path, names) of every code span `path` or `path: name, Class.method`."""
    spans = re.findall(r"`((?:sog|soglab|tests)/[^`]+)`", page.read_text())
    pairs = [span.partition(": ") for span in spans]
    return [(path, [name.strip() for name in names.split(",") if name.strip()]) for path, _, names in pairs]


@pytest.mark.parametrize("page", PAGES, ids=page_ids())
def test_names_exist(page: Path) -> None:
    missing = []
    for path, names in named(page):
        if names:
            missing += [f"{path}: {name}" for name in names if name not in names_in(ROOT / path)]
    assert not missing


@pytest.mark.parametrize("page", [*PAGES, *MATCHES], ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    words = page.read_text()
    assert not [path for path in _PATH.findall(words) if not (ROOT / path).exists()]
    links = [link for link in re.findall(r"\]\(([^)#\s]+)\)", words) if "://" not in link]
    assert not [link for link in links if not (page.parent / link).exists()]


def test_the_paper_map_names_code() -> None:
    found = named(ROOT / "docs" / "paper_map.md")
    assert sum(len(names) for _, names in found) > 50
    for line in text("paper_map.md").splitlines():
        if line.startswith("|") and not line.startswith(("| paper", "|---")):
            for span in re.findall(r"`([^`]+)`", line.rsplit("|", 2)[1]):
                assert span.startswith(("sog/", "soglab/")), f"a name without its file: {span}"


# --- counts ---


def has(page: str, words: str) -> None:
    """The page says this, whatever its line breaks."""
    assert words in " ".join(text(page).split()), f"{page} does not say: {words}"


def test_counts_of_openspiel_games() -> None:
    from sog.measure.openspiel_table import CANDIDATES

    compared, refused = text("openspiel_games.md").split("| not compared |")
    rows = [line.split("|") for line in compared.splitlines() if line.startswith("| `")]
    reasons = [line for line in refused.splitlines() if line.startswith("| `")]
    assert len(rows) + len(reasons) == len(CANDIDATES)
    said = f"Compared: {len(rows)} games; equal within 1e-09: {len(rows)}; not compared: {len(reasons)}."
    has("openspiel_games.md", said)
    has("figures.md", f"{len(rows)} OpenSpiel games compiled here")
    most, histories = max(float(row[-2]) for row in rows), max(int(row[3].replace(",", "")) for row in rows)
    assert most <= 2e-15
    has("measured/checked.md", f"{len(rows)} OpenSpiel games compiled here (up to {histories:,} histories)")
    has("measured/checked.md", f"for {len(reasons)} others the reason")


def test_counts_of_public_states() -> None:
    from soglab.bench.holdem import RIVER

    def decisions(name: str) -> tuple[int, int]:
        """Public states where a player acts, and those where chance acts."""
        game = make_game(name)
        waiting, actors = [game.root()], []
        while waiting:
            s = waiting.pop()
            actors.append(game.actor(s))
            waiting += game.fan(s).children if actors[-1] < 3 else ()
        return sum(actor < 2 for actor in actors), actors.count(2)

    players, chance = decisions("leduc_poker")
    has("measured/student_of_games.md", f"Leduc's {players + chance} public states at which a player or chance acts")
    has("measured/rebel.md", f"1x4f's {decisions('liars_dice(numdice=1,dice_sides=4)')[0]} decision states")
    has("notes.md", f"On 1x5f, {decisions('liars_dice(numdice=1,dice_sides=5)')[0]:,} decision states")
    for page in ("figures.md", "measured/solving.md"):
        has(page, f"same tree of {decisions(RIVER.game)[0]} decisions")


def test_counts_of_files_games_and_checkpoints() -> None:
    from sog.training.shipped_folders import shipped_checkpoints
    from soglab.bench.cfr import GAMES
    from soglab.papers.pog_table5 import TABLE_5

    words = {20: "twenty"}
    lines = len((ROOT / "sog/games/rules/kuhn.py").read_text().splitlines())
    has("extending.md", f"`sog/games/rules/kuhn.py` is a complete example in {lines} lines")
    shipped = words[len(shipped_checkpoints())]
    has("README.md", f"{shipped} trained networks")
    has("decisions.md", f"The package holds {shipped} networks")
    has("measured/solving.md", f"{len(GAMES)} games, 46 minutes")
    figures = sum(len(row) for table in TABLE_5.values() for row in table.values())
    has("measured/solving.md", f"table's {figures} figures")


def test_the_table_of_games_is_whole() -> None:
    games = {name.partition("(")[0] for name, _ in known_games() if not name.startswith(OPENSPIEL)}
    table = "".join(line for line in text("games.md").splitlines() if line.startswith("|"))
    assert {name for name in games if f"`{name}" not in table} == set()
    assert f"`{OPENSPIEL}" in table


def test_exported_names_have_docstrings_and_are_counted() -> None:
    has("README.md", f"`help(sog)` shows all {len(sog.__all__)} names")
    constants = {"NATURE", "TERMINAL"}
    assert not [name for name in set(sog.__all__) - constants if not (getattr(sog, name).__doc__ or "").strip()]


@pytest.mark.parametrize(
    ("page", "word", "explained"),
    [
        ("figures.md", r"\bRUN\b", "RUN stands for the folder of a training run"),
        ("README.md", r"public states", "public states (what both players see)"),
        ("glossary.md", r"\binfostate\b", "all that a player can know at a public state"),
    ],
)
def test_a_page_says_what_a_word_is_where_it_comes_first(page: str, word: str, explained: str) -> None:
    """In the line of its first use, at the latest."""
    first = next(line for line in text(page).splitlines() if re.search(word, line))
    assert explained in first


def test_every_figure_names_its_own_command() -> None:
    rows = [line for line in text("figures.md").splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    assert not [row for row in rows if "`sog " not in row.rsplit("|", 2)[1]]


def test_the_wheel_shows_the_readme() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["readme"] == "README.md" and project["urls"] and len(project["classifiers"]) >= 5
    assert len(text("README.md").splitlines()) <= 90 and len(text("README.md").split()) <= 700
    assert len(text("decisions.md").splitlines()) <= 120
