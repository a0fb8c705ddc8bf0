"""Reads MT940, SWIFT's format in which banks report an account's entries."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from mt940.models import Transactions

from backend.data.errors import SourceUnusable
from backend.data.files.statements.entries import BOOKED, CLOSING, OPENING, Balance, Entry

_BEGIN = re.compile(r"^(?:\{.*\{4:)?:20:", re.MULTILINE)
_END = re.compile(r"^-(?:\}.*|\w*)$", re.MULTILINE)
# Below the balances, details are about the statement, and not about its last entry.
_ABOUT_ALL = re.compile(r"(^:6[245][FM]?:[^\n]*\n):86:.*", re.MULTILINE | re.DOTALL)
_PARTS = re.compile(r"\d{3}\?\d\d")  # of German banks: 166?00SEPA?20...
_PART = re.compile(r"\?(\d\d)(.*?)(?=\?\d\d|$)")
_TEXTS = [*range(20, 30), *range(60, 64)]
_ACCOUNT, _NAMES = 31, (32, 33)
_OF_SEPA = re.compile(r"(EREF|SVWZ)\+(.*?)(?=[A-Z]{4}\+|$)")
_NEGATIVE = ("D", "RC")  # a debit, or a credit that is taken back
_BALANCES = {
    "final_opening_balance": OPENING,
    "intermediate_opening_balance": OPENING,
    "final_closing_balance": CLOSING,
    "intermediate_closing_balance": CLOSING,
}
_AS_WRITTEN: dict[str, list[Any]] = {"post_transaction_details": []}


def read_mt940(text: str) -> Iterator[Entry | Balance]:
    """Yield what the statements hold. Raise SourceUnusable if one cannot be read."""
    starts = [found.end() - len(":20:") for found in _BEGIN.finditer(text)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        block = _END.split(text[start:end].replace("\r\n", "\n"))[0]
        block = _ABOUT_ALL.sub(r"\1", block)
        parsed = Transactions(_AS_WRITTEN)
        try:
            parsed.parse(block)
            yield from _read(parsed)
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
            raise SourceUnusable(
                f"The statement in line {text.count(chr(10), 0, start) + 1:,} is no valid MT940. "
                "Correct the file to be read as a document, or export it again from the bank."
            ) from None


def _read(parsed: Transactions) -> Iterator[Entry | Balance]:
    account = str(parsed.data.get("account_identification", ""))
    numbers = (parsed.data.get(name) for name in ("statement_number", "sequence_number"))
    statement = "/".join(number for number in numbers if number)
    for name, kind in _BALANCES.items():
        if found := parsed.data.get(name):
            amount = found.amount
            yield Balance(account, statement, kind, found.date, amount.amount, amount.currency)
    for one in parsed:
        if "amount" in one.data:
            yield _entry(account, statement, one.data)


def _entry(account: str, statement: str, data: dict[str, Any]) -> Entry:
    amount = abs(data["amount"].amount) * (-1 if data["status"] in _NEGATIVE else 1)
    details = str(data.get("transaction_details") or "")
    parts = _parts(details)
    text = "".join(parts.get(number, "") for number in _TEXTS) if parts else details
    of_sepa = dict(_OF_SEPA.findall(text))
    named = [data.get("customer_reference"), data.get("bank_reference")]
    references = [of_sepa.get("EREF"), *(one for one in named if one != "NONREF")]
    more = str(data.get("extra_details") or "")
    return Entry(
        account,
        statement,
        _day(data.get("entry_date")) or _day(data["date"]),
        _day(data["date"]),
        amount,
        data["amount"].currency,
        " ".join(filter(None, (parts.get(number, "") for number in _NAMES))),
        parts.get(_ACCOUNT, ""),
        _plain(" ".join((of_sepa.get("SVWZ", text), more))),
        _plain(next(filter(None, references), "")),
        BOOKED,
    )


def _parts(details: str) -> dict[int, str]:
    """Return the numbered parts of a German bank's details; none of any other's."""
    if not _PARTS.match(details):
        return {}
    return {int(number): text for number, text in _PART.findall(details.replace("\n", ""))}


def _day(found: date | None) -> date | None:
    return date(found.year, found.month, found.day) if found else None


def _plain(text: str) -> str:
    return " ".join(text.split())
