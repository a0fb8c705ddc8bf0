"""How a file was read, as sentences for people: pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.text import listed

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", ":": "colons"}
_DECIMALS = {",": "decimal comma", ".": "decimal point"}
_FEW = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def summary(tables: Sequence[Mapping[str, Any]]) -> str:
    """Return how a file was read, by its first table: encoding, separator, skipped lines."""
    if not tables:
        return ""
    facts: Mapping[str, Any] = tables[0].get("facts", {})
    if form := facts.get("statement"):
        return f"A bank statement in {form}; its entries and its balances are tables."
    if len(tables) > 1 and "sheet" not in facts:
        return f"A web page with {_count(len(tables), 'table')}."
    if len(tables) > 1:
        return f"A workbook; each of its {_count(len(tables), 'sheet')} is a table."
    if pages := facts.get("pages"):
        return f"A PDF of {_count(pages, 'page')}, read as text."
    parts = _form(facts)
    skipped = _skipped(facts)
    if not parts and not skipped:
        form = "; ".join(tables[0].get("understood", ()))
        return f"Read as {form}." if form else ""
    read = f"Read {', '.join(parts)}" if parts else "Read"
    return f"{read}{f'; {skipped} skipped' if skipped else ''}."


def _form(facts: Mapping[str, Any]) -> list[str]:
    parts = []
    if encoding := facts.get("encoding"):
        parts.append(f"as {encoding}")
    if sheet := facts.get("sheet"):
        parts.append(f"from the sheet “{sheet}”")
    if (separator := facts.get("separator")) is not None:
        named = _SEPARATORS.get(separator, f"“{separator}”")
        parts.append(f"separated by {named}" if separator else "in one column")
    if facts.get("is_aligned"):
        parts.append("in columns of fixed width")
    if decimal := facts.get("decimal"):
        parts.append(_DECIMALS[decimal])
    if facts.get("header") == []:
        parts.append("without a header")
    return parts


def _skipped(facts: Mapping[str, Any]) -> str:
    left_out = []
    if titles := facts.get("titles_count"):
        left_out.append(_count(titles, "title line"))
    if below := facts.get("below_count"):
        left_out.append(f"{_count(below, 'line')} below the table")
    if totals := facts.get("totals_count"):
        one = f"the total in line {facts['totals'][0]['line']:,}"
        left_out.append(one if totals == 1 else _count(totals, "total"))
    return listed(left_out)


def _count(number: int, noun: str) -> str:
    shown = _FEW[number] if number < len(_FEW) else f"{number:,}"
    return f"{shown} {noun}{'' if number == 1 else 's'}"
