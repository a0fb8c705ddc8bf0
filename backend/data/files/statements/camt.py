"""Reads CAMT.052, .053 and .054, the XML of ISO 20022 in which banks report an account's entries.

An entry that stands for several transactions is read as these, if they have amounts that add up to
its own; otherwise it stays one.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from typing import BinaryIO, TextIO
from xml.etree.ElementTree import Element, ParseError, iterparse

from backend.data.errors import SourceUnusable
from backend.data.files.statements.entries import BOOKED, CLOSING, OPENING, Balance, Entry

_STATEMENTS = ("Stmt", "Rpt", "Ntfctn")
_BALANCES = {"OPBD": OPENING, "PRCD": OPENING, "CLBD": CLOSING}
_STATUSES = {"BOOK": BOOKED, "PDNG": "pending", "INFO": "information"}
_NO_REFERENCE = ("NOTPROVIDED", "NONREF")
_NAMES = ("Nm", "Pty/Nm", "Agt/FinInstnId/Nm")
_ACCOUNTS = ("Id/IBAN", "Id/Othr/Id")
_REFERENCES = ("Refs/EndToEndId", "RmtInf/Strd/CdtrRefInf/Ref", "Refs/AcctSvcrRef")
_NUMBER = re.compile(r"[-+]?\d{1,18}(?:\.\d{0,5})?", re.ASCII)  # ISO 20022 has 18 digits at most
_AMOUNTS = ("Amt", "AmtDtls/TxAmt/Amt", "AmtDtls/InstdAmt/Amt")


def read_camt(file: BinaryIO | TextIO) -> Iterator[Entry | Balance]:
    """Yield what the statements hold. Raise SourceUnusable if the XML is damaged."""
    statement: Element | None = None
    try:
        for event, element in iterparse(file, ("start", "end")):  # noqa: S314 - in the sandbox
            name = element.tag.rpartition("}")[2]
            if event == "start":
                statement = element if name in _STATEMENTS else statement
            elif statement is not None and name == "Bal":
                yield _balance(statement, element)
            elif statement is not None and name == "Ntry":
                yield from _entries(statement, element)
                element.clear()
            elif statement is not None and element is statement:
                statement = None
                element.clear()
    except ParseError:
        raise SourceUnusable(
            "The XML of the bank statement is damaged or incomplete. Export it again from the bank."
        ) from None


def _balance(statement: Element, balance: Element) -> Balance:
    code = _first(balance, "Tp/CdOrPrtry/Cd", "Tp/CdOrPrtry/Prtry")
    amount, currency = _amount(balance, "Amt")
    return Balance(
        *_of(statement), _BALANCES.get(code, code), _day(balance, "Dt"), amount, currency
    )


def _entries(statement: Element, entry: Element) -> Iterator[Entry]:
    amount, currency = _amount(entry, "Amt")
    details = _all(entry, "NtryDtls/TxDtls")
    parts = [_amount(one, *_AMOUNTS, sign=_sign(entry)) for one in details]
    are_apart = len(details) > 1 and sum(part for part, _ in parts) == amount
    if are_apart and {of for _, of in parts} == {currency}:
        for one, (part, _) in zip(details, parts, strict=True):
            yield _entry(statement, entry, [one], part, currency)
    else:
        yield _entry(statement, entry, details, amount, currency)


def _entry(
    statement: Element, entry: Element, details: list[Element], amount: Decimal, currency: str
) -> Entry:
    """Return an entry as told by its transactions; by itself where they say nothing."""
    party = "Dbtr" if amount > 0 else "Cdtr"
    names = [f"RltdPties/{party}/{name}" for name in _NAMES]
    accounts = [f"RltdPties/{party}Acct/{account}" for account in _ACCOUNTS]
    code = _first(entry, "Sts/Cd", "Sts")
    return Entry(
        *_of(statement),
        _day(entry, "BookgDt"),
        _day(entry, "ValDt"),
        amount,
        currency,
        _joined(_first(one, *names) for one in details),
        _joined(_first(one, *accounts) for one in details),
        _joined(map(_text, details)) or _first(entry, "AddtlNtryInf"),
        _joined(_first(one, *_REFERENCES) for one in details)
        or _first(entry, "AcctSvcrRef", "NtryRef"),
        _STATUSES.get(code, code.lower()) or BOOKED,
    )


def _text(details: Element) -> str:
    found = " ".join(one.text or "" for one in _all(details, "RmtInf/Ustrd"))
    return found or _first(details, "RmtInf/Strd/AddtlRmtInf", "AddtlTxInf")


def _of(statement: Element) -> tuple[str, str]:
    account = _first(statement, "Acct/Id/IBAN", "Acct/Id/Othr/Id")
    return account, _first(statement, "ElctrncSeqNb", "LglSeqNb", "Id")


def _amount(element: Element, *paths: str, sign: int | None = None) -> tuple[Decimal, str]:
    """Return an amount with its sign, and its currency; nothing where there is none."""
    found = next((one for path in paths for one in _all(element, path)), None)
    if found is None:
        return Decimal(), ""
    text = (found.text or "").strip()
    if not _NUMBER.fullmatch(text):
        raise SourceUnusable(f"The amount {text[:40]!r} of the statement is no number.")
    number = Decimal(text)
    has_own = _all(element, "CdtDbtInd")
    return number * (_sign(element) if has_own or sign is None else sign), found.get("Ccy", "")


def _sign(element: Element) -> int:
    return -1 if _first(element, "CdtDbtInd") == "DBIT" else 1


def _day(element: Element, name: str) -> date | None:
    text = _first(element, f"{name}/Dt", f"{name}/DtTm")[:10]
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise SourceUnusable(f"The date {text!r} of the statement is no date.") from None


def _all(element: Element, path: str) -> list[Element]:
    return element.findall("/".join(f"{{*}}{name}" for name in path.split("/")))


def _first(element: Element, *paths: str) -> str:
    """Return the first text at one of these places; empty if there is none."""
    texts = ((one.text or "").strip() for path in paths for one in _all(element, path))
    return next((text for text in texts if text and text not in _NO_REFERENCE), "")


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip()))
