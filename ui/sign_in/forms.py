"""The HTML of the pages on which people sign in, and the fields that they send."""

import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from backend.schemas.people.account import MAX_PASSWORD_CHARS, Ways
from ui.client import ClientError
from ui.shared import assets
from ui.sign_in.places import visit_path

FOLDER = Path(__file__).parent / "templates"
FORM = "form"  # the field by which a page names a form that it sends
MAX_BODY = 20_000  # bytes; the longest password and names take a third
# Nothing but our own styles and pictures; the only pages whose forms are sent.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}

_templates = Environment(
    loader=FileSystemLoader(FOLDER),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.globals["visit_path"] = visit_path


class TooLong(Exception):
    """A form holds more than any sign-in needs."""


def page(
    template: str, title: str, status: int = 200, problem: str = "", **values: Any
) -> Response:
    """Return a page; `problem` is said above everything else."""
    form = secrets.token_urlsafe(12)
    given = {"title": title, "problem": problem, "assets": assets.PATH, FORM: form, **values}
    html = _templates.get_template(template).render(given)
    return HTMLResponse(html, status, HEADERS)


def notice(
    title: str, status: int, problem: str, place: str, way_on: str, words: str = ""
) -> Response:
    """Return a page that says what is so, or why nothing can be done here, with the way on."""
    return page("notice.html", title, status, problem, place=place, way_on=way_on, words=words)


def sign_in_page(
    ways: Ways, place: str, error: ClientError | None = None, login: str = "", notice: str = ""
) -> Response:
    """Return the page that offers the ways of signing in, with what was wrong the last time."""
    status, problem = (error.status or 503, error.detail) if error else (200, notice)
    values = {"ways": ways.items, "place": place, "login": login}
    return page("sign_in.html", "Sign in", status, problem, **values)


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form. Raise TooLong."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY:
            raise TooLong
        parts.append(part)
    text = b"".join(parts).decode("ascii", errors="replace")
    fields = dict(parse_qsl(text, keep_blank_values=True))
    if any(len(value) > MAX_PASSWORD_CHARS for name, value in fields.items() if name != "next"):
        raise TooLong
    return fields
