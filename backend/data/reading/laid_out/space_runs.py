"""Cells separated by one or more spaces, as programs pad lines without aligning all of them."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from backend.data.reading.detection import detect_dialect
from backend.data.reading.encoding import Encoding
from backend.data.reading.laid_out.fixed_width import Column, cut
from backend.data.reading.laid_out.rewriting import separate

_LEAST_LINES = 3


def are_space_runs(lines: Sequence[str], columns: Sequence[Column]) -> bool:
    """Return whether runs of spaces give all lines the same cells, and columns do not. Pure.

    Without any run, each space separates, and two would have an empty cell between them.
    """
    filled = [line.strip() for line in lines if line.strip()]
    widths = {len(line.split()) for line in filled}
    if len(filled) < _LEAST_LINES or len(widths) != 1 or any('"' in line for line in filled):
        return False
    if "\t" in "".join(filled) or not any("  " in line for line in filled):
        return False
    if columns and all(len(cut(line.rstrip(), columns)) > 1 for line in lines if line.strip()):
        return False
    return detect_dialect([" ".join(line.split()) for line in filled]).separator == " "


def separate_runs(path: Path, encoding: Encoding) -> tuple[Path, Encoding]:
    """Write the table with its cells separated by bars, in UTF-8; return that file."""
    return separate(path, encoding, _rows)


def _rows(lines: Iterable[str]) -> Iterator[list[str]]:
    return (line.split() for line in lines)
