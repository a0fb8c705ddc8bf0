"""The files that browsers load from the pages' own address: scripts, and their imports."""

from pathlib import Path

from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

PATH = "/colloquy/assets"
FOLDER = Path(__file__).parent.parent / "assets"


class _Revalidated(StaticFiles):
    """Files that browsers revalidate on each load, so that a new version takes effect."""

    def file_response(self, *args: object, **options: object) -> Response:
        response = super().file_response(*args, **options)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = "no-cache"
        return response


def route() -> Mount:
    """Return the route that serves them."""
    return Mount(PATH, _Revalidated(directory=FOLDER))


def loader(script: str, function: str) -> str:
    """Return a component's script that exports one function of one of our scripts.

    Streamlit loads it from a blob, which cannot import relative paths: the address is absolute.
    """
    return (
        f"const script = await import(new URL('{PATH}/{script}', location.origin));\n"
        f"export default script.{function};\n"
    )
