"""Numbers of a column: their notation is decided by all its cells.

1.234 and 1,234 are ambiguous by themselves: other cells decide, then the file's other columns; if
nothing does, the column stays text.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import duckdb

from backend.data.reading import cells
from backend.data.reading.raw import RAW, RawColumn
from backend.data.reading.reading import (
    Examples,
    Reading,
    missing_value_sql,
    text_reading,
    trimmed,
)
from backend.data.reading.understood import are_null, quote
from backend.data.sql.quoting import literal
from backend.tabular.number_formats import NumberFormat

_MOST_PADDED = 2
_WORDS_AMONG = 20  # one word among this many numbers is a missing value
_FLOAT = r"-?[0-9]+\.[0-9]+"
_LONGEST = 15  # digits before the decimal mark that a DOUBLE keeps
_ROUNDED = f"rounded: numbers with more than {_LONGEST} digits before the decimal mark"
_FLAGS = ("percent", "bracket", "trailing", "spaced", "long", "point", "comma")  # as in the query
_MARKS = {"english": "point", "german": "comma"}  # of decimals
_TAIL = "regexp_extract(d, '[.,]([0-9]*)$', 1)"
_STYLES = {"english": "1,234.56", "german": "1.234,56"}


@dataclass
class NumberForms:
    """Counts of how the cells of a column are written; `examples` by the same names."""

    place: str
    has_floats: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Examples] = field(default_factory=dict)
    currencies: set[str] = field(default_factory=set)
    decimals: dict[str, set[int]] = field(default_factory=dict)  # by style, if all are of it

    @property
    def fitting(self) -> int:
        """How many cells are numbers."""
        return sum(self.counts[form] for form in ("plain", "english", "german", "both", "power"))

    @property
    def style(self) -> str:
        """The cells' notation of point and comma: english, german, mixed, open or nothing."""
        if self.counts["english"] and self.counts["german"]:
            return "mixed"
        if self.counts["english"] or self.counts["german"]:
            return "english" if self.counts["english"] else "german"
        return "open" if self.counts["both"] else ""


def look_at_numbers(connection: duckdb.DuckDBPyConnection, column: RawColumn) -> NumberForms:
    """Return how all cells of a column are written."""
    place, has_floats = column.place, float in column.kinds
    parts = _parts("t")
    rows = connection.execute(
        f"""
        WITH trimmed AS (SELECT line, {trimmed(place)} AS t FROM {RAW} WHERE {place} IS NOT NULL),
        cut AS (SELECT line, t, {parts} AS p FROM trimmed WHERE t <> ''),
        bare AS (SELECT *, {_digits("p")} AS d FROM cut),
        formed AS (SELECT *, {_form(has_floats)} AS form FROM bare)
        SELECT form, count(*), arg_min(line, line, 3), arg_min(t, line, 3),
               min(length({_TAIL})), max(length({_TAIL})),
               p.outside || p.before || p.after AS currency, p.percent <> '' AS percent,
               p.opened <> '' AS bracket, p.trailing <> '' AS trailing, p.digits <> d AS spaced,
               length(regexp_replace(d, '[.,][0-9]*$|[.,]', '', 'g')) > {_LONGEST} AS long,
               contains(d, '.') AS point, contains(d, ',') AS comma
        FROM formed GROUP BY ALL
        """  # noqa: S608 - our own names and patterns
    ).fetchall()
    forms = NumberForms(place, has_floats)
    for form, count, lines, texts, least, most, currency, *flags in rows:
        forms.counts[form] += count
        seen = [*forms.examples.get(form, []), *zip(lines, texts, strict=True)]
        forms.examples[form] = sorted(seen)[:3]
        if form not in ("missing", "word", "odd", "code", "power"):
            found = [name for name, is_set in zip(_FLAGS, flags, strict=True) if is_set]
            forms.counts.update({f"with {name}": count for name in found})
            forms.currencies |= {currency} - {""}
            for style, mark in _MARKS.items():
                tails = {least, most} if mark in found else {0}
                forms.decimals[style] = forms.decimals.get(style, set()) | tails
    return forms


