"""Sources: what agents can query here, and how each file was read.

Files and databases are read in the sandbox; requests for them wait on the loop.
"""

from typing import Annotated, Any, cast

from fastapi import APIRouter, Query

from backend.api.dependencies import ReadScope, ServicesDep, SourcesDep, own_sources
from backend.api.http.sanitize import Text, Whole
from backend.data.source_info import SourceInfo
from backend.data.sql.names import written
from backend.schemas.data.sources import (
    SourceColumn,
    SourceDetails,
    SourceList,
    SourceSummary,
    SourceTable,
    TableSample,
)

router = APIRouter(prefix="/sources", tags=["sources"])
WAIT_SECONDS = 20.0  # after that, the list says which sources are still being read
MAX_TABLES = 100
MAX_SAMPLE = 200


@router.get("")
async def list_sources(services: ServicesDep, sources: SourcesDep, scope: ReadScope) -> SourceList:
    """All sources by name; one that cannot be read has a `problem`.

    New and changed files are read first, so the response may take a while.
    """
    own = own_sources(services, sources, scope)
    infos = await own.list_all(scope.user_id, WAIT_SECONDS)
    return SourceList(items=[_summary(info) for info in infos], left_out=own.left_out())


@router.get("/{name}")
async def get_source(
    name: Text,
    services: ServicesDep,
    sources: SourcesDep,
    scope: ReadScope,
    offset: Annotated[Whole, Query(ge=0, description="How many tables to skip.")] = 0,
    limit: Annotated[Whole, Query(ge=1, le=MAX_TABLES, description="How many tables.")] = 20,
) -> SourceDetails:
    """One source with its tables and columns, and how a file was read."""
    own = own_sources(services, sources, scope)
    info = await own.find(scope.user_id, name)
    further = offset + limit
    return SourceDetails(
        name=info.name,
        kind=cast(Any, info.kind),
        description=info.description,
        note=info.note,
        table_count=len(info.tables),
        tables=_tables(info, offset, further),
        next_offset=further if further < len(info.tables) else None,
    )


@router.get("/{name}/sample")
async def get_sample(
    name: Text,
    services: ServicesDep,
    sources: SourcesDep,
    scope: ReadScope,
    table: Annotated[Text | None, Query(description="Its name; absent: the first table.")] = None,
    limit: Annotated[Whole, Query(ge=1, le=MAX_SAMPLE)] = 20,
) -> TableSample:
    """The first rows of a table."""
    own = own_sources(services, sources, scope)
    found, rows = await own.sample(scope.user_id, name, table, limit)
    return TableSample(
        table=written(found.exact_name, "duckdb"),
        columns=[SourceColumn(**c.wire) for c in rows.columns],
        rows=[list(row) for row in rows.rows],
        complete=rows.complete,
    )


def _summary(info: SourceInfo) -> SourceSummary:
    return SourceSummary(
        name=info.name,
        kind=cast(Any, info.kind),
        description=info.description,
        tables=len(info.tables),
        warnings=sum(len(table.warnings) for table in info.tables),
        problem=info.error,
        size=info.size,
    )


def _tables(info: SourceInfo, first: int, end: int) -> list[SourceTable]:
    return [
        SourceTable(
            name=written(table.exact_name, info.dialect),
            rows=table.rows,
            meaning=table.comment,
            columns=[
                SourceColumn(name=column.name, type=column.type, meaning=column.comment)
                for column in table.columns
            ],
            understood=list(table.understood),
            warnings=list(table.warnings),
        )
        for table in info.tables[first:end]
    ]
