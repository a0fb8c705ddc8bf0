"""The HTML that every page begins with: Streamlit's own, with our styles and scripts in it.

What Streamlit sends of them later would change a page that is seen already.
"""

from pathlib import Path

import streamlit
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from ui.pages import PAGES
from ui.shared.assets import FOLDER, PATH

INDEX = Path(streamlit.__file__).parent / "static" / "index.html"
TITLE = "<title>Streamlit</title>"
HEAD_END = "</head>"
ROOT = '<div id="root"></div>'
SCRIPTS = ("drafts.js", "places.js", "keys.js")


def routes() -> list[Route]:
    """Return the routes of all pages; any other address stays Streamlit's."""
    html = index_html()

    async def answer(request: Request) -> Response:
        return HTMLResponse(html, headers={"Cache-Control": "no-cache"})

    return [Route(f"/{page.url_path}", answer) for page in PAGES]


def index_html() -> str:
    """Return the HTML. Raise RuntimeError if Streamlit's has another form than we know."""
    html = INDEX.read_text()
    if any(html.count(part) != 1 for part in (TITLE, HEAD_END, ROOT)):
        raise RuntimeError(f"{INDEX} has another form than `ui/index_page.py` knows.")
    scripts = "".join(f'<script defer src="{PATH}/{name}"></script>' for name in SCRIPTS)
    # Within the body: of two rules that weigh the same the later holds, and Streamlit's styles are
    # put at the end of the head.
    styles = "".join(
        f'<link rel="stylesheet" href="{PATH}/styles/{file.name}">'
        for file in sorted((FOLDER / "styles").glob("*.css"))
    )
    return (
        html.replace(TITLE, "<title>Colloquy</title>")
        .replace(HEAD_END, scripts + HEAD_END)
        .replace(ROOT, styles + ROOT)
    )
