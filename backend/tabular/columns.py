"""The kind of values in a column, by its name, type and format: one rule for every view. Pure.

A type is given as its source names it: `DECIMAL(18,2)`, `double precision`, `BIGINT` and so on. A
format, which only some columns have, is a workbook's (`number_formats.py`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from backend.tabular.number_formats import NumberFormat, parse_format

_CENTS = NumberFormat(2, is_grouped=True)

_FRACTIONS = ("DECIMAL", "NUMERIC", "DOUBLE", "FLOAT", "REAL", "NUMBER", "MONEY")
_WHOLE = (
    *("BIGINT", "INT", "SMALLINT", "TINYINT", "HUGEINT", "UBIGINT", "UINT", "USMALLINT"),
    *("UTINYINT", "UHUGEINT", "MEDIUMINT", "SERIAL", "BIGSERIAL"),
)
_MOMENTS = ("TIMESTAMP", "DATETIME")
_WORD = re.compile(r"[A-ZÄÖÜ]?[a-zäöüß]+|[A-ZÄÖÜ]+(?![a-zäöüß])|\d+")
_MONEY = frozenset({
    "actual", "actuals", "amount", "balance", "budget", "cost", "costs", "credit", "debit",
    "difference", "eur", "euro", "forecast", "gbp", "chf", "usd", "expense", "expenses",
    "income", "margin", "money", "paid", "price", "profit", "remaining", "revenue", "sales",
    "spend", "spent", "total", "turnover", "variance",
    "abweichung", "aufwand", "aufwendungen", "betrag", "beträge", "differenz", "erlös", "erlöse",
    "ertrag", "erträge", "gehalt", "gesamt", "gesamtbetrag", "gewinn", "haben", "kosten", "preis",
    "saldo", "soll", "summe", "umsatz", "umsätze", "verlust",
})  # fmt: skip
_NO_MONEY = frozenset({
    "account", "center", "centre", "class", "code", "count", "date", "day", "days", "document",
    "documents", "factor", "id", "key", "month", "months", "name", "no", "number", "pct",
    "percent", "percentage", "period", "quantity", "rank", "rate", "ratio", "row", "rows",
    "share", "status", "type", "units", "version", "week", "year", "years",
    "anteil", "anzahl", "datum", "faktor", "jahr", "konto", "kostenstelle", "kurs", "menge",
    "monat", "nr", "nummer", "periode", "prozent", "quote", "satz", "tag", "tage", "woche",
})  # fmt: skip


class Kind(StrEnum):
    """The kind of values in a column."""

    MONEY = "money"
    NUMBER = "number"
    DATE = "date"
    MOMENT = "moment"
    TEXT = "text"


def kind_of(name: str, type_name: str, format_: str = "") -> Kind:
    """Return a column's kind. Money: a number whose format, type or name says so.

    The name does not decide where a format says that the number is none, as that of a count.
    """
    kind = type_name.strip().upper()
    if kind == "DATE":
        return Kind.DATE
    if kind.startswith(_MOMENTS):
        return Kind.MOMENT
    if not kind.startswith(_FRACTIONS + _WHOLE) or kind.startswith("INTERVAL"):
        return Kind.TEXT
    written = parse_format(format_) if format_ else None
    if written is not None:
        may_be = written.is_grouped or bool(written.decimals)
        is_other = written.is_percent or written.unit or not may_be
        if written.currency or is_other:
            return Kind.MONEY if written.currency else Kind.NUMBER
    return Kind.MONEY if kind.startswith("MONEY") or _speaks_of_money(name) else Kind.NUMBER


def kinds_of(columns: Iterable[Mapping[str, Any]]) -> list[Kind]:
    """Return the kind of each column of a stored table."""
    return [kind_of(*_described(column)) for column in columns]


def format_of(column: Mapping[str, Any]) -> NumberFormat | None:
    """Return how the numbers of a stored table's column are written; None if as they are.

    Without a format of its own, money has cents.
    """
    kind, written = kind_of(*_described(column)), str(column.get("format") or "")
    if kind not in (Kind.MONEY, Kind.NUMBER):
        return None
    return (parse_format(written) if written else None) or (_CENTS if kind is Kind.MONEY else None)


def described(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored table whose columns say how their cells are written.

    `kind`, and `number` where numbers are not written as they are.
    """
    columns = list(table.get("columns", []))
    shown: list[dict[str, Any]] = []
    for column, kind in zip(columns, kinds_of(columns), strict=True):
        written = format_of(column)
        shown.append(
            {**column, "kind": kind.value} | ({"number": asdict(written)} if written else {})
        )
    return {**table, "columns": shown}


def _described(column: Mapping[str, Any]) -> tuple[str, str, str]:
    name, type_name, format_ = (str(column.get(key) or "") for key in ("name", "type", "format"))
    return name, type_name, format_


def _speaks_of_money(name: str) -> bool:
    words = {word.lower() for word in _WORD.findall(name)}
    return bool(words & _MONEY) and not words & _NO_MONEY
