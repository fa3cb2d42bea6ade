"""The whole program: the first page is light, a killed server's game is played on, runs are shown, files are small."""

from __future__ import annotations

import gzip
import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from sog.cli.app import main
from sog.errors import SogError
from sog.training.curve import Point, write_curve
from sog.web.offers import Offers
from tests.colours import contrast
from tests.web.client import client_of

ROOT = Path(__file__).parents[2]
FIRST_PAGE = """
import sys
from pathlib import Path
from tests.web.client import client_of
client = client_of(Path("games"))
assert client.get("/").status == 200 and client.get("/new?game=leduc_poker").status == 200
heavy = ("torch", "matplotlib", "sog.searches.cfr.lookahead", "sog.play.resolver")
print([name for name in heavy if name in sys.modules])
client.close()
"""


def test_the_first_page_needs_neither_torch_nor_searches(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_PAGE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[]\n", done.stderr
    assert list(tmp_path.iterdir()) == []  # a server that only shows pages writes nothing


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], http.client.HTTPConnection]]:
    """`sog serve` as a process, with a connection to it; killed in the end."""
    line = [
        sys.executable,
        "-m",
        "sog.cli.app",
        "serve",
        "--port",
        "0",
        "--no-browser",
        "--searches",
        "1",
        "--folder",
        str(folder),
    ]
    process = subprocess.Popen([*line, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.match(r"http://127.0.0.1:(\d+)/\n", process.stdout.readline())
        assert found is not None
        yield process, http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=120)
    finally:
        process.kill()
        process.communicate()


def asked(
    server: http.client.HTTPConnection, method: str, path: str, fields: dict[str, str] | None = None
) -> tuple[str, str]:
    """Where an answer leads, and its text."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"} if fields else {}
    server.request(method, path, urlencode(fields or {}), headers)
    answer = server.getresponse()
    text = answer.read().decode()
    assert answer.status in (200, 303), text
    return answer.headers.get("location", "").partition("#")[0], text


def test_a_killed_servers_game_is_played_on(tmp_path: Path) -> None:
    with serving(tmp_path / "games") as (process, server):
        seats = {"game": "leduc_poker", "seat0": "person", "seat1": "person"}
        address, _ = asked(server, "POST", "/games", seats)
        asked(server, "POST", f"{address}/move", {"at": "0", "move": "1"})
        _, before = asked(server, "GET", f"{address}/view.json")
        os.kill(process.pid, signal.SIGKILL)
    with serving(tmp_path / "games") as (_, server):
        _, after = asked(server, "GET", f"{address}/view.json")
        assert after == before and '"moves": 0' not in after
        for _ in range(20):
            page = asked(server, "GET", address)[1]
            at, columns = re.findall(r'name="at" value="(\d+)"', page), re.findall(r'name="move" value="(\d+)"', page)
            if not columns:
                break
            asked(server, "POST", f"{address}/move", {"at": at[0], "move": columns[0]})
        assert '"result": ""' not in asked(server, "GET", f"{address}/view.json")[1]


def test_ctrl_c_ends_it_with_a_line(tmp_path: Path) -> None:
    with serving(tmp_path / "games") as (process, server):
        asked(server, "GET", "/")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        assert (process.returncode, said.count("\n")) == (143, 1) and "plays them on" in said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["no_such_game"], "no game is called"),
        (["./nothing"], "nothing"),
        (["--port", "70000"], "--port"),
        (["--searches", "100"], "at most 64"),
        (["--host", "203.0.113.7"], "cannot listen on"),
    ],
)
def test_bad_arguments_end_in_a_line(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--no-browser", "--port", "0", *words]) == 2
    assert why in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sog.cli.serve.find_spec", lambda name: None)
    assert main(["serve"]) == 2
    assert capsys.readouterr().err == "sog: sog serve needs starlette, uvicorn, jinja2: pip install 'sog[web]'\n"


# --- runs ---


def run_folder(folder: Path, losses: list[float]) -> Path:
    folder.mkdir()
    points = [
        Point(k, 0.5 * k, 10 * k, 100 * k, 8, 80, 0, loss, loss / 2, 100.0 / k) for k, loss in enumerate(losses, 1)
    ]
    write_curve(folder / "curve.csv", points)
    return folder


def test_runs_are_shown_beside_each_other(tmp_path: Path) -> None:
    nan = float("nan")
    named = [str(run_folder(tmp_path / "a", [nan, 0.5, 0.25])), str(run_folder(tmp_path / "b", [nan, 0.75]))]
    client = client_of(tmp_path / "games", named)
    assert "/runs/a" in client.get("/").text and "/runs/b" in client.get("/runs").text
    one, both = client.get("/runs/a").text, client.get("/runs/a?beside=b").text
    assert "value loss" in one and "value loss, b" in both and one.count("<svg") >= 4
    losses = one.partition("Losses")[2].partition("</figure>")[0]
    assert losses.count("<circle") == 4  # two points of each loss: what was not measured is no point
    assert client.get("/runs/c").status == 400
    (tmp_path / "b" / "curve.csv").write_text("round,minutes\n1,many\n")
    assert "damaged" in client.get("/runs/b").text
    client.close()


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SogError, match=r"neither a checkpoint nor curve.csv"):
        Offers([str(tmp_path)])


# --- what is sent ---


def test_static_files_are_small() -> None:
    files = list((ROOT / "sog" / "web" / "static").iterdir())
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) < 10_000
    assert len((ROOT / "sog" / "web" / "static" / "app.js").read_text().splitlines()) <= 200


def test_words_stand_out_in_light_and_in_dark() -> None:
    text = (ROOT / "sog" / "web" / "static" / "style.css").read_text()
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in text.split("prefers-color-scheme: dark")[:2]
    )
    for colours in (light, {**light, **dark}):
        for ink, paper in [(ink, paper) for ink in ("ink", "faint", "link") for paper in ("page", "paper")]:
            assert contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)
        assert contrast(colours["main"], colours["on-main"]) >= 4.5
        assert contrast(colours["note"], colours["on-note"]) >= 4.5
        assert contrast(colours["p0"], colours["paper"]) >= 3 and contrast(colours["p1"], colours["paper"]) >= 3
