"""All tables of a session as one workbook: complete results of tools, and tables in answers."""

from collections.abc import Iterator
from typing import IO, Any

from backend.export.history import History
from backend.schemas.conversations.sessions import ContentType, MessageType
from backend.tabular.markdown_tables import find_tables
from backend.tabular.workbook import write_workbook

MAX_TABLES = 250
MAX_LOOKED_THROUGH = 200_000
CONTENTS = [("Table", "VARCHAR"), ("From", "VARCHAR"), ("Rows", "BIGINT"), ("Note", "VARCHAR")]


def write_tables(history: History, file: IO[bytes]) -> None:
    """Write the workbook; its last sheet lists the tables, and notes which are incomplete."""
    write_workbook(_sheets(history), file)


def _sheets(history: History) -> Iterator[tuple[str, dict[str, Any]]]:
    listed: list[list[Any]] = []
    left_out = 0
    for origin, table in _tables(history):
        if len(listed) >= MAX_TABLES:
            left_out += 1
            continue
        title = str(table.get("title") or origin)
        listed.append([title, origin, len(table["rows"]), _note(table)])
        yield title, table
    if left_out:
        reason = f"left out: a workbook takes the first {MAX_TABLES} tables"
        listed.append([f"{left_out:,} more tables", "", None, reason])
    columns = [{"name": name, "type": kind} for name, kind in CONTENTS]
    yield "Contents", {"columns": columns, "rows": listed}


def _tables(history: History) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each table of the session, and where it comes from."""
    for row in history.rows():
        table = row.metadata.get("table")
        if row.content_type is ContentType.TOOL_RESULT and isinstance(table, dict):
            result_id = table.get("result_id")
            whole = history.result(str(result_id)) if result_id else None
            if table.get("columns"):
                yield str(row.content.get("name") or "tool"), {**table, **(whole or {})}
        elif row.content_type is ContentType.ARTIFACT:
            if (part := history.part(row)).table is not None:
                yield "artifact", dict(part.table)
        elif (row.content_type, row.message_type) == (ContentType.TEXT, MessageType.ASSISTANT):
            yield from _of_answer(str(row.content.get("text", "")))


def _of_answer(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if "|" in text and len(text) <= MAX_LOOKED_THROUGH:
        for found in find_tables(text):
            yield "answer", {**found, "title": "Answer"}


def _note(table: dict[str, Any]) -> str:
    notes = []
    place = f"are here; {table['further']}" if "further" in table else "are kept"
    if len(table["rows"]) < int(table.get("row_count") or 0):
        notes.append(f"{len(table['rows']):,} of {table['row_count']:,} rows {place}")
    if not table.get("complete", True):
        notes.append("cut at the tool's limit: there are more rows")
    return "; ".join(notes)