def read_numbers(forms: NumberForms, usual: str, separator: str) -> Reading | None:
    """Return the column as numbers, as text with the reason, or None if it has no numbers.

    `usual` is the notation of the file's other columns, "" if they have none.
    """
    counts, place = forms.counts, forms.place
    if not forms.fitting:
        return text_reading(place, "codes: kept as text") if counts["code"] else None
    if counts["code"]:
        shown = _shown(forms.examples["code"])
        return text_reading(place, f"codes, kept as text: {shown} are no amounts")
    doubt = _doubt(forms)
    style = _style(forms, usual, separator)
    if not doubt and not style:
        shown = _shown(forms.examples["both"])
        doubt = f"{shown} may have thousands or decimals"
    if doubt:
        return text_reading(place, f"stays text: {doubt}", [f"stays text, not numbers: {doubt}"])
    return number_reading(forms, style)


def _doubt(forms: NumberForms) -> str:
    """Return why the cells are not all numbers of one kind; empty if they are."""
    counts, examples = forms.counts, forms.examples
    if counts["odd"]:
        return f"cells that are no numbers ({counts['odd']:,} in all): {_shown(examples['odd'])}"
    if counts["word"] * _WORDS_AMONG > forms.fitting:
        return f"words among the cells ({counts['word']:,} in all): {_shown(examples['word'])}"
    if forms.style == "mixed":
        both = [examples["english"][0], examples["german"][0]]
        return f"decimals are written in two ways: {_shown(both)}"
    if len(forms.currencies) > 1:
        return f"more than one currency: {', '.join(sorted(forms.currencies))}"
    if 0 < counts["with percent"] < forms.fitting:
        return f"{counts['with percent']:,} of {forms.fitting:,} numbers have a percent sign"
    return ""


def _style(forms: NumberForms, usual: str, separator: str) -> str:
    """Return the notation that is meant; empty if it is unclear."""
    if forms.style in _STYLES:
        return forms.style
    if not forms.style:
        return "english"
    if usual in _STYLES:
        return usual
    only_points = not forms.counts["with comma"]
    only_commas = not forms.counts["with point"]
    # With comma as separator, a point is a decimal point, and a quoted comma separates thousands.
    return "english" if separator in ",\t" and (only_points or only_commas) and separator else ""


def number_reading(forms: NumberForms, style: str, type_: str = "") -> Reading:
    """Return the column as numbers in this notation; without a type, integers if all are."""
    counts = forms.counts
    fraction = counts["with point" if style == "english" else "with comma"] or counts["power"]
    type_ = type_ or ("DOUBLE" if fraction else "BIGINT")
    notes, warnings = _notes(forms, style)
    if type_ == "DOUBLE" and counts["with long"]:
        notes.append(_ROUNDED)
        warnings.append(_ROUNDED)
    place = forms.place
    other = {"english": "german", "german": "english"}[style]
    has_misfits = bool(counts["odd"] or counts[other])
    expression = _expression(place, style, type_, has_misfits=has_misfits)
    if forms.has_floats and style == "german":
        float_ = f"regexp_full_match({place}, {literal(_FLOAT)})"
        expression = f"CASE WHEN {float_} THEN CAST({place} AS {type_}) ELSE {expression} END"
    sign = {"english": ".", "german": ","}[style] if fraction else ""
    code = _format(forms, style)
    return Reading(
        type_, expression, "; ".join(notes), warnings, _columns(place), sign, format=code
    )


def decimals_of(seen: Collection[int]) -> int | None:
    """Return how many decimals a column has whose cells have these; None if each has its own.

    With two at most, as of prices, all cells get as many as the longest.
    """
    most = max(seen, default=0)
    return most if len(seen) == 1 or most <= _MOST_PADDED else None


def _format(forms: NumberForms, style: str) -> str:
    """Return the format in which the cells were written, if they say more than their digits."""
    counts, decimals = forms.counts, decimals_of(forms.decimals.get(style, ()))
    currency = next(iter(forms.currencies)) if len(forms.currencies) == 1 else ""
    groups = counts["with comma" if style == "english" else "with point"]
    is_grouped = bool(groups or currency or decimals)
    unit = "%" if counts["with percent"] else ""
    if decimals is None and not (currency or unit):
        return ""
    if not (is_grouped or unit):
        return ""  # whole numbers, some of which are years
    is_before = style == "english"
    return NumberFormat(decimals, currency, is_before, unit=unit, is_grouped=is_grouped).code


