"""The pages in Debian's Chromium: whole games by keyboard, without JavaScript, on a narrow screen, by axe-core.

It needs Playwright for Python (pip install playwright) and /usr/bin/chromium (apt-get install chromium); axe-core is
read from the file that AXE_CORE names (npm install axe-core: node_modules/axe-core/axe.min.js). Tests wait for text and
compare no pixels.
"""

from __future__ import annotations

import http.client
import os
import random
import re
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.web.client import own_game
from tests.web.rows import LONDON, NAMED, RIVER, ROWS
from tests.web.test_server import asked, run_folder, serving
from tests.web.test_spots import solved_turn

CHROMIUM = shutil.which("chromium")
api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")

MATE_IN_ONE = "chess(fen=6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1)"
SMALL_GO = "go(board_size=2,komi=0.5)"
# A page of each look.
LOOKS = {
    "tic_tac_toe": "tic_tac_toe",
    "connect_four": "connect_four",
    "go": SMALL_GO,
    "go, 9x9": ROWS["go 9x9"],
    "cards": "leduc_poker",
    "dice": ROWS["dice 1x6"],
    "holdem": RIVER,
    "map": ROWS["glasses"],
    "seas": ROWS["battleship"],
    "words": ROWS["goofspiel"],
    "chess": "chess",
    "london": LONDON,
}
PERSON, RANDOM = "a person", "random moves"
LEGALS_MATE = ["e2e4", "e7e5", "g1f3", "d7d6", "f1c4", "c8g4", "b1c3", "g7g6", "f3e5", "g4d1", "c4f7", "e8e7", "c3d5"]
SECONDS = 120  # for a first answer of an agent: its process starts


@dataclass(frozen=True)
class Site:
    """A server.  pages: the address of each kind of page."""

    base: str
    pages: dict[str, str]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with games begun and ended, two runs and a solved spot."""
    folder = tmp_path_factory.mktemp("served")
    runs = [str(run_folder(folder / name, [0.5, 0.25])) for name in ("a", "b")]
    solved_turn(folder / "spot.npz", 10)
    named = (SMALL_GO, MATE_IN_ONE, str(folder / "spot.npz"), *NAMED, *runs)
    with own_game(folder), serving(folder / "games", *named) as (_, server):
        server.timeout = 600  # an agent's first move compiles kernels where none are kept
        pages = {"home": "/", "load": "/load", "missing": "/nothing", "runs": "/runs", "run": "/runs/a?beside=b"}
        for look, game in LOOKS.items():
            pages[look] = begun(server, game, "random")
        for look in ("cards", "holdem", "map", "seas"):
            pages[f"{look}, over"] = finished(server, begun(server, LOOKS[look], "network"))
            pages[f"{look}, position"] = f"/position?game={quote(LOOKS[look])}&s=8&c=1"
        for name, game in (("setup", "leduc_poker"), ("setup, hold'em", "holdem(bets=random)")):
            pages[name] = f"/new?game={quote(game)}"
        pages["chess, position"] = "/position?game=chess&s=16&c=8"
        pages |= {"spot": "/spots/spot?line=check&hands=full", "spot, card": "/spots/spot?line=check,check"}
        pages["beside"] = "/beside?game=leduc_poker&line=1-2&s=8&c=1"
        yield Site(f"http://127.0.0.1:{server.port}", {**pages, "played": "/games"})


def begun(server: http.client.HTTPConnection, game: str, other: str) -> str:
    """The address of a new game of a person against somebody."""
    seats = {"game": game, "seat0": "person", "seat1": other, "simulations": "4" if other == "network" else ""}
    return asked(server, "POST", "/games", seats)[0]


def finished(server: http.client.HTTPConnection, address: str) -> str:
    """The same address, once its game is over."""
    for _ in range(60):
        page = asked(server, "GET", address)[1]
        at, columns = re.findall(r'name="at" value="(\d+)"', page), re.findall(r'name="move" value="(\d+)"', page)
        if not columns:
            return address
        asked(server, "POST", f"{address}/move", {"at": at[0], "move": columns[-1]})
    raise AssertionError("the game does not end")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with api.sync_playwright() as playwright:
        # Debian has it draw on a graphics processor, which is a slow imitation where there is none.
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--disable-gpu"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page of a new browser context, with the settings that a test gives."""
    context = browser.new_context(**getattr(request, "param", {}))
    context.set_default_timeout(1000 * SECONDS)
    yield context.new_page()
    context.close()


