"""`sog serve`: games to play, and searches and training runs to look at, in any browser."""

from __future__ import annotations

import socket
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Annotated, Final

import typer

from sog.cli.frame import stdout
from sog.cli.options import count, word
from sog.cli.stopping import stop_notice
from sog.errors import SettingError

__all__ = ["serve"]

_MOST_SEARCHES: Final = 64


def serve(
    named: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN_OR_GAME]...",
            help="Runs' folders, game strings and solved hold'em spots (`sog solve --out`), beside `sog games`.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8770,
    host: Annotated[
        str, word("Where to listen. Beyond this machine the address gets a token, which is demanded.", "--host")
    ] = "127.0.0.1",
    folder: Annotated[Path, typer.Option(help="Where games are kept, a file each; a new server plays them on.")] = Path(
        "sog-games"
    ),
    searches: Annotated[int, count("Searches at once, each in a process of its own.", "--searches")] = 2,
    agent: Annotated[
        list[str] | None,
        typer.Option(metavar="MODULE:CLASS", help="An agent of your own that may be played against; several times."),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(metavar="COMMAND", help="A UCI or GTP engine that may be played against; several times."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
) -> None:
    """Serve a page to play any game on, to look at positions and searches, and at training runs.

    It listens on this machine alone, until Ctrl-C. It needs the extra `web`: pip install 'sog[web]'.
    """
    missing = [name for name in ("starlette", "uvicorn", "jinja2") if find_spec(name) is None]
    if missing:
        raise SettingError(f"sog serve needs {', '.join(missing)}: pip install 'sog[web]'")
    if searches > _MOST_SEARCHES:
        raise SettingError(f"--searches is at most {_MOST_SEARCHES}, not {searches:,}")
    import secrets

    import uvicorn

    from sog.web.guard import Door
    from sog.web.lanes import AgentLanes
    from sog.web.offers import Offers
    from sog.web.server import application

    door = Door(host, "" if Door.is_loopback(host) else secrets.token_hex(16))
    lanes = AgentLanes(searches)
    app = application(Offers(named or (), agent or (), engine or ()), folder, lanes, door)
    with _listening(host, port) as listener:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listener.getsockname()[1]}/" + (f"?token={door.token}" if door.token else "")
        stdout().print(address, soft_wrap=True)
        if not no_browser:
            webbrowser.open(address)
        settings = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, ws="none", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(settings)
        leave = server.handle_exit

        def end(number: int, frame: FrameType | None) -> None:
            """On Ctrl-C searches are ended first: the server waits for their pages to be answered."""
            lanes.close()
            leave(number, frame)

        server.handle_exit = end
        with stop_notice(lambda: f"games are in {folder}; the same command plays them on"):
            server.run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens; SettingError where that is not possible."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(kind, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise SettingError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from error
    return listener
