"""The initial HTML of every page: Streamlit's own, with our styles and scripts added.

Sent later through Streamlit, they would change a page that is already visible.
"""

from html import escape
from pathlib import Path

import streamlit
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Match, Route
from starlette.types import Scope

from ui.pages import PAGES
from ui.shared.assets import FOLDER, PATH
from ui.sign_in.gate import PERSON_HEADER

INDEX = Path(streamlit.__file__).parent / "static" / "index.html"
FILES = frozenset(f"/{one.name}" for one in INDEX.parent.iterdir() if one != INDEX)
TITLE = "<title>Streamlit</title>"
HEAD_END = "</head>"
ROOT = '<div id="root"></div>'
COMPONENT = "conversation/index.js"
SCRIPTS = (
    "signed_in.js",  # first: what another person's page has stored is gone before it is read
    "history.js",
    "formulas.js",
    "keys.js",
    "dropping.js",
    "presses.js",
    "leaving.js",
    "row_focus.js",
    "unsaved.js",
)


class _AnyPage(Route):
    """Where no page is: Streamlit would draw the first one there, in its own HTML."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "http" and scope["path"] in FILES:
            return Match.NONE, {}
        return super().matches(scope)


def routes() -> list[Route]:
    """Return the routes of all pages; files and deeper addresses are handled by Streamlit."""
    html = index_html()

    async def answer(request: Request) -> Response:
        person = request.headers.get(PERSON_HEADER)
        if person is None:
            return HTMLResponse(html, headers={"Cache-Control": "no-cache"})
        # Not kept by the browser: Back would show it to the next person.
        meta = f'<meta name="colloquy-person" content="{escape(person)}">'
        page = html.replace(HEAD_END, meta + HEAD_END)
        return HTMLResponse(page, headers={"Cache-Control": "no-store"})

    pages = [Route(f"/{page.url_path}", answer) for page in PAGES]
    return [*pages, _AnyPage("/{page}", answer)]


def index_html() -> str:
    """Return the HTML. Raise RuntimeError if Streamlit's HTML has an unexpected form."""
    html = INDEX.read_text()
    if any(html.count(part) != 1 for part in (TITLE, HEAD_END, ROOT)):
        raise RuntimeError(f"{INDEX} does not have the form that `ui/index_page.py` expects.")
    scripts = "".join(f'<script defer src="{PATH}/{name}"></script>' for name in SCRIPTS)
    # It begins to read the conversation while Streamlit starts, which mounts it then.
    scripts += f'<script type="module" src="{PATH}/{COMPONENT}"></script>'
    # In the body: of two rules with equal specificity the later one wins, and Streamlit's styles
    # are added at the end of the head.
    styles = "".join(
        f'<link rel="stylesheet" href="{PATH}/styles/{file.name}">'
        for file in sorted((FOLDER / "styles").glob("*.css"))
    )
    return (
        html.replace(TITLE, "<title>Colloquy</title>")
        .replace(HEAD_END, scripts + HEAD_END)
        .replace(ROOT, styles + ROOT)
    )
