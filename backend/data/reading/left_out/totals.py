"""Leaves out rows that are made of others, as totals are, which would be counted twice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from backend.data.reading.left_out.labels import (
    AROUND,
    PLAIN_TOTAL,
    STARS,
    STATISTICS,
    TOTAL,
    Label,
    is_plain,
    label_of,
    other_labels,
)
from backend.data.reading.left_out.rollups import Candidate, Found, Part, find_rollups
from backend.data.reading.left_out.sums import agreeing_with
from backend.data.reading.raw import RAW, delete_rows
from backend.data.reading.reading import Reading, with_parts
from backend.data.reading.understood import Occurrences, Understood, quote
from backend.data.sql.quoting import literal

_LABELLED = 10  # first cells, of which two may be the label of a total
_MOST_SUMMED = 50  # columns
_AT_ONCE = 2  # columns per query: each needs memory, in every thread
_MOST_TOTALS = 5_000
_MOST_UNNAMED = 2  # one of so many rows, at most, has no label
_NUMBERS = ("BIGINT", "DOUBLE")
_TWICE = "kept; a sum over all rows may count amounts twice"


def leave_out_totals(
    connection: duckdb.DuckDBPyConnection,
    width: int,
    readings: Sequence[Reading],
    understood: Understood,
) -> set[int]:
    """Delete rows that are made of others, and report all; return the deleted lines.

    They are found by their labels, or because a last or first row has none; their figures decide
    (`rollups.py`). Others that call themselves so are kept and named, and so is a last or first
    row that is a sum without saying so.
    """
    rows, count, end = _find_candidates(connection, width, readings)
    if not rows:
        _tell_sum(connection, width, readings, understood)
        return set()
    found = Found()
    if len(rows) == count:
        found = find_rollups(*_figures(connection, rows, readings))
    _tell_left_out([rows[number] for number in sorted(found.made)], understood, found)
    lines = {rows[number].line for number in found.made}
    if lines:
        delete_rows(connection, f"line IN ({', '.join(map(str, lines))})")
    kept = [row for row in rows if row.line not in lines]
    _tell_kept(kept, count - len(lines), end, understood)
    return lines


@dataclass(frozen=True, order=True)
class _Row:
    """A record that may be made of others."""

    line: int
    text: str
    is_named: bool = True

    @property
    def label(self) -> Label:
        """What it calls itself."""
        return label_of(self._words) if self.is_named else Label.NONE

    @property
    def is_plain(self) -> bool:
        """Whether its label has no other words."""
        return self.is_named and is_plain(self._words)

    @property
    def _words(self) -> list[str]:
        return self.text.split(" | ")[:2]


def _is_labelled(width: int) -> str:
    """Return the SQL that is true for a record whose first or second filled cell is a label."""
    first = _first(width)
    second = " ".join(
        f"WHEN c{place} IS NOT NULL THEN {_first(width, place + 1)}"
        for place in range(min(width, _LABELLED))
    )
    second = f"CASE {second} END"
    total, plain = (literal(f"{AROUND}{label}{AROUND}") for label in (TOTAL, PLAIN_TOTAL))
    other = literal(other_labels())
    return (
        f"(coalesce(regexp_full_match({first}, {total}), false) "
        f"OR CASE WHEN ltrim({first}) LIKE '*%' THEN {_is_starred(width)} ELSE false END "
        f"OR coalesce(regexp_full_match({second}, {plain}), false) "
        f"OR coalesce(regexp_full_match({first}, {other}), false) "
        f"OR coalesce(regexp_full_match({second}, {other}), false) "
        f"OR coalesce(regexp_full_match({second}, {total}) "
        f"AND NOT regexp_matches({first}, '^[0-9]+[-/.]'), false))"  # of a bank: 01.02.2026, Total
    )


def _is_starred(width: int) -> str:
    """Return the SQL that is true for SAP's totals: stars, an empty cell or more, and figures.

    A row that is only marked with a star has all its cells, a footnote has no figure.
    """
    places = [f"c{place}" for place in range(min(width, _MOST_SUMMED))]
    has_gap = " OR ".join(f"{place} IS NULL" for place in places) if width > 2 else "true"
    cells = f"concat_ws('\x01', {', '.join(places)})"
    figures = literal(f"{STARS}(?: [^\x01]*)?\x01.*[0-9].*")
    return f"(({has_gap}) AND regexp_full_match({cells}, {figures}))"


def _is_unnamed(readings: Sequence[Reading]) -> str:
    """Return the SQL that is true for figures without a text, and without a first cell."""
    numbers = [f"c{p}" for p, reading in enumerate(readings) if p and reading.type in _NUMBERS]
    texts = [f"c{p}" for p, reading in enumerate(readings) if reading.type not in _NUMBERS]
    if not numbers or len(numbers) > _MOST_SUMMED:
        return "false"
    empty = " AND ".join(f"{place} IS NULL" for place in dict.fromkeys(["c0", *texts]))
    return f"({empty} AND coalesce({', '.join(numbers)}, NULL) IS NOT NULL)"


def _first(end: int, start: int = 0) -> str:
    """Return the SQL of the first cell that is filled, among these and the first ones."""
    places = [f"c{place}" for place in range(start, min(end, _LABELLED))]
    return f"coalesce({', '.join(places)}, NULL)" if places else "NULL"


def _find_candidates(
    connection: duckdb.DuckDBPyConnection, width: int, readings: Sequence[Reading]
) -> tuple[list[_Row], int, int]:
    """Return the records with a label, by line, how many there are, and the table's last line.

    Too many are cut. Those without a label are among them if these are few, and one of them is
    the last or first row of the table.
    """
    named, unnamed = _is_labelled(width), _is_unnamed(readings)
    start, end, all_rows, without, count = connection.execute(
        f"SELECT coalesce(min(line), 0), coalesce(max(line), 0), count(*), "  # noqa: S608 - our own names
        f"count(*) FILTER ({unnamed}), count(*) FILTER ({named}) FROM {RAW}"
    ).fetchall()[0]
    rows = _rows_where(connection, width, named) if count else []
    if without and without * _MOST_UNNAMED <= all_rows and without <= _MOST_TOTALS:
        found = [replace(one, is_named=False) for one in _rows_where(connection, width, unnamed)]
        if found[0].line == start or found[-1].line == end:
            return sorted([*rows, *found]), count + len(found), end
    return rows, count, end


def _rows_where(connection: duckdb.DuckDBPyConnection, width: int, condition: str) -> list[_Row]:
    places = ", ".join(f"left(c{place}, 100)" for place in range(min(width, 2 * _LABELLED)))
    rows = connection.execute(
        f"SELECT line, concat_ws(' | ', {places}) FROM {RAW} WHERE {condition} "  # noqa: S608 - our own names
        f"LIMIT {_MOST_TOTALS + 1}"
    ).fetchall()
    return sorted(_Row(line, text) for line, text in rows)[:_MOST_TOTALS]


def _figures(
    connection: duckdb.DuckDBPyConnection, rows: Sequence[_Row], readings: Sequence[Reading]
) -> tuple[list[Candidate], list[Part]]:
    """Return the figures of these rows, and what is known of the rows between them.

    What stands before the label is no figure: 4711, Summe 4711, 150.
    """
    numbers = [(p, r) for p, r in enumerate(readings) if r.type in _NUMBERS][:_MOST_SUMMED]
    columns: list[list[Any]] = []
    counts: list[int] = []
    for start in range(0, max(1, len(numbers)), _AT_ONCE):
        counts, *some = _measured(connection, rows, numbers[start : start + _AT_ONCE])
        columns += some
    own, *of_parts = (columns[place::_MEASURES] for place in range(_MEASURES))
    candidates = [
        Candidate(row.label, row.is_plain, [column[number] for column in own])
        for number, row in enumerate(rows, 1)
    ]
    parts = [
        Part(count, *([column[number] for column in measure] for measure in of_parts))
        for number, count in enumerate(counts)
    ]
    return candidates, parts


_MEASURES = 6  # of each column, as in the query and in `Part`


def _measured(
    connection: duckdb.DuckDBPyConnection,
    rows: Sequence[_Row],
    numbers: Sequence[tuple[int, Reading]],
) -> list[list[Any]]:
    """Return how many other rows each part has, and its measures of each column.

    Each part begins with one of the rows, except the first one.
    """
    values = "".join(
        f", {reading.expression} AS v{place}, "
        f"{_first(place)} IS NOT NULL OR c0 IS NULL AS follows{place}"
        for place, reading in numbers
    )
    measures = "".join(
        f", max(v{place}) FILTER (is_made AND follows{place})"
        f", coalesce(sum(v{place}) FILTER (NOT is_made), 0)"
        f", count(v{place}) FILTER (NOT is_made)"
        f", min(v{place}) FILTER (NOT is_made)"
        f", max(v{place}) FILTER (NOT is_made)"
        f", arg_min(v{place}, line) FILTER (NOT is_made)"
        for place, _ in numbers
    )
    lines = ", ".join(str(row.line) for row in rows)
    source = with_parts(reading for _, reading in numbers)
    found = connection.execute(  # the window is not sorted
        f"SELECT part, count(*) FILTER (NOT is_made){measures} FROM ("  # noqa: S608 - our own names
        "SELECT *, count(*) FILTER (is_made) OVER (ROWS UNBOUNDED PRECEDING) AS part FROM ("
        f"SELECT line, line IN ({lines}) AS is_made{values} FROM {source})) GROUP BY part"
    ).fetchall()
    empty = [0, *[None, 0, 0, None, None, None] * len(numbers)]
    by_part = {part: measured for part, *measured in found}
    return [
        [*column]
        for column in zip(*(by_part.get(n, empty) for n in range(len(rows) + 1)), strict=True)
    ]


def _tell_left_out(rows: Sequence[_Row], understood: Understood, found: Found) -> None:
    """Report the rows that were left out: totals by a sentence, and each other kind by one."""
    if not rows:
        return
    seen = Occurrences()
    for row in rows:
        seen.add(row.line, row.text)
    understood.facts["totals"] = seen.listed()
    understood.facts["totals_count"] = seen.count
    kinds = [Label.TOTAL if row.label is Label.NONE else row.label for row in rows]
    for kind in dict.fromkeys(kinds):
        some = [row for row, its_kind in zip(rows, kinds, strict=True) if its_kind is kind]
        _tell_kind(kind, some, understood, found)


def _tell_kind(what: str, rows: Sequence[_Row], understood: Understood, found: Found) -> None:
    if len(rows) > 1:
        seen = Occurrences()
        for row in rows:
            seen.add(row.line, row.text)
        of = " of lines above them" if what == Label.TOTAL else ""
        understood.warn(f"{len(rows):,} lines are {what}s{of} and were left out: {seen.shown()}.")
        return
    (row,) = rows
    is_of_all = found.of_others is not None or row.label in STATISTICS
    of = " of the others" if is_of_all else " of lines above it"
    of = "" if row.label in (Label.OPENING, Label.CLOSING) else of
    unnamed = ", without a label," if row.label is Label.NONE else ""
    understood.warn(
        f"Line {row.line:,}{unnamed} is the {what}{of} and was left out: {quote(row.text)}."
    )


def _tell_kept(kept: Sequence[_Row], count: int, end: int, understood: Understood) -> None:
    """Report rows that call themselves totals or the like, but may be rows as others.

    One without a label, or named as Max or Media may be, is reported only at the table's end.
    """
    unsure = {row for row in kept if row.label in (*STATISTICS, Label.NONE)}
    named = [row for row in kept if row not in unsure]
    if named:
        noun, last, count = named[-1].label, named[-1], count - len(unsure)
        what = f"1 row calls itself {_with_article(noun)}"
        what = what if count == 1 else f"{count:,} rows call themselves {noun}s"
        understood.warn(f"{what}, as {quote(last.text)} (line {last.line:,}): {_TWICE}.")
    for row in unsure:
        if row.line == end:
            is_unnamed = row.label is Label.NONE
            what = "has no label" if is_unnamed else f"calls itself {_with_article(row.label)}"
            understood.warn(f"The last row {what}: {quote(row.text)} (line {end:,}): {_TWICE}.")


def _with_article(noun: str) -> str:
    return f"a{'n' if noun[0] in 'aeio' else ''} {noun}"


def _tell_sum(
    connection: duckdb.DuckDBPyConnection,
    width: int,
    readings: Sequence[Reading],
    understood: Understood,
) -> None:
    """Report a last or first row whose figures are sums of the others, without a word that says so.

    Of three other rows and more, that is hardly an accident.
    """
    for end, place in (("max", "last"), ("min", "first")):
        condition = f"line = (SELECT {end}(line) FROM {RAW})"  # noqa: S608 - our own names
        for row in _rows_where(connection, width, condition):
            (last,), parts = _figures(connection, [row], readings)
            others = parts[0] + parts[1]
            figures = [figure for figure in last.figures if figure is not None]
            agreeing, _ = agreeing_with(last.figures, others.sums)
            if others.rows > 2 and any(agreeing) and len(agreeing) == len(figures):
                what = "has the sums of the other rows, and may be their total"
                understood.warn(
                    f"The {place} row {what}: {quote(row.text)} (line {row.line:,}): {_TWICE}."
                )
                return
