"""Takes the borders off a list that is drawn with characters, as SAP, MySQL and Markdown do.

Its cells are padded and stand between bars, its lines between rules of dashes. Between the pages
of a printed list stand titles. Lines keep their numbers: one that is left out becomes empty.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from backend.data.reading.encoding import Encoding
from backend.data.reading.laid_out.rewriting import BAR, is_rule, separate
from backend.data.reading.understood import Occurrences, Understood

_LEAST_SHARE = 0.5  # of the sample's lines: the others are titles and remarks


class Borders:
    """How a list is drawn: with bars around its lines, or only between cells, as psql does."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Look at the first lines of a text."""
        filled = [line.strip() for line in lines if line.strip()]
        rules = sum(map(is_rule, filled))
        inside = [line for line in filled if BAR in line and not is_rule(line)]
        drawn = len(inside) + rules
        self.exist = bool(rules and inside) and drawn >= _LEAST_SHARE * len(filled)
        self.are_around = 2 * sum(map(_is_enclosed, inside)) > len(inside)


def remove_borders(
    path: Path, encoding: Encoding, borders: Borders, understood: Understood
) -> tuple[Path, Encoding]:
    """Write the list as separated by bars, in UTF-8; return that file. Say what was left out."""
    outside = Occurrences()
    written = separate(path, encoding, lambda lines: _rows(lines, borders, outside))
    understood.form.append("drawn with bars and rules, which were left out")
    if outside.count:
        what = "line outside its bars was" if outside.count == 1 else "lines outside its bars were"
        understood.warn(f"{outside.count:,} {what} left out: {outside.shown()}.")
    return written


def _rows(lines: Iterable[str], borders: Borders, outside: Occurrences) -> Iterable[list[str]]:
    has_begun = False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or is_rule(text):
            yield []
        elif not borders.are_around:
            yield _cells(text)
        elif _is_enclosed(text):
            has_begun = True
            yield _cells(text[1:-1])
        elif has_begun:
            outside.add(number, text)
            yield []
        else:
            yield [text]  # a title


def _is_enclosed(line: str) -> bool:
    return len(line) > 1 and line[0] == line[-1] == BAR


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.split(BAR)]