# How often Tab is pressed from where the focus is to an element behind it; 0 where it is not behind.
TABS = """wanted => {
    const here = document.activeElement, behind = Node.DOCUMENT_POSITION_FOLLOWING;
    return [...document.querySelectorAll("a, button, input, select, summary, textarea, [tabindex]")]
        .filter(each => each.tabIndex >= 0 && !each.disabled && each.checkVisibility({visibilityProperty: true}))
        .filter(each => here.compareDocumentPosition(each) & behind).indexOf(wanted) + 1;
}"""


def focus(page: Any, selector: str, number: int = 0) -> None:
    """Press Tab until the `number`-th element that fits has the focus, from 0, as seen from the top of the page.

    It is held down as far as the page's order says, since each look at the focus takes as long as two of Tab.
    """
    wanted = page.locator(f"{selector}:visible").nth(number)
    for _ in range(wanted.evaluate(TABS)):
        page.keyboard.down("Tab")
    page.keyboard.up("Tab")
    for _ in range(400):
        if wanted.evaluate("wanted => wanted === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {selector}")


def press(page: Any, selector: str, number: int = 0) -> None:
    """Reach an element by the keyboard and press Enter; the page that it leads to is loaded."""
    focus(page, selector, number)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def opened(page: Any, site: Site, game: str, seats: tuple[str, str] = (PERSON, RANDOM)) -> None:
    """Begin a game from the first page, by keyboard."""
    page.goto(site.base)
    press(page, f'a[href="/new?game={quote(game)}"]')
    for select, who in zip(("#seat0", "#seat1"), seats, strict=True):
        focus(page, select)
        page.keyboard.type(who)
        assert who in page.locator(f"{select} option:checked").inner_text()
    press(page, "button.main")


def made(page: Any, rng: random.Random, wanted: str = "") -> None:
    """Make a move by keyboard: typed where that is offered, one in five there and all elsewhere by its button.

    wanted: its name; "" for any.
    """
    if page.locator("details.card summary").count():  # two people share the screen
        focus(page, "details.card summary")
        page.keyboard.press("Enter")
    names = page.locator("#moves option").evaluate_all("options => options.map(option => option.value)")
    if names and rng.random() < 0.8:
        focus(page, "#typed")
        page.keyboard.type(wanted or rng.choice(names))
        with page.expect_navigation():
            page.keyboard.press("Enter")
    elif page.locator(".chess").count():
        name = wanted or rng.choice([each for each in names if len(each) == 4])
        press(page, f'a[aria-label="move from {name[:2]}"]')
        press(page, f'button[aria-label="{name[:2]} to {name[2:]}"]')
    elif wanted:
        press(page, f'button[name=move]:text-is("{wanted}")')
    else:
        press(page, "button[name=move]", rng.randrange(page.locator("button[name=move]:visible").count()))


def wanted_next(game: str, number: int, rng: random.Random) -> str:
    """The name of the next move of a game that any moves would not end soon; "" for any move.

    number: of moves that were made.
    """
    if game == "chess":
        return LEGALS_MATE[number]
    return "pass" if game.startswith("go") and number > 8 and rng.random() < 0.7 else ""


def played(page: Any, game: str, rng: random.Random, most: int = 120) -> None:
    """Play to the end by keyboard, which begins at the line that says who is to move."""
    for number in range(most):
        state = page.locator("#state:focus").inner_text()
        if "won" in state or "draw" in state:
            return
        assert state == "It is your move." or state.endswith("is to move.")
        made(page, rng, wanted_next(game, number, rng))
    raise AssertionError("the game does not end")


def seats_of(game: str) -> tuple[str, str]:
    return PERSON, PERSON if game == "chess" or game.startswith("go") else RANDOM


