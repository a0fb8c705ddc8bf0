"""Dates and times of a column: the order of day, month and year is decided by all its cells.

31/08 means day first, 08/31 month first; if no cell decides, the column stays text. So do codes as
1.1.01 and 4.2.10, unless a first part above 12 shows that they are days. Years of two digits are
19xx from 69 on, otherwise 20xx. What becomes of offsets is said in `offsets.py`.
"""

from collections import Counter
from dataclasses import dataclass, field

import duckdb

from backend.data.reading import cells
from backend.data.reading.offsets import local_zone, minutes_sql
from backend.data.reading.raw import RAW
from backend.data.reading.reading import (
    Examples,
    Reading,
    missing_value_sql,
    text_reading,
    trimmed,
    with_parts,
)
from backend.data.reading.understood import are_null, quote
from backend.data.sql.quoting import literal
from backend.data.zones import ZONE

_PIVOT = 69
_YEAR = "(1[7-9]|2[01])[0-9]{2}"
_CLOCKS = ("clock", "zone", "midnight")  # as in the query
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FOREIGN_MONTHS = {"mär": "mar", "mrz": "mar", "mai": "may", "okt": "oct", "dez": "dec"}
_ORDERS = {  # which parts of the pattern are year, month and day
    "ymd": ("first", "second", "third"),
    "dmy": ("third", "second", "first"),
    "mdy": ("third", "first", "second"),
}
_ORDERS_OF_SHAPES = {"year": "ymd", "compact": "ymd", "named": "dmy", "time": "time"}


@dataclass
class Shape:
    """Cells of the same shape: their number, and the ranges of their parts."""

    count: int
    largest: tuple[int, int, int]
    different: tuple[int, int]  # distinct values of the first part, and of the third
    of_our_time: int  # cells whose first or third part is a year between 1700 and 2200
    examples: Examples


@dataclass
class DateForms:
    """How the cells of a column are written, by shape such as 'two.' for 31.08.24."""

    place: str
    shapes: dict[str, Shape] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Examples] = field(default_factory=dict)
    clocks: Counter[str] = field(default_factory=Counter)

    @property
    def fitting(self) -> int:
        """How many cells look like dates."""
        return sum(shape.count for shape in self.shapes.values())


@dataclass(frozen=True)
class Clock:
    """The zone of times that are written with offsets, and whether they are converted to it."""

    zone: str = ""
    is_converted: bool = False


NO_ZONE = Clock()


def look_at_dates(connection: duckdb.DuckDBPyConnection, place: str) -> DateForms:
    """Return how all cells of a column are written."""
    rows = connection.execute(
        f"""
        WITH trimmed AS (SELECT line, {trimmed(place)} AS t FROM {RAW} WHERE {place} IS NOT NULL),
        cut AS (SELECT line, t, {_parts("t")} AS p FROM trimmed WHERE t <> ''),
        shaped AS (SELECT *, {_shape()} AS shape FROM cut)
        SELECT shape, count(*), arg_min(line, line, 3), arg_min(t, line, 3),
               coalesce(max(TRY_CAST(p.first AS INT)), 0),
               coalesce(max(TRY_CAST(p.second AS INT)), 0),
               coalesce(max(TRY_CAST(p.third AS INT)), 0),
               count(DISTINCT p.first), count(DISTINCT p.third),
               count(*) FILTER (regexp_matches(p.first || ' ' || p.third, '{_YEAR}')),
               count(*) FILTER (p.clock <> ''), count(*) FILTER (p.zone <> ''),
               count(*) FILTER (regexp_full_match(p.clock, '0{{1,2}}:00(:00([.,]0+)?)?'))
        FROM shaped GROUP BY shape
        """  # noqa: S608 - our own names and patterns
    ).fetchall()
    forms = DateForms(place)
    for shape, count, lines, texts, a, b, c, firsts, thirds, years, *clocks in rows:
        examples = list(zip(lines, texts, strict=True))
        if shape in ("missing", "word", "odd"):
            forms.others[shape] = count
            forms.examples[shape] = examples
            continue
        forms.shapes[shape] = Shape(count, (a, b, c), (firsts, thirds), years, examples)
        forms.clocks.update(dict(zip(_CLOCKS, clocks, strict=True)))
    return forms


