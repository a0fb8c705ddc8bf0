"""Files in the agent state: names to contents, and what may be done with them. Pure."""

from collections.abc import Mapping
from typing import Any

from langchain_core.tools import ToolException

CONTENT = "content"
MAX_NAME_CHARS = 200
MAX_FILES = 100
MAX_FILE_CHARS = 100_000
MAX_ALL_CHARS = 300_000
MAX_FOUND = 100
MAX_LINE_CHARS = 300

Files = dict[str, dict[str, Any]]


def join_files(old: Any, new: Any) -> Files:
    """Return the files after one call's changes; calls of one batch write concurrently."""
    return {**readable_files(old), **readable_files(new)}


def readable_files(value: Any) -> Files:
    """Return a state's files that have a name and a text; all else is skipped."""
    if not isinstance(value, Mapping):
        return {}
    return {
        name: file
        for name, file in value.items()
        if isinstance(file, dict) and isinstance(file.get(CONTENT), str)
    }


def clean_name(name: str) -> str:
    """Return the name in its stored form. Raise ToolException that says what is wrong with it."""
    parts = name.strip().strip("/").split("/")
    if len(name) > MAX_NAME_CHARS:
        raise ToolException(f"Error: a file's name has {MAX_NAME_CHARS} characters at most.")
    if not all(part.strip() and part not in (".", "..") and part.isprintable() for part in parts):
        raise ToolException(
            f"Error: {name!r} is no file name. Use words with '/' between them, such as "
            "notes/plan.md, without '.' or '..' as a part."
        )
    return "/".join(parts)


def content_of(files: Files, name: str) -> str:
    """Return a file's text. Raise ToolException that lists the existing files."""
    if name not in files:
        known = ", ".join(sorted(files)[:20]) or "none yet"
        raise ToolException(f"Error: there is no file {name!r}. There are: {known}.")
    return str(files[name][CONTENT])


def check_fits(files: Files, name: str, content: str) -> None:
    """Raise ToolException if the file is too large, or there are too many."""
    if len(content) > MAX_FILE_CHARS:
        raise ToolException(
            f"Error: a file holds {MAX_FILE_CHARS:,} characters at most, this one {len(content):,}."
        )
    others = {other: file for other, file in files.items() if other != name}
    if len(others) >= MAX_FILES:
        raise ToolException(f"Error: there are {MAX_FILES} files already. Write into one of them.")
    if sum(len(file[CONTENT]) for file in others.values()) + len(content) > MAX_ALL_CHARS:
        raise ToolException(
            f"Error: all files together hold {MAX_ALL_CHARS:,} characters at most. "
            "Shorten some of them first."
        )


def replace_text(content: str, old: str, new: str, *, everywhere: bool) -> str:
    """Return the text with `old` replaced. Raise ToolException unless it occurs as expected."""
    found = content.count(old) if old else 0
    if found == 0:
        raise ToolException("Error: the text to replace is not in the file. Read it first.")
    if found > 1 and not everywhere:
        raise ToolException(
            f"Error: the text to replace is there {found} times. Give more of the text around it, "
            "or set everywhere."
        )
    return content.replace(old, new)


def list_lines(files: Files, under: str) -> list[str]:
    """Return a line for each file whose name begins with `under`: name, lines, characters."""
    return [
        f"{name} ({len(text.splitlines()):,} lines, {len(text):,} characters)"
        for name, text in sorted((n, f[CONTENT]) for n, f in files.items())
        if name.startswith(under)
    ]


def find_lines(files: Files, wanted: str, under: str) -> list[str]:
    """Return the lines that contain the text, ignoring case, as `name:number: line`."""
    found: list[str] = []
    for name, file in sorted(files.items()):
        if not name.startswith(under):
            continue
        for number, line in enumerate(file[CONTENT].splitlines(), 1):
            if wanted.casefold() in line.casefold():
                found.append(f"{name}:{number}: {line.strip()[:MAX_LINE_CHARS]}")
    return found


def numbered_lines(content: str, first: int, count: int) -> str:
    """Return `count` numbered lines from the `first`, and the total number of lines."""
    lines = content.splitlines()
    shown = lines[first - 1 : first - 1 + count]
    text = "\n".join(f"{number}\t{line}" for number, line in enumerate(shown, first))
    if len(shown) == len(lines):
        return text or "(the file is empty)"
    last = first + len(shown) - 1
    return (
        f"{text}\n[lines {first} to {last} of {len(lines)}]"
        if shown
        else (f"[there is no line {first}: the file has {len(lines)} lines]")
    )
