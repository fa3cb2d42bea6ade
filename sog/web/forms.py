"""Reads the forms that a browser sends, within bounds: fields, numbers and a file."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from email.message import Message
from email.parser import BytesParser
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request

from sog.errors import SettingError
from sog.web.guard import LARGEST_BODY

__all__ = ["body_of", "form_of", "number_in", "parts_of"]

_FIELDS: Final = 50
_BODY_SECONDS: Final = 10.0
_WITH_FILE: Final = re.compile(r'multipart/form-data; *boundary="?[\w\'()+,./:=?-]{1,70}"?')

T = TypeVar("T")


async def form_of(request: Request) -> dict[str, str]:
    """A form's fields. SettingError for a body that is too large, too slow or no form."""
    try:
        return dict(parse_qsl((await body_of(request)).decode(), keep_blank_values=True, max_num_fields=_FIELDS))
    except ValueError as error:
        raise SettingError("the body is no form") from error


async def body_of(request: Request) -> bytes:
    """The body. SettingError where it is too large or too slow."""
    body = b""
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > LARGEST_BODY:
                    raise SettingError("the body is too large")
    except TimeoutError as error:
        raise SettingError("the body did not come in time") from error
    return body


def number_in(form: dict[str, str], name: str, kind: Callable[[str], T]) -> T | None:
    """A field's number; None where it is empty. SettingError for other text."""
    text = form.get(name, "").strip()
    if not text:
        return None
    try:
        if len(text) > 20 or not text.isascii():
            raise ValueError
        return kind(text)
    except ValueError as error:
        raise SettingError(f"{name.replace('_', ' ')} is a number") from error


def parts_of(body: bytes, kind: str) -> dict[str, str]:
    """The fields of a form with a file.  kind: its Content-Type. SettingError for another body."""
    if not _WITH_FILE.fullmatch(kind):
        raise SettingError("the body is no form with a file")
    fields = {}
    try:
        parts: Any = BytesParser().parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + body).get_payload()
        for part in parts[:_FIELDS]:
            payload = part.get_payload(decode=True) if isinstance(part, Message) else None
            name = part.get_param("name", header="content-disposition") if isinstance(part, Message) else None
            if isinstance(name, str) and isinstance(payload, bytes):
                fields[name] = payload.decode()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise SettingError("the body is no form with a file of text") from error
    return fields
