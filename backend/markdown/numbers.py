"""Reads the numbers of an answer's tables, on evidence of how the answer writes numbers. Pure.

`1,085` is 1085 in English and 1.085 in German. Which of the two a column means is decided by, in
this order: its own cells (`1.234,56` and `12,5` have a decimal comma, `1,234.56` and `0.5` a
decimal point), the other columns of its table, the amounts in the rest of the answer, and the
language of the answer. The language decides only for groups of digits: the 1,085 of a German answer
may also be copied from an English table. Where nothing decides, or the evidence differs, the
column stays text. What is written beside all its numbers, a currency or %, is the column's format,
as are its decimals; beside some of them only, it makes the column text.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from babel.numbers import list_currencies

from backend.tabular.number_formats import NumberFormat

NOTHING = ("", "\u2013", "-")  # an en dash
POINT, COMMA = ".", ","
_FORMS = {
    mark: re.compile(
        rf"[-+\u2212]?(?P<whole>[1-9]\d{{0,2}}(?:(?P<group>[{group}'\u2019 \u00a0\u202f])\d{{3}}"
        rf"(?:(?P=group)\d{{3}})*+)|\d++)(?:{re.escape(mark)}(?P<rest>\d++))?"
    )
    for mark, group in ((POINT, COMMA), (COMMA, POINT))
}
_AFFIXED = re.compile(
    r"(?P<sign>[-+\u2212]?)(?P<before>[$€£¥₹]|[A-Z]{3})?[ \u00a0\u202f]?"
    r"(?P<number>[-+\u2212]?\d.*?)"
    r"[ \u00a0\u202f]?(?P<after>%|[$€£¥₹]|[A-Z]{3})?"
)
_CURRENCIES = frozenset("$€£¥₹") | list_currencies()
_CODE = re.compile(r"[-+\u2212]?0\d|(?:\D*\d){16}")  # 01067, or more digits than Excel keeps
# In prose, where 3.2 may be a section and 1.2.26 a day: amounts with both signs, with two groups,
# or with a percent sign.
_AMOUNT = re.compile(
    r"(?<![\w.,])(?:\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:,\d{3}){2,}"
    r"|\d{1,3}(?:\.\d{3}){2,}|\d+[.,]\d{1,2}(?=\s?%))(?![\w.,]*\d)"
)
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS_OF_POINT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]")
_LANGUAGES = {
    POINT: "the and of is are in for with by was were this that from to",  # English
    COMMA: (
        "der die das und ist sind mit von für im den auf ein eine nicht "  # German
        "le la les des est sont avec pour dans une du par sur et "  # French
        "el los las una es son con para por del que y en "  # Spanish
        "il gli della di sono per che nel e "  # Italian
        "o os as uma são com do da em não "  # Portuguese
        "de het een zijn met voor van niet op"  # Dutch
    ),
}
_WORDS_OF = {
    mark: frozenset(words.split())
    - frozenset(_LANGUAGES[COMMA if mark == POINT else POINT].split())
    for mark, words in _LANGUAGES.items()
}
_FEWEST_WORDS = 3

Value = str | int | float | None


@dataclass(frozen=True)
class Column:
    """The values of a column, and its number format; `doubt` is a cell that can be read as two."""

    type: str
    values: Sequence[Value]
    doubt: str = ""
    format: str = ""


def read_columns(columns: Sequence[Sequence[str]], answer: str) -> list[Column]:
    """Return the columns of one table of an answer, as numbers where that is sure."""
    bare = [_without_affix(cells) for cells in columns]
    own = [_evidence(cells) if _is_numeric(cells) else frozenset() for cells, _ in bare]
    others: frozenset[str] = frozenset().union(*own)
    prose = _in_prose(answer)
    read: list[Column] = []
    for written, (cells, affix), mine in zip(columns, bare, own, strict=True):
        mark, doubt = _mark_of(cells, (mine, others, prose), answer)
        values = _values(cells, mark, affix) if mark else None
        read.append(values or Column("VARCHAR", written, doubt))
    return read


def _without_affix(cells: Sequence[str]) -> tuple[Sequence[str], NumberFormat]:
    """Return the cells without the currency or % that all of them have, and that as a format."""
    filled = [cell for cell in cells if cell not in NOTHING]
    found = [_AFFIXED.fullmatch(cell) for cell in filled]
    affixes = {(one["before"] or "", one["after"] or "") for one in found if one}
    if None in found or len(affixes) != 1:
        return cells, NumberFormat()
    before, after = affixes.pop()
    if (before and after) or not {before, after} <= {"", "%", *_CURRENCIES}:
        return cells, NumberFormat()
    bare = {
        cell: one["sign"] + one["number"] for cell, one in zip(filled, found, strict=True) if one
    }
    if after == "%":
        affix = NumberFormat(unit="%")
    else:
        affix = NumberFormat(currency=before or after, is_before=not after)
    return [bare.get(cell, cell) for cell in cells], affix


def _mark_of(
    cells: Sequence[str], evidence: Iterable[Collection[str]], answer: str
) -> tuple[str, str]:
    """Return the decimal mark of a column, or none; and then the cell that is in doubt, if any."""
    if not _is_numeric(cells):
        return "", ""
    doubt = next((cell for cell in cells if _is_ambiguous(cell)), "")
    found = next((marks for marks in evidence if marks), None)
    if found is None and doubt:
        language = _language(answer)
        is_grouped = language and all(language not in cell for cell in cells)
        found = {language} if is_grouped else set()
    if found is not None and len(found) != 1:
        return "", doubt or next(filter(_is_marked, cells))
    return next(iter(found or {POINT})), ""


def _values(cells: Sequence[str], mark: str, affix: NumberFormat) -> Column | None:
    """Return the column as numbers; None if a cell is none in this notation."""
    read = [None if cell in NOTHING else _FORMS[mark].fullmatch(cell) for cell in cells]
    found = [one for one in read if one]
    if len(found) < sum(cell not in NOTHING for cell in cells):
        return None
    decimals = max(len(one["rest"] or "") for one in found)
    kind = float if decimals else int
    values = [None if one is None else kind(_plain(one)) for one in read]
    format_ = replace(affix, decimals=decimals, is_grouped=any(one["group"] for one in found))
    is_plain = format_ == NumberFormat(decimals=0)
    type_name = "DOUBLE" if decimals else "BIGINT"
    return Column(type_name, values, format="" if is_plain else format_.code)


def _plain(found: re.Match[str]) -> str:
    sign = "-" if found[0][0] in "-\u2212" else ""
    whole = re.sub(r"\D", "", found["whole"])
    return f"{sign}{whole}.{found['rest']}" if found["rest"] else f"{sign}{whole}"


def _is_numeric(cells: Sequence[str]) -> bool:
    """Return whether all cells are numbers in some notation, and none is a code."""
    filled = [cell for cell in cells if cell not in NOTHING]
    return bool(filled) and all(_marks(cell) and not _CODE.match(cell) for cell in filled)


def _marks(cell: str) -> frozenset[str]:
    """Return the decimal marks with which a cell is a number."""
    return frozenset(mark for mark, form in _FORMS.items() if form.fullmatch(cell))


def _is_marked(cell: str) -> bool:
    return POINT in cell or COMMA in cell


def _is_ambiguous(cell: str) -> bool:
    return _is_marked(cell) and len(_marks(cell)) > 1


def _evidence(cells: Iterable[str]) -> frozenset[str]:
    found = [_marks(cell) for cell in cells if _is_marked(cell)]
    return frozenset().union(*(marks for marks in found if len(marks) == 1))


def _in_prose(answer: str) -> frozenset[str]:
    return _evidence(found[0] for found in _AMOUNT.finditer(answer))


def _language(answer: str) -> str:
    """Return the decimal mark of the answer's language; empty if that is not sure."""
    if _LETTERS_OF_POINT.search(answer):
        return POINT
    words = [word.lower() for word in _WORD.findall(answer)]
    counts = {mark: sum(word in own for word in words) for mark, own in _WORDS_OF.items()}
    mark = POINT if counts[POINT] > counts[COMMA] else COMMA
    other = counts[COMMA if mark == POINT else POINT]
    return mark if counts[mark] >= max(_FEWEST_WORDS, 2 * other) else ""
