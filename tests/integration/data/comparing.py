"""What a source answers, compared with what its engine's own driver gives."""

import json
import math
import sqlite3
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import duckdb
import psycopg2
import pymysql

from backend.data.engines.databases import Database
from backend.data.errors import DataError
from backend.data.results import Limits

LARGEST_EXACT = 2**53
Rows = Sequence[Sequence[Any]]
Ask = Callable[[str], Rows]


def is_same(cell: Any, native: Any) -> bool:
    """Whether a cell of JSON is the driver's value, nothing lost and nothing added."""
    if native is None or isinstance(native, bool):
        return cell is native
    if isinstance(native, int):
        as_text = isinstance(cell, str)
        return int(cell) == native and as_text == (abs(native) > LARGEST_EXACT)
    if isinstance(native, float):
        return isinstance(cell, float) and (cell == native or math.isnan(native))
    if isinstance(native, Decimal):
        return Decimal(repr(cell) if isinstance(cell, float) else cell) == native
    if isinstance(native, timedelta):
        return as_duration(cell) == native
    if isinstance(native, bytes | memoryview):
        return bytes.fromhex(cell) == bytes(native)
    if isinstance(native, list | dict):
        return json.loads(cell, parse_float=Decimal) == native
    if isinstance(native, datetime | date | time):
        return type(native).fromisoformat(cell) == native
    return cell == (str(native) if isinstance(native, UUID) else native)


def as_duration(text: str) -> timedelta:
    hours, minutes, seconds = text.removeprefix("-").split(":")
    size = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    return -size if text.startswith("-") else size


def differences(questions: Sequence[str], ask: Ask, ask_engine: Ask) -> list[str]:
    """What a source answers otherwise than its engine."""
    wrong = []
    for question in questions:
        try:
            native = [list(row) for row in ask_engine(question)]
            rows = ask(question)
        except (duckdb.Error, psycopg2.Error, pymysql.Error, sqlite3.Error) as error:
            wrong.append(f"{question}: the engine itself says {error}")
            continue
        except DataError as error:
            wrong.append(f"{question}: {error.detail}")
            continue
        same = len(rows) == len(native) and all(
            len(row) == len(values) and all(map(is_same, row, values))
            for row, values in zip(rows, native, strict=True)
        )
        if not same:
            wrong.append(f"{question}: {rows} is not {native}")
    return wrong


def ask_database(url: str) -> Ask:
    database = Database(url)
    tables = database.read_catalog().tables
    return lambda sql: database.query(sql, tables, Limits()).rows


def of(connection: Any) -> Ask:
    """What the engine's own driver gives."""

    def ask(sql: str) -> Rows:
        cursor = connection.cursor()
        cursor.execute(sql)
        rows: Rows = cursor.fetchall()
        return rows

    return ask
