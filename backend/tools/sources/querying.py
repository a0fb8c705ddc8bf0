"""Tools that list and describe the sources, and query them with SQL."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from backend.data.files.folder import MAX_FILES
from backend.data.results import Column, Limits, Scalar, Table
from backend.data.source_info import SourceInfo
from backend.data.sources import Sources
from backend.data.sql.names import written
from backend.data.tables import TableInfo
from backend.text import counted
from backend.tools.context import ToolContext
from backend.tools.sources.making import Answer, make_tool
from backend.tools.sources.presenting import Artifact, RowWindow, excerpt, table_artifact

QUERY_LIMITS = Limits()
_TABLES_IN_LIST = 12
_TABLES_IN_NOTES = 30
_NAME_CHARS = 4_000  # of a line that lists all names
_MATCHING = Field(
    None,
    max_length=200,
    description="Only those whose name or description contains this text; leave out for all.",
)
_OFFSET = Field(0, ge=0, description="How many rows to skip, to see those after an excerpt.")
_MOST_NOTES = 30


class ListSources(BaseModel):
    """List all data sources you can query: their names, kinds, tables and numbers of rows.

    Call this first when you do not know which source holds the answer. With many sources give
    matching, or an offset to continue.
    """

    matching: str | None = _MATCHING
    offset: int = _OFFSET


class DescribeSource(BaseModel):
    """Show the tables of one source: columns, types, meanings and the span of their values.

    Call it before writing SQL over tables you have not seen; names are shown as SQL must have
    them. Example: source="fi", table="documents". With many tables or columns give matching, or an
    offset to continue.
    """

    source: str = Field(description="The source's name as in list_sources.", examples=["fi"])
    table: str | None = Field(
        None, description="One table of it; leave out for all.", examples=["documents"]
    )
    matching: str | None = _MATCHING
    offset: int = _OFFSET


class QuerySource(BaseModel):
    """Run one read-only SQL SELECT and get its rows.

    fi, bpc and files are queried in DuckDB's SQL and can be joined as source.table, for example
    fi.documents with bpc.figures; databases are queried one at a time in their own dialect.
    Aggregate in SQL rather than asking for many rows: you see only the first rows of a large
    result. Example: source="fi", sql="SELECT cost_centre, SUM(amount_group) AS spend FROM
    totals WHERE fiscal_year = 2026 AND cost_centre IS NOT NULL GROUP BY cost_centre
    ORDER BY spend DESC LIMIT 5".
    """

    source: str = Field(description="The source whose tables need no prefix.", examples=["fi"])
    sql: str = Field(
        description="One SELECT, or WITH … SELECT.",
        examples=["SELECT SUM(amount_group) FROM documents WHERE gl_account = '630000'"],
    )
    title: str | None = Field(None, description="A short title for the result.", max_length=120)
    offset: int = _OFFSET


@dataclass(frozen=True)
class QueryResult:
    """A query's table with its title, and notes on the files behind it."""

    title: str
    table: Table
    notes: Sequence[str]

    @property
    def artifact(self) -> Artifact:
        """Return the whole table as a tool result stores it."""
        return {**table_artifact(self.title, self.table), "notes": self.notes}


def list_sources(context: ToolContext) -> BaseTool:
    """Return the tool that lists all sources."""

    async def ask(matching: str | None = None, offset: int = 0) -> Answer:
        infos = [
            info
            for info in await context.sources.list_all(context.asker)
            if _matches(matching, info.name, info.description, *(t.name for t in info.tables))
        ]
        names = ("source", "kind", "tables", "description", "problem")
        rows: list[list[Scalar]] = [
            [info.name, info.kind, _table_list(info, matching), info.description, info.error or ""]
            for info in infos
        ]
        table, note, window = _part(names, rows, offset, "list_sources", matching)
        if left_out := context.sources.left_out():
            note.append(
                f"CUT: {left_out:,} more files in DATA_DIR/sources are not looked at, because only "
                f"the first {MAX_FILES} by name are. Move some of them elsewhere."
            )
        return excerpt("Sources", table, note, window), table_artifact("Sources", table)

    return make_tool("list_sources", ListSources, ask, context)


def describe_source(context: ToolContext) -> BaseTool:
    """Return the tool that describes one source."""

    async def ask(
        source: str, table: str | None = None, matching: str | None = None, offset: int = 0
    ) -> Answer:
        info = await context.sources.describe(context.asker, source, table)
        tables = list(_matching_tables(info, matching))
        names = ("table", "column", "type", "meaning", "values")
        rows = _column_rows(replace(info, tables=tuple(tables)))
        columns, names_note, window = _part(names, rows, offset, "describe_source", matching)
        notes = [f"{info.name} ({info.kind}): {info.description}", info.note]
        notes += _about_tables(tables, info.dialect)
        read = _bounded([line for table in tables for line in _about_reading(table)])
        notes += [*read, *names_note]
        title = f"Columns of {info.name}"
        text = excerpt(title, columns, [note for note in notes if note], window)
        return text, {**table_artifact(title, columns), "notes": read}

    return make_tool("describe_source", DescribeSource, ask, context)