def read_dates(connection: duckdb.DuckDBPyConnection, forms: DateForms) -> Reading | None:
    """Return the column as dates or times, as text with the reason, or None if it has no dates."""
    if not forms.fitting:
        return None
    order, doubt = order_of_dates(forms)
    clock = NO_ZONE if doubt else find_clock(connection, forms, order)
    reading = _reading(forms, order, clock)
    if not doubt:
        doubt = _impossible(connection, forms, reading)
    if doubt:
        text = f"stays text, not dates: {doubt}"
        return text_reading(forms.place, f"stays text: {doubt}", [text])
    return reading


def find_clock(connection: duckdb.DuckDBPyConnection, forms: DateForms, order: str) -> Clock:
    """Return the zone of times with an offset: their own if it is one, otherwise UTC."""
    if not forms.clocks["zone"]:
        return NO_ZONE
    parts = f"p_{forms.place}"
    reading = Reading("", "", parts=f"{_parts(trimmed(forms.place))} AS {parts}")
    clock, minutes = _clock(forms.place, order or "ymd"), minutes_sql(f"{parts}.zone")
    zone = local_zone(
        connection,
        f"SELECT {clock} AS clock, {minutes} AS minutes FROM {with_parts([reading])} "  # noqa: S608 - our own names
        f"WHERE {parts}.zone <> ''",
    )
    return Clock(zone or ZONE, is_converted=not zone)


def date_reading(place: str, order: str, type_: str, clock: Clock = NO_ZONE) -> Reading:
    """Return the column as dates in this order, except cells that clearly have another one."""
    parts = f"p_{place}"
    expression = (
        f"CASE WHEN {parts}.mark = 'name' THEN {_expression(place, 'dmy', type_, clock)} "
        f"WHEN length({parts}.first) = 4 THEN {_expression(place, 'ymd', type_, clock)} "
        f"ELSE {_expression(place, order, type_, clock)} END"
    )
    note = f"read as dates ({order[0]}, {order[1]}, {order[2]}), as it was corrected"
    zone = clock.zone if type_ == "TIMESTAMP" else ""
    return Reading(type_, expression, note, [], f"{_parts(trimmed(place))} AS {parts}", zone=zone)


def order_of_dates(forms: DateForms) -> tuple[str, str]:
    """Return the order of the parts, or why it is unknown."""
    if forms.others["odd"] or forms.others["word"] * 20 > forms.fitting:
        form = "odd" if forms.others["odd"] else "word"
        count = forms.others[form]
        return "", f"cells that are no dates ({count:,} in all): {_shown(forms.examples[form])}"
    if len(forms.shapes) > 1:
        examples = [shape.examples[0] for shape in forms.shapes.values()]
        return "", f"dates are written in several ways: {_shown(sorted(examples))}"
    ((name, shape),) = forms.shapes.items()
    if 0 < forms.clocks["zone"] < forms.fitting:
        return "", f"{forms.clocks['zone']:,} of {forms.fitting:,} times have a zone"
    if (name == "year" or name.startswith("four")) and 2 * shape.of_our_time <= shape.count:
        return "", f"dates or codes: most have no year of our time, as in {_shown(shape.examples)}"
    if name in _ORDERS_OF_SHAPES:
        return _ORDERS_OF_SHAPES[name], ""
    return _order_of_parts(name[-1], shape, is_short=name.startswith("two"))


def _order_of_parts(mark: str, shape: Shape, *, is_short: bool) -> tuple[str, str]:
    first, second, third = shape.largest
    shown = _shown(shape.examples)
    if first > 12 and second > 12:
        if is_short and second <= 12:
            return "ymd", ""
        return "", f"day first in some cells, month first in others, or no dates: {shown}"
    if second > 12:
        points = "no dates: nobody writes the month first with points"
        return ("", f"{points}, as in {shown}") if mark == "." else ("mdy", "")
    if first > 12 or (mark == "." and not is_short):
        return _day_or_year_first(shape, is_short, mark)
    if mark == ".":
        return "", f"dates or codes: no cell says it, as in {shown}"
    which = "day, month or year first" if is_short and third <= 31 else "day or month first"
    return "", f"{which}: no cell says it, as in {shown}"


