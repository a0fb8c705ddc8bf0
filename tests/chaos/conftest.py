"""The record of a long run: what was done and found, written as a page when all is over."""

import os
import platform
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

INTRODUCTION = """# The record of a run under faults

Written by `make chaos`: what was broken on purpose, and the results. `tests/chaos/` holds the
harness: failpoints, a nemesis that injects faults into processes, servers and connections, clients
that record the answers they received, and a checker that compares the guarantees with these
records and the database.
"""


class RunRecord:
    """Lines by section, in the order in which tests added them."""

    def __init__(self) -> None:
        self._sections: dict[str, list[str]] = defaultdict(list)

    def add(self, section: str, *lines: str) -> None:
        """Add Markdown lines to a section."""
        self._sections[section] += lines

    def page(self) -> str:
        """The record as a Markdown page."""
        machine = (
            f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        )
        parts = [INTRODUCTION, f"Machine: {machine}.\n"]
        for section, lines in self._sections.items():
            parts.append("\n".join((f"## {section}", "", *lines, "")))
        return "\n".join(parts)


@pytest.fixture(scope="session")
def record() -> Iterator[RunRecord]:
    """Kept while the tests run; CHAOS_RECORD names the file that it is written to."""
    kept = RunRecord()
    yield kept
    if path := os.environ.get("CHAOS_RECORD"):
        Path(path).write_text(kept.page(), encoding="utf-8")
