"""Pictures of a page, each with its files: SVG, and its figures as CSV; tables without a picture as CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from sog.errors import SettingError
from sog.pictures.svg import SvgPicture, csv_of

__all__ = ["Figures", "ShownPicture", "file_of", "name_of", "picture_answer", "shown_of"]

_TYPES: Final = {"svg": "image/svg+xml", "csv": "text/csv"}


@dataclass(frozen=True)
class Figures:
    """A table that no picture draws.  columns: what each column of `rows` is."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[str | float]]

    def csv(self) -> str:
        """The table as CSV."""
        return csv_of(self.columns, self.rows)


@dataclass(frozen=True)
class ShownPicture:
    """A picture on a page.  name: of its files.  files: (kind, address) of each, none of a search that grows."""

    heading: str
    svg: Markup
    name: str
    files: tuple[tuple[str, str], ...]


def shown_of(
    pictures: Mapping[str, SvgPicture], address: Callable[[str], str] | None = None
) -> dict[str, ShownPicture]:
    """Pictures by their headings.  address: of a file by its name."""
    out = {}
    for heading, picture in pictures.items():
        name = name_of(heading)
        files = [] if address is None else [(kind.upper(), address(f"{name}.{kind}")) for kind in _TYPES]
        out[heading] = ShownPicture(heading, Markup(picture.svg), name, tuple(files))
    return out


def file_of(pictures: Mapping[str, SvgPicture | Figures], file: str) -> tuple[str, str]:
    """The text and the media type of one of a page's files. SettingError for one that the page does not have."""
    name, _, kind = file.rpartition(".")
    picture = {name_of(heading): drawn for heading, drawn in pictures.items()}.get(name)
    if picture is not None and kind == "csv":
        return picture.csv(), _TYPES[kind]
    if isinstance(picture, SvgPicture) and kind == "svg":
        return picture.svg, _TYPES[kind]
    raise SettingError("the page has no such picture")


async def picture_answer(request: Request, pictures: Callable[[], Mapping[str, SvgPicture | Figures]]) -> Response:
    """The file of a page's picture or table that a request names.  pictures: makes them. Errors of `file_of`."""
    text, kind = file_of(await run_in_threadpool(pictures), request.path_params["file"])
    return Response(text, media_type=kind)


def name_of(heading: str) -> str:
    """The name of the files of what has a heading."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")