def _day_or_year_first(shape: Shape, is_short: bool, mark: str) -> tuple[str, str]:
    """Return the order of cells like 31-08-24: the end that varies less is the year."""
    first, _, third = shape.largest
    if not is_short or third > 31:
        return "dmy", ""
    if first > 31:
        return "ymd", ""
    firsts, thirds = shape.different
    if firsts > thirds:
        return "dmy", ""
    if thirds > firsts and mark == "-":
        return "ymd", ""
    if thirds > firsts + 2 or (mark == "-" and thirds == firsts):
        return "", f"day or year first: no cell says which, as in {_shown(shape.examples)}"
    return "dmy", ""


def _impossible(connection: duckdb.DuckDBPyConnection, forms: DateForms, reading: Reading) -> str:
    """Return a text that names impossible dates, such as 31.02.2025; zeros mean no date."""
    text = trimmed(forms.place)
    rows = connection.execute(
        f"SELECT count(*), arg_min(line, line, 3), arg_min({forms.place}, line, 3) "  # noqa: S608 - our own names
        f"FROM {with_parts([reading])} "
        f"WHERE {text} <> '' AND NOT {missing_value_sql(text)} AND regexp_matches({text}, '[1-9]') "
        f"AND ({reading.expression}) IS NULL"
    ).fetchall()
    count, lines, texts = rows[0]
    if not count:
        return ""
    shown = _shown(list(zip(lines, texts, strict=True)))
    return f"no dates of the calendar ({count:,} in all): {shown}"


def _reading(forms: DateForms, order: str, clock: Clock) -> Reading:
    notes = [_form_note(forms, order)]
    warnings = []
    for form, *what in (("missing", "mark", "for missing values"), ("word", "word", "among dates")):
        if count := forms.others[form]:
            text = f"{are_null(count, *what)}: {_shown(forms.examples[form])}"
            notes.append(text)
            warnings += [text] if form == "word" else []
    place = forms.place
    if order == "time":
        text = f"replace({trimmed(place)}, ',', '.')"
        return Reading("TIME", f"TRY_CAST({_two_digit_hour(text)} AS TIME)", notes[0], warnings)
    type_ = "TIMESTAMP"
    if clock.is_converted:
        notes.append(f"times with different offsets are given in {ZONE}")
    elif clock.zone:
        notes.append(f"local times as written, in {clock.zone}")
    elif forms.clocks["clock"] == forms.clocks["midnight"]:
        type_ = "DATE"
    expression = _expression(place, order or "ymd", type_, clock)
    parts = f"{_parts(trimmed(place))} AS p_{place}"
    return Reading(type_, expression, "; ".join(notes), warnings, parts, zone=clock.zone)


def _form_note(forms: DateForms, order: str) -> str:
    name = next(iter(forms.shapes))
    if name == "named" or order == "time":
        return "dates with the month's name" if name == "named" else "times"
    mark = name[-1] if name != "year" else "-"
    year = "yy" if name.startswith("two") else "yyyy"
    written = {"ymd": (year, "mm", "dd"), "dmy": ("dd", "mm", year), "mdy": ("mm", "dd", year)}
    note = f"dates written as {mark.join(written.get(order, written['ymd']))}"
    return note + (f"; years {_PIVOT} to 99 are 19xx, others 20xx" if year == "yy" else "")


def _shown(examples: Examples) -> str:
    return ", ".join(f"{quote(text)} (line {line})" for line, text in examples[:3])


def _extract(text: str, pattern: str, names: tuple[str, ...]) -> str:
    quoted = "[" + ", ".join(map(literal, names)) + "]"
    return f"regexp_extract({text}, {literal(f'^(?:{pattern})$')}, {quoted})"