def query_source(context: ToolContext) -> BaseTool:
    """Return the tool that runs a SELECT."""

    async def ask(source: str, sql: str, title: str | None = None, offset: int = 0) -> Answer:
        found = await run_query(context.sources, context.asker, source, sql, title, offset)
        further = (
            "The whole result is kept and the person can open it. To see other rows use WHERE, "
            "ORDER BY or aggregates, or ask again with offset={offset} and an ORDER BY."
        )
        text = excerpt(found.title, found.table, found.notes, RowWindow(offset, further))
        return text, found.artifact

    return make_tool("query_source", QuerySource, ask, context)


async def run_query(
    sources: Sources,
    asker: str,
    source: str,
    sql: str,
    title: str | None = None,
    offset: int = 0,
) -> QueryResult:
    """Return the result of one SELECT, whether an agent or a person asks. Raise DataError."""
    table = await sources.query(asker, source, sql, replace(QUERY_LIMITS, skip=offset))
    notes = await notes_on(sources, asker, source, sql)
    return QueryResult(title or f"Query of {source}", table, notes)


async def notes_on(sources: Sources, asker: str, source: str, sql: str) -> list[str]:
    """Return what is to be known of the figures of a query: what was left out, and their zones."""
    return _bounded([f"NOTE on {said}" for said in await sources.warnings(asker, source, sql)])


def _part(
    names: Sequence[str], rows: Sequence[list[Scalar]], offset: int, tool: str, matching: str | None
) -> tuple[Table, list[str], RowWindow]:
    """Return the rows from `offset` on, notes on the others, and the rows' window."""
    table = Table(tuple(Column(name, "VARCHAR") for name in names), list(rows[offset:]))
    notes = []
    if matching:
        notes.append(f"Only what matches {matching!r}; call {tool} without matching for all.")
    if offset and offset >= len(rows):
        notes.append(f"There are no rows after the first {len(rows):,}: give a smaller offset.")
    further = f"Call {tool} again with offset={{offset}} for the next, or with matching for some."
    return table, notes, RowWindow(offset, further)


def _matches(matching: str | None, *texts: str) -> bool:
    wanted = (matching or "").strip().strip("%*").lower()
    return not wanted or any(wanted in text.lower() for text in texts)


def _matching_tables(info: SourceInfo, matching: str | None) -> Iterator[TableInfo]:
    """Yield the matching tables whole, and others with only their matching columns, if any."""
    for table in info.tables:
        if _matches(matching, table.name, table.comment):
            yield table
            continue
        columns = tuple(c for c in table.columns if _matches(matching, c.name, c.comment))
        if columns:
            yield replace(table, columns=columns)


def _table_list(info: SourceInfo, matching: str | None) -> str:
    by_match = sorted(info.tables, key=lambda table: not _matches(matching, table.name))
    shown = [_table_with_count(table, info.dialect) for table in by_match[:_TABLES_IN_LIST]]
    more = len(info.tables) - len(shown)
    others = f", and {more:,} more: describe_source lists them" if more else ""
    return ", ".join(shown) + others


def _table_with_count(table: TableInfo, dialect: str) -> str:
    name = written(table.exact_name, dialect)
    return name if table.rows is None else f"{name} ({counted(table.rows, 'row')})"


def _about_tables(tables: Sequence[TableInfo], dialect: str) -> list[str]:
    """Return a line for each of a few tables; of many, only as many names as fit."""
    if len(tables) <= _TABLES_IN_NOTES:
        return [_about_table(table, dialect) for table in tables]
    listed, size = [], 0
    for table in tables:
        name = written(table.exact_name, dialect)
        size += len(name) + 2
        if size > _NAME_CHARS:
            break
        listed.append(name)
    more = len(tables) - len(listed)
    others = f", and {more:,} more: give matching or table" if more else ""
    return [f"{len(tables):,} tables: {', '.join(listed)}{others}."]


def _about_reading(table: TableInfo) -> list[str]:
    """Return how a file's table was read, and notes on it."""
    read = [f"{table.name} was read as: {'; '.join(table.understood)}."] if table.understood else []
    return read + [f"NOTE on {table.name}: {warning}" for warning in table.warnings]


def _bounded(notes: list[str]) -> list[str]:
    """Return the first notes, and how many more there are."""
    more = len(notes) - _MOST_NOTES
    return notes if more <= 0 else [*notes[:_MOST_NOTES], f"NOTE: and {more:,} more notes."]


def _about_table(table: TableInfo, dialect: str) -> str:
    return f"- {_table_with_count(table, dialect)}: {table.comment}".rstrip(": ")


def _column_rows(info: SourceInfo) -> list[list[Scalar]]:
    return [
        [
            written(table.exact_name, info.dialect),
            written([column.name], info.dialect),
            column.type,
            column.comment,
            column.values,
        ]
        for table in info.tables
        for column in table.columns
    ]
