"""Leaves out totals, which would be counted twice: rows labelled so that are sums of others."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from backend.data.reading.cells import PLAIN_TOTAL, TOTAL
from backend.data.reading.left_out.sums import Sums, are_sums, sum_of_others
from backend.data.reading.raw import RAW, delete_rows
from backend.data.reading.reading import Reading, with_parts
from backend.data.reading.understood import Occurrences, Understood, quote
from backend.data.sql.quoting import literal

_LABELLED = 10  # first cells, of which two may be the label of a total
_MOST_SUMMED = 50  # columns
_AT_ONCE = 10  # columns per query: each needs memory, in every thread
_MOST_TOTALS = 5_000
_AROUND = "[ \u00a0:*=]*"  # a label
_STARS = " *[*]{1,6}"  # before SAP's totals, by level: *, * 1000, **
_plain_total = re.compile(f"{_AROUND}{PLAIN_TOTAL}{_AROUND}|{_STARS} *")


def leave_out_totals(
    connection: duckdb.DuckDBPyConnection,
    width: int,
    readings: Sequence[Reading],
    understood: Understood,
) -> set[int]:
    """Delete totals that are sums of other rows, and report all; return the deleted lines.

    They are left out only if that explains all of them: either one is the sum of all other rows,
    or each is the sum of rows above it that are no totals.
    """
    totals, count = _find_totals(connection, width)
    out: list[_Total] = []
    if totals and len(totals) == count:
        sums = _sums(connection, width, totals, readings)
        of_others = sum_of_others(sums)
        if of_others is not None:
            out = [totals[of_others]]
        elif are_sums(sums):
            out = totals
        _tell_left_out(out, understood, is_of_others=of_others is not None)
    lines = {total.line for total in out}
    if lines:
        delete_rows(connection, f"line IN ({', '.join(map(str, lines))})")
    kept = [total for total in totals if total.line not in lines]
    if kept:
        _tell_kept(kept[-1], count - len(lines), understood)
    return lines


@dataclass(frozen=True, order=True)
class _Total:
    """A record that is labelled as a total."""

    line: int
    text: str

    @property
    def is_plain(self) -> bool:
        """Whether its label has no other words."""
        return any(_plain_total.fullmatch(cell) for cell in self.text.split(" | ")[:2])


def _is_total(width: int) -> str:
    """Return the SQL that is true for a record whose first or second filled cell labels a total."""
    first = _first(width)
    second = " ".join(
        f"WHEN c{place} IS NOT NULL THEN {_first(width, place + 1)}"
        for place in range(min(width, _LABELLED))
    )
    second = f"CASE {second} END"
    total, plain = (literal(f"{_AROUND}{label}{_AROUND}") for label in (TOTAL, PLAIN_TOTAL))
    return (
        f"(coalesce(regexp_full_match({first}, {total}), false) "
        f"OR CASE WHEN ltrim({first}) LIKE '*%' THEN {_is_starred(width)} ELSE false END "
        f"OR coalesce(regexp_full_match({second}, {plain}), false) "
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
    figures = literal(f"{_STARS}(?: [^\x01]*)?\x01.*[0-9].*")
    return f"(({has_gap}) AND regexp_full_match({cells}, {figures}))"


def _first(end: int, start: int = 0) -> str:
    """Return the SQL of the first cell that is filled, among these and the first ones."""
    places = [f"c{place}" for place in range(start, min(end, _LABELLED))]
    return f"coalesce({', '.join(places)}, NULL)" if places else "NULL"


def _find_totals(connection: duckdb.DuckDBPyConnection, width: int) -> tuple[list[_Total], int]:
    """Return the records labelled as totals, by line, and how many there are; too many are cut."""
    places = ", ".join(f"left(c{place}, 100)" for place in range(min(width, 2 * _LABELLED)))
    found = f"FROM {RAW} WHERE {_is_total(width)}"
    rows = connection.execute(
        f"SELECT line, concat_ws(' | ', {places}) {found} LIMIT {_MOST_TOTALS + 1}"
    ).fetchall()
    totals = sorted(_Total(line, text) for line, text in rows)
    if len(totals) <= _MOST_TOTALS:
        return totals, len(totals)
    ((count,),) = connection.execute(f"SELECT count(*) {found}").fetchall()
    return totals[:_MOST_TOTALS], count


def _sums(
    connection: duckdb.DuckDBPyConnection,
    width: int,
    totals: Sequence[_Total],
    readings: Sequence[Reading],
) -> Sums:
    """Return the figures of the totals, and the sums of the rows between them.

    What stands before the label is none: 4711, Summe 4711, 150.
    """
    numbers = [(p, r) for p, r in enumerate(readings) if r.type in ("BIGINT", "DOUBLE")]
    del numbers[_MOST_SUMMED:]
    columns: list[list[Any]] = []
    count: list[int] = []
    for start in range(0, max(1, len(numbers)), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        count, *figures = _sums_of_parts(connection, width, len(totals) + 1, some)
        columns += figures
    own, between = columns[::2], columns[1::2]
    return Sums([t.is_plain for t in totals], count, [column[1:] for column in own], between)


def _sums_of_parts(
    connection: duckdb.DuckDBPyConnection,
    width: int,
    count: int,
    numbers: Sequence[tuple[int, Reading]],
) -> list[list[Any]]:
    """Return how many rows each part has, and of each column the totals and the sums of rows.

    Each part begins with a total, except the first one.
    """
    values = "".join(
        f", {reading.expression} AS v{place}, {_first(place)} IS NOT NULL AS follows{place}"
        for place, reading in numbers
    )
    sums = "".join(
        f", max(v{place}) FILTER (is_total AND follows{place})"
        f", coalesce(sum(v{place}) FILTER (NOT is_total), 0)"
        for place, _ in numbers
    )
    source = with_parts(reading for _, reading in numbers)
    rows = connection.execute(  # the window is not sorted
        f"SELECT part, count(*) FILTER (NOT is_total){sums} FROM ("  # noqa: S608 - our own names
        "SELECT *, count(*) FILTER (is_total) OVER (ROWS UNBOUNDED PRECEDING) AS part FROM ("
        f"SELECT {_is_total(width)} AS is_total{values} FROM {source})) GROUP BY part"
    ).fetchall()
    empty = [0, *[None, 0] * len(numbers)]
    by_part = {part: found for part, *found in rows}
    parts = [by_part.get(part, empty) for part in range(count)]
    return [[*column] for column in zip(*parts, strict=True)]


def _tell_left_out(totals: Sequence[_Total], understood: Understood, *, is_of_others: bool) -> None:
    if not totals:
        return
    seen = Occurrences()
    for total in totals:
        seen.add(total.line, total.text)
    understood.facts["totals"] = seen.listed()
    understood.facts["totals_count"] = seen.count
    if seen.count > 1:
        what = f"{seen.count:,} lines are totals of lines above them and were left out"
        understood.warn(f"{what}: {seen.shown()}.")
        return
    others = "the others" if is_of_others else "lines above it"
    line, text = totals[0].line, quote(totals[0].text)
    understood.warn(f"Line {line:,} is the total of {others} and was left out: {text}.")


def _tell_kept(last: _Total, count: int, understood: Understood) -> None:
    what = "1 row calls itself a total" if count == 1 else f"{count:,} rows call themselves totals"
    understood.warn(
        f"{what}, as {quote(last.text)} (line {last.line:,}): kept; a sum over all rows may count "
        "amounts twice."
    )