def _notes(forms: NumberForms, style: str) -> tuple[list[str], list[str]]:
    """Return the notes about the column, and the warnings about the table."""
    counts = forms.counts
    notes = [f"numbers written as {_STYLES[style]}"] if _is_worth_saying(forms, style) else []
    notes += [f"without their {sign}" for sign in sorted(forms.currencies)]
    if counts["with percent"]:
        notes.append("percent as written: 12.5 is 12.5 %")
    if counts["with bracket"]:
        notes.append("(1) is -1")
    if counts["with trailing"]:
        notes.append("1- is -1")
    if counts["with spaced"]:
        notes.append("spaces between thousands")
    warnings = []
    for form, *what in (
        ("missing", "mark", "for missing values"),
        ("word", "word", "among numbers"),
    ):
        if count := counts[form]:
            text = f"{are_null(count, *what)}: {_shown(forms.examples[form])}"
            notes.append(text)
            warnings += [text] if form == "word" else []
    return notes, warnings


def _is_worth_saying(forms: NumberForms, style: str) -> bool:
    return style == "german" or forms.style == "open" or bool(forms.counts["with comma"])


def _shown(examples: Sequence[tuple[int, str]]) -> str:
    return ", ".join(f"{quote(text)} (line {line})" for line, text in examples)


def _parts(text: str) -> str:
    names = "[" + ", ".join(map(literal, cells.NUMBER_PARTS)) + "]"
    return f"regexp_extract({text}, {literal(f'^{cells.NUMBER}$')}, {names})"


def _digits(parts: str) -> str:
    """Return the SQL of the digits with point and comma, without spaces between thousands.

    There are none in 5,- and 5.-, which mean five and not minus five.
    """
    is_price = f"{parts}.trailing <> '' AND regexp_matches({parts}.digits, '[.,]$')"
    bare = f"regexp_replace({parts}.digits, {literal(cells.GROUPS)}, '', 'g')"
    is_spaced = f"regexp_full_match({parts}.digits, {literal(cells.SPACED)})"
    return f"CASE WHEN {is_price} THEN '' WHEN {is_spaced} THEN {bare} ELSE {parts}.digits END"


def _form(has_floats: bool) -> str:
    """Return the SQL of a cell's form; among floats, the point of 1.234 is a decimal point."""
    english = f"regexp_full_match(d, {literal(cells.ENGLISH)})"
    german = f"regexp_full_match(d, {literal(cells.GERMAN)})"
    both = "if(contains(d, '.'), 'english', 'both')" if has_floats else "'both'"
    return f"""CASE
        WHEN {missing_value_sql("t")} THEN 'missing'
        WHEN regexp_full_match(t, {literal(cells.CODE)}) THEN 'code'
        WHEN regexp_full_match(t, {literal(cells.SCIENTIFIC)}) THEN 'power'
        WHEN d = '' THEN CASE WHEN regexp_matches(t, '[0-9]') THEN 'odd' ELSE 'word' END
        WHEN (p.opened = '') <> (p.closed = '') THEN 'odd'
        WHEN NOT contains(d, '.') AND NOT contains(d, ',') THEN
            CASE WHEN regexp_full_match(d, '[0-9]+') THEN 'plain' ELSE 'odd' END
        WHEN {english} AND {german} THEN {both}
        WHEN {english} THEN 'english' WHEN {german} THEN 'german' ELSE 'odd' END"""


def _expression(place: str, style: str, type_: str, *, has_misfits: bool) -> str:
    """Return the SQL of the number, from the columns p_c0 and d_c0 that `_columns` makes.

    It is NULL for misfits, whose digits are not in this notation.
    """
    p, d = f"p_{place}", f"d_{place}"
    bare = f"replace({d}, ',', '')"
    if style == "german":
        bare = f"replace(replace({d}, '.', ''), ',', '.')"
    minus = (
        f"CASE WHEN {p}.opened <> '' OR {p}.sign IN ('-', '{cells.MINUS}') OR {p}.sign2 <> '' "
        f"OR {p}.trailing <> '' THEN '-' ELSE '' END"
    )
    number = f"TRY_CAST({minus} || {bare} AS {type_})"
    if has_misfits:
        pattern = cells.GERMAN if style == "german" else cells.ENGLISH
        number = f"CASE WHEN regexp_full_match({d}, {literal(pattern)}) THEN {number} END"
    if type_ == "BIGINT":
        return number
    text = trimmed(place)
    return (
        f"coalesce({number}, CASE WHEN {_scientific_sql(text)} THEN TRY_CAST({text} AS DOUBLE) END)"
    )


def _columns(place: str) -> str:
    """Return the SQL of the parts of each cell, and its digits."""
    p = f"p_{place}"
    return f"{_parts(trimmed(place))} AS {p}, {_digits('(' + p + ')')} AS d_{place}"


def _scientific_sql(text: str) -> str:
    return f"regexp_full_match({text}, {literal(cells.SCIENTIFIC)})"
