"""The tables of a session as one workbook: those of answers first, on request also those of tools.

Tables of answers are those that answers show, and the tables among the session's artifacts.
"""

from collections.abc import Iterator
from typing import IO, Any

from backend.export.history import History
from backend.markdown.tables import Table, find_tables
from backend.schemas.conversations.sessions import DisplayMessage
from backend.tabular.workbook import write_workbook
from colloquy_kit.messages.kinds import ContentType, MessageType

MAX_TABLES = 250
CONTENTS = [("Table", "VARCHAR"), ("From", "VARCHAR"), ("Rows", "BIGINT"), ("Note", "VARCHAR")]

Named = tuple[str, Table]  # where a table comes from, and the table


def write_tables(history: History, file: IO[bytes], *, tool_tables: bool) -> None:
    """Write the workbook; its last sheet lists the tables, and what is incomplete or left out."""
    write_workbook(_sheets(history, tool_tables=tool_tables), file)


def _sheets(history: History, *, tool_tables: bool) -> Iterator[Named]:
    listed: list[list[Any]] = []
    left_out = 0
    for origin, table in _tables(history, tool_tables=tool_tables):
        if len(listed) >= MAX_TABLES:
            left_out += 1
            continue
        title = str(table.get("title") or origin)
        listed.append([title, origin, len(table["rows"]), _note(table)])
        yield title, table
    if left_out:
        reason = f"left out: a workbook takes the first {MAX_TABLES} tables"
        listed.append([f"{left_out:,} more tables", "", None, reason])
    if not tool_tables and (count := sum(map(_has_tool_table, history.rows()))):
        reason = "not in this workbook: export with the tables of tools to have them"
        listed.append([f"{count:,} {'table' if count == 1 else 'tables'}", "tools", None, reason])
    columns = [{"name": name, "type": kind} for name, kind in CONTENTS]
    yield "Contents", {"columns": columns, "rows": listed}


def _tables(history: History, *, tool_tables: bool) -> Iterator[Named]:
    for row in history.rows():
        yield from _of_answer(history, row)
    for row in history.rows() if tool_tables else ():
        if _has_tool_table(row):
            yield _of_tool(history, row)


def _of_answer(history: History, row: DisplayMessage) -> Iterator[Named]:
    if row.content_type is ContentType.ARTIFACT:
        if (part := history.part(row)).table is not None:
            yield "artifact", dict(part.table)
    elif (row.content_type, row.message_type) == (ContentType.TEXT, MessageType.ASSISTANT):
        for found in find_tables(str(row.content.get("text", ""))):
            yield "answer", {**found, "title": "Answer"}


def _has_tool_table(row: DisplayMessage) -> bool:
    table = row.metadata.get("table")
    is_result = row.content_type is ContentType.TOOL_RESULT
    return is_result and isinstance(table, dict) and bool(table.get("columns"))


def _of_tool(history: History, row: DisplayMessage) -> Named:
    table = row.metadata["table"]
    result_id = table.get("result_id")
    whole = history.result(str(result_id)) if result_id else None
    return str(row.content.get("name") or "tool"), {**table, **(whole or {})}


def _note(table: Table) -> str:
    notes = [*table.get("doubts", ()), *(table.get("notes") or ())]
    place = f"are here; {table['further']}" if "further" in table else "are kept"
    if len(table["rows"]) < int(table.get("row_count") or 0):
        notes.append(f"{len(table['rows']):,} of {table['row_count']:,} rows {place}")
    if not table.get("complete", True):
        notes.append("cut at the tool's limit: there are more rows")
    return "; ".join(notes)
