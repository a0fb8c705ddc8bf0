"""Files of another version of the pages: while servers are replaced, another one may have them.

A page and its scripts, which name each other, have to be of one version. A balancer may send each
request to another server, so one that has not got a file has the browser ask again, a few times.
With servers of two versions in equal number, one file in half a million is not found.
"""

from pathlib import Path
from urllib.parse import parse_qs

import streamlit
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ui.shared import assets

AGAIN = "again"
MOST = 18  # times, of the twenty that browsers allow; then nobody is likely to have it
STATIC = "/static/"
_FOLDER = Path(streamlit.__file__).parent / "static"
_FILES = frozenset(f"/{one.relative_to(_FOLDER).as_posix()}" for one in _FOLDER.rglob("*"))


def ask_others(app: ASGIApp) -> ASGIApp:
    """Return the app, which sends browsers on that ask for a file of another version."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        is_reading = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if is_reading and is_of_other_version(scope["path"]):
            times = _times(scope["query_string"])
            if times < MOST:
                place = f"{scope['path']}?{AGAIN}={times + 1}"
                headers = {"Cache-Control": "no-store"}
                await RedirectResponse(place, 307, headers)(scope, receive, send)
                return
        await app(scope, receive, send)

    return serve


def is_of_other_version(path: str) -> bool:
    """Return whether a path names a script or style, ours or Streamlit's, of another version."""
    if path.startswith(f"{assets.ROOT}/"):
        return not path.startswith(f"{assets.PATH}/")
    return path.startswith(STATIC) and path not in _FILES


def _times(query: bytes) -> int:
    given = parse_qs(query.decode("latin-1")).get(AGAIN, ["0"])[-1]
    return int(given) if given in map(str, range(MOST)) else MOST
