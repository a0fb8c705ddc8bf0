"""The kind of values in a column, by its name and type: one rule for every view. Pure.

A type is given as its source names it: `DECIMAL(18,2)`, `double precision`, `BIGINT` and so on.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

CENTS = 2

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


def kind_of(name: str, type_name: str) -> Kind:
    """Return a column's kind. Money: a number whose name or type says so."""
    kind = type_name.strip().upper()
    if kind == "DATE":
        return Kind.DATE
    if kind.startswith(_MOMENTS):
        return Kind.MOMENT
    if not kind.startswith(_FRACTIONS + _WHOLE) or kind.startswith("INTERVAL"):
        return Kind.TEXT
    return Kind.MONEY if kind.startswith("MONEY") or _speaks_of_money(name) else Kind.NUMBER


def kinds_of(columns: Iterable[Mapping[str, Any]]) -> list[Kind]:
    """Return the kind of each column of a stored table."""
    return [kind_of(str(column.get("name", "")), str(column.get("type", ""))) for column in columns]


def _speaks_of_money(name: str) -> bool:
    words = {word.lower() for word in _WORD.findall(name)}
    return bool(words & _MONEY) and not words & _NO_MONEY
