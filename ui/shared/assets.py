"""The files that browsers load from the pages' own address: scripts, their imports, and styles.

Components name their scripts by address: Streamlit sends a component's own code again with each
redraw of the page. An address contains the version of all files, so browsers keep a file until it
has changed, without asking.
"""

from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

KEPT = "public, max-age=31536000, immutable"
FOLDER = Path(__file__).parent.parent / "assets"
ROOT = "/colloquy/assets"


def version_of(folder: Path) -> str:
    """Return a short name for the content of all files in a folder."""
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)} {path.stat().st_size} ".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


VERSION = version_of(FOLDER)
PATH = f"{ROOT}/{VERSION}"


class _Versioned(StaticFiles):
    """Files that browsers keep for a year, unless the address has another version."""

    def file_response(
        self, full_path: Any, stat_result: Any, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        is_current = scope["path_params"]["version"] == VERSION
        response.headers["Cache-Control"] = KEPT if is_current else "no-cache"
        return response


def route() -> Mount:
    """Return the route that serves them."""
    return Mount(f"{ROOT}/{{version}}", _Versioned(directory=FOLDER))


def loader(script: str) -> str:
    """Return a component's script that exports the function `mount` of one of our scripts.

    Streamlit loads it from a blob, which cannot import relative paths: the address is absolute.
    """
    return (
        f"const script = await import(new URL('{PATH}/{script}', location.origin));\n"
        "export default script.mount;\n"
    )
