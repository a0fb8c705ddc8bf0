"""Settings in files, as platforms mount secrets: `NAME_FILE` names one with the value of `NAME`."""

from collections.abc import Iterable, Mapping
from pathlib import Path

SUFFIX = "_FILE"
MOST_CHARS = 1_000_000


class UnusableFile(Exception):
    """A file that should have a setting's value cannot be used; the message says why."""


def with_files(environment: Mapping[str, str | None], names: Iterable[str]) -> dict[str, str]:
    """Return what is set in an environment, for these names also by a file.

    Raise UnusableFile.
    """
    found = {name: value for name, value in environment.items() if value}
    return {**found, **{name: _read(name, found) for name in names if name + SUFFIX in found}}


def _read(name: str, found: Mapping[str, str]) -> str:
    setting, path = name + SUFFIX, found[name + SUFFIX]
    if name in found:
        raise UnusableFile(f"{name} and {setting} are both set. Leave one of them out.")
    try:
        with Path(path).open(encoding="utf-8") as file:
            text = file.read(MOST_CHARS + 1).strip()
    except OSError as error:
        raise UnusableFile(f"{setting} is not usable: {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UnusableFile(f"{setting} is not usable: {path} is not encoded in UTF-8.") from None
    if not text or len(text) > MOST_CHARS:
        what = "is empty" if not text else f"has more than {MOST_CHARS:,} characters"
        raise UnusableFile(f"{setting} is not usable: {path} {what}.")
    return text
