"""The entries and balances of bank statements, as two tables."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

import duckdb
import pyarrow as pa

from backend.data.reading.raw import execute_on
from backend.data.reading.understood import Understood
from backend.text import counted

ENTRIES, BALANCES = "entries", "statement_balances"  # in this order, also by name
OPENING, CLOSING, BOOKED = "opening", "closing", "booked"
_AT_ONCE = 5_000
_MOST_TOLD = 3


class Entry(NamedTuple):
    """One entry of an account; what leaves the account is negative."""

    account: str
    statement: str
    booking_date: date | None
    value_date: date | None
    amount: Decimal
    currency: str
    counterparty: str
    counterparty_account: str
    text: str
    reference: str
    status: str


class Balance(NamedTuple):
    """A balance of an account; an overdraft is negative."""

    account: str
    statement: str
    kind: str
    day: date | None
    amount: Decimal
    currency: str


@dataclass
class _Sums:
    """What one statement says of its account."""

    label: str
    opening: Decimal | None = None
    closing: Decimal | None = None
    booked: Decimal = Decimal()
    has_entries: bool = False

    @property
    def difference(self) -> Decimal:
        """What the entries lack of the difference between the balances, if both are known."""
        if self.opening is None or self.closing is None:
            return Decimal()
        return self.closing - self.opening - self.booked


class _Checked:
    """What is read of statements, added up while it is stored."""

    def __init__(self) -> None:
        self.statements: list[_Sums] = []
        self.balances: list[Balance] = []
        self.not_booked = 0
        self._current: dict[tuple[str, str], _Sums] = {}

    def entries(self, read: Iterable[Entry | Balance]) -> Iterator[Entry]:
        """Yield the entries; keep the balances, which are few."""
        for one in read:
            if isinstance(one, Balance):
                self._balance(one)
                continue
            sums = self._sums(one)
            sums.has_entries = True
            if one.status == BOOKED:
                sums.booked += one.amount
            else:
                self.not_booked += 1
            yield one

    def _balance(self, one: Balance) -> None:
        self.balances.append(one)
        sums = self._sums(one)
        if one.kind == CLOSING:
            sums.closing = one.amount
        elif one.kind == OPENING:
            is_another = sums.has_entries or sums.opening not in (None, one.amount)
            if is_another:  # of the same number, a year later
                sums = self._begin(one)
            sums.opening = one.amount

    def _sums(self, one: Entry | Balance) -> _Sums:
        return self._current.get(one[:2]) or self._begin(one)

    def _begin(self, one: Entry | Balance) -> _Sums:
        sums = self._current[one[:2]] = _Sums(" ".join(filter(None, one[:2])))
        self.statements.append(sums)
        return sums


def make_tables(
    connection: duckdb.DuckDBPyConnection, read: Iterable[Entry | Balance], understood: Understood
) -> None:
    """Create the tables; say of statements whose entries do not explain their balances."""
    _create(connection)
    checked = _Checked()
    entries = checked.entries(read)
    while some := list(islice(entries, _AT_ONCE)):
        _insert(connection, ENTRIES, some)
    if checked.balances:
        _insert(connection, BALANCES, checked.balances)
    understood.form.append(counted(len(checked.statements), "statement"))
    understood.form.append("details that have no column are left out")
    understood.columns["amount"] = "what leaves the account is negative"
    if count := checked.not_booked:
        what = "1 entry is" if count == 1 else f"{count:,} entries are"
        understood.warn(f"{what} not booked: the column status says which.")
    if wrong := [one for one in checked.statements if one.difference]:
        shown = "; ".join(f"{one.label}: {one.difference:,}" for one in wrong[:_MOST_TOLD])
        understood.warn(
            f"In {counted(len(wrong), 'statement')} the booked entries do not add up to the "
            f"difference between the opening and the closing balance. What is missing: {shown}."
        )


_TYPES = {date | None: ("DATE", pa.date32()), Decimal: ("DOUBLE", pa.float64())}
_TEXT = ("VARCHAR", pa.string())
_TABLES: dict[str, type[Entry] | type[Balance]] = {ENTRIES: Entry, BALANCES: Balance}


def _create(connection: duckdb.DuckDBPyConnection) -> None:
    for table, kind in _TABLES.items():
        columns = [f"{n} {_TYPES.get(t, _TEXT)[0]}" for n, t in kind.__annotations__.items()]
        connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")


def _insert(
    connection: duckdb.DuckDBPyConnection, table: str, rows: list[Entry] | list[Balance]
) -> None:
    kinds = _TABLES[table].__annotations__.items()
    columns = {
        name: pa.array(map(_stored, values), _TYPES.get(kind, _TEXT)[1])
        for (name, kind), values in zip(kinds, zip(*rows, strict=True), strict=True)
    }
    execute_on(connection, pa.table(columns), f"INSERT INTO {table} FROM incoming")


def _stored(value: date | Decimal | str | None) -> date | float | str | None:
    if isinstance(value, Decimal):
        return float(value)
    return value.replace("\0", "") or None if isinstance(value, str) else value
