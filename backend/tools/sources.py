"""Tools to see which sources there are, what they hold, and to query them with SQL."""

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from backend.data.profile import TableInfo
from backend.data.results import Column, Limits, Table
from backend.data.sources import SourceInfo
from backend.tools.context import ToolContext
from backend.tools.making import Answer, make_tool
from backend.tools.presenting import excerpt, table_artifact

QUERY_LIMITS = Limits()
_TABLES_IN_LIST = 12
_MOST_NOTES = 30


class ListSources(BaseModel):
    """List all data sources you can query: their names, kinds, tables and numbers of rows.

    Call this first when you do not know which source holds the answer.
    """


class DescribeSource(BaseModel):
    """Show the tables of one source: columns, types, meanings and the span of their values.

    Call it before writing SQL over tables you have not seen. Example: source="fi",
    table="documents".
    """

    source: str = Field(description="The source's name as in list_sources.", examples=["fi"])
    table: str | None = Field(
        None, description="One table of it; leave out for all.", examples=["documents"]
    )


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


def list_sources(context: ToolContext) -> BaseTool:
    """The tool that lists all sources."""

    async def ask() -> Answer:
        infos = await context.sources.list_all(context.asker)
        columns = ("source", "kind", "tables", "description", "problem")
        table = Table(tuple(Column(name, "VARCHAR") for name in columns))
        table.rows = [
            [info.name, info.kind, _table_list(info), info.description, info.error or ""]
            for info in infos
        ]
        return excerpt("Sources", table), table_artifact("Sources", table)

    return make_tool("list_sources", ListSources, ask)


def describe_source(context: ToolContext) -> BaseTool:
    """The tool that describes one source."""

    async def ask(source: str, table: str | None = None) -> Answer:
        info = await context.sources.describe(context.asker, source, table)
        columns = _columns_table(info)
        notes = [f"{info.name} ({info.kind}): {info.description}"]
        notes += [_about_table(t) for t in info.tables]
        read = _bounded([line for t in info.tables for line in _about_reading(t)])
        title = f"Columns of {info.name}"
        artifact = {**table_artifact(title, columns), "notes": read}
        return excerpt(title, columns, [*notes, *read]), artifact

    return make_tool("describe_source", DescribeSource, ask)


def query_source(context: ToolContext) -> BaseTool:
    """The tool that runs a SELECT."""

    async def ask(source: str, sql: str, title: str | None = None) -> Answer:
        table = await context.sources.query(context.asker, source, sql, QUERY_LIMITS)
        name = title or f"Query of {source}"
        warnings = await context.sources.warnings(context.asker, source, sql)
        notes = _bounded([f"NOTE on {warning}" for warning in warnings])
        return excerpt(name, table, notes), {**table_artifact(name, table), "notes": notes}

    return make_tool("query_source", QuerySource, ask)


def _table_list(info: SourceInfo) -> str:
    shown = [_table_with_count(table) for table in info.tables[:_TABLES_IN_LIST]]
    more = len(info.tables) - len(shown)
    return ", ".join(shown) + (f", and {more} more" if more else "")


def _table_with_count(table: TableInfo) -> str:
    return table.name if table.rows is None else f"{table.name} ({table.rows:,} rows)"


def _about_table(table: TableInfo) -> str:
    return f"- {_table_with_count(table)}: {table.comment}".rstrip(": ")


def _about_reading(table: TableInfo) -> list[str]:
    """How a file's table was read, and what is to be known of it."""
    read = [f"{table.name} was read as: {'; '.join(table.understood)}."] if table.understood else []
    return read + [f"NOTE on {table.name}: {warning}" for warning in table.warnings]


def _bounded(notes: list[str]) -> list[str]:
    """The first notes, and how many more there are."""
    more = len(notes) - _MOST_NOTES
    return notes if more <= 0 else [*notes[:_MOST_NOTES], f"NOTE: and {more:,} more notes."]


def _columns_table(info: SourceInfo) -> Table:
    names = ("table", "column", "type", "meaning", "values")
    table = Table(tuple(Column(name, "VARCHAR") for name in names))
    table.rows = [
        [t.name, c.name, c.type, c.comment, c.values] for t in info.tables for c in t.columns
    ]
    return table
