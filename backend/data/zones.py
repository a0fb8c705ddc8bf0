"""The zone in which times are shown and their days counted, as it is said with a query. Pure.

An instant, such as a TIMESTAMP WITH TIME ZONE, is in UTC in every engine, whatever the zones of
server and reader. Times that a file writes with the offset of one zone stay local ones
(`reading/offsets.py`). A DATE is a day, in no zone.
"""

import re
from collections.abc import Iterator

from backend.data.sql.quoting import without_literals
from backend.data.tables import ColumnInfo, TableInfo

ZONE = "UTC"
INSTANT = "TIMESTAMP WITH TIME ZONE"
LOCAL_ZONES = "zones"  # among the facts of a table: the zones of its local times, by column
_EVERY_COLUMN = re.compile(r"(?:\bselect|\bdistinct|[,.])\s*\*", re.IGNORECASE)
_SELECT = re.compile(r"\bselect\b", re.IGNORECASE)


def is_instant(type_name: str, dialect: str = "duckdb") -> bool:
    """Return whether values of a type are instants; MySQL calls the type of theirs TIMESTAMP."""
    kind = type_name.lower()
    is_zoned = "time zone" in kind and "without" not in kind
    return (kind.startswith("timestamp") and is_zoned) or (
        kind.startswith("timestamptz") or (dialect == "mysql" and kind.startswith("timestamp"))
    )


def zone_notes(sql: str, table: TableInfo, dialect: str) -> Iterator[str]:
    """Yield the zone of each column of times of a table that a query names."""
    names = without_literals(sql)
    takes_all = _EVERY_COLUMN.search(names) or not _SELECT.search(names)
    zones = table.facts.get(LOCAL_ZONES, {})
    for column in table.columns:
        if takes_all or re.search(rf"\b{re.escape(column.name)}\b", names, re.IGNORECASE):
            yield from _zone_note(column, zones.get(column.name, ""), dialect)


def _zone_note(column: ColumnInfo, local: str, dialect: str) -> Iterator[str]:
    if local == ZONE:
        yield f"{column.name} is in {ZONE}; so are its days and months."
    elif local:
        yield f"{column.name} is in the file's local time, {local}; so are its days and months."
    elif is_instant(column.type, dialect):
        yield (
            f"{column.name} is in {ZONE}; so are its days and months, unless the query names "
            "another zone."
        )
