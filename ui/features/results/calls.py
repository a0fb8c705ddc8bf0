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


def stored_file(client: Client, path: str, format: Format) -> bytes:
    """Return the stored table as a file."""
    return client.send("GET", path, params={"format": format}).content


def run_query(client: Client, session_id: UUID, source: str, sql: str) -> QueryTable:
    """Return the result of a person's own query."""
    path = f"sessions/{session_id}/query"
    return client.call(QueryTable, "POST", path, json=_body(source, sql))


def query_file(client: Client, session_id: UUID, source: str, sql: str, format: Format) -> bytes:
    """Run a person's own query again, and return its result as a file."""
    path = f"sessions/{session_id}/query"
    asked = {"json": _body(source, sql), "params": {"format": format}}
    return client.send("POST", path, **asked).content


def keep_query(client: Client, session_id: UUID, source: str, sql: str, title: str) -> Artifact:
    """Keep the whole result of a person's own query as an artifact of the session."""
    path = f"sessions/{session_id}/query/artifact"
    return client.call(Artifact, "POST", path, json=_body(source, sql) | {"title": title})


def _body(source: str, sql: str) -> dict[str, Any]:
    return {"source": source, "sql": sql}
