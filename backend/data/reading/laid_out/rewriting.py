"""Writes a text that is laid out for readers anew, as one whose cells are separated."""

import csv
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from backend.data.reading.encoding import Encoding, open_text
from backend.data.reading.records import bounded_lines

BAR = "|"
_OF_RULES = frozenset("-=+|: ")


def is_rule(line: str) -> bool:
    """Return whether a line, without spaces around it, only separates others."""
    return ("---" in line or "===" in line) and _OF_RULES.issuperset(line)


def separate(
    path: Path, encoding: Encoding, to_rows: Callable[[Iterator[str]], Iterable[list[str]]]
) -> tuple[Path, Encoding]:
    """Write the cells of each line, separated by bars, in UTF-8; return that file.

    `to_rows` gives one row for each line, so that lines keep their numbers.
    """
    separated = path.with_name("separated.csv")
    with (
        open_text(path, encoding) as file,
        open(separated, "w", encoding="utf-8", errors="replace", newline="") as out,
    ):
        rows = to_rows(bounded_lines(file))
        csv.writer(out, delimiter=BAR, lineterminator="\n").writerows(rows)
    return separated, Encoding("utf-8", encoding.name)