@pytest.mark.parametrize("row", ROWS)
def test_a_whole_game_by_keyboard(site: Site, page: Any, row: str) -> None:
    opened(page, site, ROWS[row], seats_of(ROWS[row]))
    played(page, ROWS[row], random.Random(row))
    assert page.locator(".log li").count() > 0


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True, ids=["no script"])
@pytest.mark.parametrize("row", ROWS)
def test_a_whole_game_without_javascript(site: Site, page: Any, row: str) -> None:
    opened(page, site, ROWS[row], seats_of(ROWS[row]))
    played(page, ROWS[row], random.Random(row))
    press(page, 'a:text-is("Play again")')
    assert page.locator("button.main").inner_text() == "Play"


@pytest.mark.parametrize("row", ["leduc", "battleship"])
def test_two_people_share_a_screen_by_keyboard(site: Site, page: Any, row: str) -> None:
    opened(page, site, ROWS[row], (PERSON, PERSON))
    played(page, ROWS[row], random.Random(row))


def test_chess_by_keyboard(site: Site, page: Any) -> None:
    opened(page, site, MATE_IN_ONE, (RANDOM, PERSON))
    press(page, 'a[aria-label="move from a1"]')
    press(page, 'button[aria-label="a1 to a8"]')
    page.get_by_text("won").first.wait_for()


def test_steps_of_a_search_by_keyboard(site: Site, page: Any) -> None:
    page.goto(f"{site.base}/position?game=connect_four&s=30&c=1")  # a search that takes long to end
    page.get_by_text("The search after 30 simulations").wait_for()
    focus(page, "#slider")
    page.keyboard.press("ArrowLeft")
    page.get_by_text("The search after 16 simulations").wait_for()
    assert "step=4" in page.url
    page.reload()  # the page is back at its step
    page.get_by_text("The search after 16 simulations").wait_for()
    focus(page, "form[data-stream] button")
    page.keyboard.press("Enter")
    page.get_by_text("The search grows.").wait_for()
    page.get_by_text(re.compile(r"The search after [\d,]{3,} simulations")).wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("Stopped.").wait_for()


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True, ids=["dark"])
def test_pictures_are_saved_as_png(site: Site, page: Any) -> None:
    """Of each kind: a board, a policy, a tree, a grid, a map."""
    for look, names in {"chess": ["board", "policy", "tree"], "holdem": ["policy"], "map": ["map"]}.items():
        page.goto(site.base + site.pages[f"{look}, position"])
        page.get_by_text("The search after").wait_for()
        for name in names:
            focus(page, f'[data-name="{name}"] button')
            with page.expect_download() as waiting:
                page.keyboard.press("Enter")
            assert waiting.value.suggested_filename == f"{name}.png"
            saved = Path(waiting.value.path()).read_bytes()
            width, height = struct.unpack(">II", saved[16:24])
            assert saved.startswith(b"\x89PNG\r\n") and width == 1600 and height > 100
            assert len(saved) > 8_000  # white paper alone has fewer bytes


@pytest.mark.parametrize("page", [{"viewport": {"width": 360, "height": 740}}], indirect=True, ids=["360"])
def test_nothing_is_wider_than_a_narrow_screen(site: Site, page: Any) -> None:
    wide = {}
    for name, address in site.pages.items():
        page.goto(site.base + address)
        page.locator("h1").wait_for()
        found = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        if found[0] > found[1]:
            wide[name] = found
    assert wide == {}


@pytest.mark.parametrize("page", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True, ids=str)
def test_axe_finds_nothing_serious(site: Site, page: Any) -> None:
    """In dark colours, which change nothing else, only their contrast is looked at."""
    axe = Path(os.environ.get("AXE_CORE", ""))
    if not axe.is_file():
        pytest.skip("axe-core is not named: npm install axe-core, and AXE_CORE=.../axe-core/axe.min.js")
    found = {}
    for name, address in site.pages.items():
        page.goto(site.base + address)
        page.evaluate(axe.read_text())
        dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        rules = {"resultTypes": ["violations"]} | ({"runOnly": ["color-contrast"]} if dark else {})
        for fault in page.evaluate("rules => axe.run(rules)", rules)["violations"]:
            if fault["impact"] in ("serious", "critical"):
                found[name, fault["id"]] = [node["html"][:200] for node in fault["nodes"][:3]]
    assert found == {}
