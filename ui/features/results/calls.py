"""API calls for tables: stored results in each format, and a person's own queries."""

from typing import Any, Literal
from uuid import UUID

from backend.schemas.artifacts import Artifact
from backend.schemas.data.queries import QueryTable
from ui.client import Client

Format = Literal["csv", "xlsx"]


def stored_table(client: Client, path: str) -> dict[str, Any]:
    """Return the whole stored table of a tool result."""
    table: dict[str, Any] = client.send("GET", path).json()
    return table


def run_query(client: Client, session_id: UUID, source: str, sql: str) -> QueryTable:
    """Return the result of a person's own query."""
    path = f"sessions/{session_id}/query"
    return client.call(QueryTable, "POST", path, json=_body(source, sql))


def keep_query(client: Client, session_id: UUID, source: str, sql: str, title: str) -> Artifact:
    """Keep the whole result of a person's own query as an artifact of the session."""
    path = f"sessions/{session_id}/query/artifact"
    return client.call(Artifact, "POST", path, json=_body(source, sql) | {"title": title})


def _body(source: str, sql: str) -> dict[str, Any]:
    return {"source": source, "sql": sql}
