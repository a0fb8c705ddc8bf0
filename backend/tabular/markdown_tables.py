"""Finds the tables in an answer's Markdown, and reads their cells as values. Pure, linear."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

_RULE = re.compile(
    r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+"
)  # possessive, so that each character is read once
_BAR = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKS = re.compile(
    r"(?<!`)(`++)([^`]++)\1(?!`)"
    r"|(?<![\w*])(\*{2,3}|__)(?=\S)((?:(?!\3).)++)(?<=\S)\3(?![\w*])"
)  # code, whose text stays as it is, and bold words; linear as above
LINE_BREAK = re.compile(r"(?<!\\)<br ?/?>", re.IGNORECASE)  # models write it into cells
_NUMBER = re.compile(r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_UNSURE = re.compile(r"[-+\u2212]?\d{1,3}\.\d{3}")  # a thousands separator in some languages
_CODE = re.compile(r"[-+\u2212]?0[\d,]|(?:\D*\d){16}")  # 01067, or more digits than Excel keeps
MAX_ROWS = 5_000
NOTHING = ("", "\u2013", "-")  # an en dash

Table = dict[str, Any]


def find_tables(text: str) -> list[Table]:
    """Return the tables that Markdown shows, each in the form of `metadata.table`."""
    return [_table(block) for block in _blocks(text)]


def is_rule(line: str) -> bool:
    """Return whether a line is the rule below a table's header."""
    return "-" in line and "|" in line and bool(_RULE.fullmatch(line))


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the lines of each table: its header and rows, without the rule between them."""
    lines, fence, place = text.split("\n"), "", 0
    while place < len(lines):
        line = lines[place]
        if found := _FENCE.match(line):
            mark = found[1]
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence):
                fence = ""
        follows = lines[place + 1] if place + 1 < len(lines) else ""
        if fence or "|" not in line or not is_rule(follows):
            place += 1
            continue
        end = place + 2
        while end < len(lines) and lines[end].strip() and "|" in lines[end]:
            end += 1
        if len(_cells(line)) == len(_cells(follows)):
            yield [line, *lines[place + 2 : min(end, place + 2 + MAX_ROWS)]]
        place = end


def _table(lines: Sequence[str]) -> Table:
    names = _cells(lines[0])
    written = [_cells(line) for line in lines[1:]]
    rows = [(row + [""] * len(names))[: len(names)] for row in written]
    columns, values = [], []
    for place, name in enumerate(names):
        column = [row[place] for row in rows]
        type_name = _type_of(column)
        columns.append({"name": name, "type": type_name})
        values.append([_value(cell, type_name) for cell in column])
    by_row = [list(row) for row in zip(*values, strict=True)]
    return {"title": "", "columns": columns, "rows": by_row, "row_count": len(rows)}


def _cells(line: str) -> list[str]:
    inner = line.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [_plain(cell) for cell in _BAR.split(inner)]


def _plain(cell: str) -> str:
    return LINE_BREAK.sub("\n", _without_marks(cell)).replace("\\|", "|").strip()


def _without_marks(text: str) -> str:
    return _MARKS.sub(lambda found: found[2] or _without_marks(found[4]), text)


def _type_of(cells: Sequence[str]) -> str:
    """Return the type of a column; an ambiguous one, and one of codes, stays text."""
    filled = [cell for cell in cells if cell not in NOTHING]
    if not filled or not all(_NUMBER.fullmatch(cell) for cell in filled):
        return "VARCHAR"
    if any(_UNSURE.fullmatch(cell) or _CODE.match(cell) for cell in filled):
        return "VARCHAR"
    return "DOUBLE" if any("." in cell for cell in filled) else "BIGINT"


def _value(cell: str, type_name: str) -> str | int | float | None:
    if type_name == "VARCHAR":
        return cell
    if cell in NOTHING:
        return None
    plain = cell.replace(",", "").replace("\u2212", "-")
    return float(plain) if type_name == "DOUBLE" else int(plain)