def _parts(text: str) -> str:
    """Return the SQL of a struct of parts, from whichever pattern matches the cell."""
    nothing = ", ".join(f"'{name}': ''" for name in cells.DATE_PARTS)
    rest = ("clock", "half", "zone")
    plain, compact = (_extract(text, p, cells.DATE_PARTS) for p in (cells.DATE, cells.COMPACT_DATE))
    day_month = _extract(text, cells.DAY_MONTH, ("first", "second", "third", *rest))
    month_day = _extract(text, cells.MONTH_DAY, ("second", "first", "third", *rest))
    return f"""CASE
        WHEN regexp_full_match({text}, {literal(cells.DATE)}) THEN {plain}
        WHEN regexp_full_match({text}, {literal(cells.COMPACT_DATE)}) THEN {compact}
        WHEN regexp_full_match({text}, {literal(cells.DAY_MONTH)})
            THEN struct_insert({day_month}, mark := 'name')
        WHEN regexp_full_match({text}, {literal(cells.MONTH_DAY)})
            THEN struct_insert({month_day}, mark := 'name')
        ELSE {{{nothing}}}
        END"""


def _shape() -> str:
    return f"""CASE
        WHEN {missing_value_sql("t")} THEN 'missing'
        WHEN regexp_full_match(t, {literal(cells.TIME)}) THEN 'time'
        WHEN p.first = '' AND regexp_full_match(t, '[0./: -]+') THEN 'missing'
        WHEN p.first = '' THEN CASE WHEN regexp_matches(t, '[0-9]') THEN 'odd' ELSE 'word' END
        WHEN NOT regexp_matches(t, '[1-9]') THEN 'missing'
        WHEN p.mark IN ('', 'name') THEN CASE p.mark WHEN '' THEN 'compact' ELSE 'named' END
        WHEN length(p.first) = 4 AND length(p.third) <= 2 THEN 'year'
        WHEN length(p.first) <= 2 AND length(p.third) = 4 THEN 'four' || p.mark
        WHEN length(p.first) <= 2 AND length(p.third) = 2 THEN 'two' || p.mark
        ELSE 'odd' END"""


def _day(place: str, order: str) -> str:
    parts = f"p_{place}"
    year, month, day = (f"{parts}.{name}" for name in _ORDERS[order])
    return f"{_four_digits(year)} || '-' || {_month_number(month)} || '-' || lpad({day}, 2, '0')"


def _expression(place: str, order: str, type_: str, clock: Clock) -> str:
    if type_ == "DATE":
        return f"TRY_CAST({_day(place, order)} AS DATE)"
    written = _clock(place, order)
    minutes = minutes_sql(f"p_{place}.zone")
    return f"{written} - to_minutes({minutes})" if clock.is_converted else written


def _clock(place: str, order: str) -> str:
    """Return the SQL of a day and time as they are written, whatever the offset."""
    parts = f"p_{place}"
    clock = f"replace({parts}.clock, ',', '.')"
    clock = f"CASE WHEN {clock} = '' THEN '00:00' ELSE {_two_digit_hour(clock)} END"
    hour = f"TRY_CAST(({clock})[1:2] AS INT)"
    shift = (
        f"CASE WHEN lower({parts}.half) = 'p' AND {hour} < 12 THEN 12 "
        f"WHEN lower({parts}.half) = 'a' AND {hour} = 12 THEN -12 ELSE 0 END"
    )
    return f"TRY_CAST({_day(place, order)} || ' ' || {clock} AS TIMESTAMP) + to_hours({shift})"


def _two_digit_hour(clock: str) -> str:
    return f"CASE WHEN {clock}[2] = ':' THEN '0' || {clock} ELSE {clock} END"


def _four_digits(year: str) -> str:
    return (
        f"CASE WHEN length({year}) > 2 THEN {year} WHEN {year} >= '{_PIVOT}' "
        f"THEN '19' || {year} ELSE '20' || lpad({year}, 2, '0') END"
    )


def _month_number(month: str) -> str:
    short = f"lower({month})"
    for foreign, english in _FOREIGN_MONTHS.items():
        short = f"replace({short}, '{foreign}', '{english}')"
    known = "[" + ", ".join(map(literal, _MONTHS)) + "]"
    place = f"list_position({known}, {short})"
    return (
        f"lpad(CASE WHEN {month} SIMILAR TO '[0-9]+' THEN {month} "
        f"ELSE coalesce({place}, 99)::VARCHAR END, 2, '0')"
    )
