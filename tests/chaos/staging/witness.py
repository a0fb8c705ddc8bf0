"""The database's own record of a run: triggers note each change in the transaction that makes it.

What a note says is therefore committed, and what was rolled back left none.
"""

from typing import Any

from sqlalchemy import create_engine, text

from backend.types import JSON
from tests.chaos.staging.records import History, Note

TABLES = (
    "turns",
    "display_messages",
    "agent_state_snapshots",
    "agent_state_deltas",
    "tool_journal",
    "approvals",
)

_LOG = """
CREATE TABLE chaos_log (
    id bigserial PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    tx bigint NOT NULL DEFAULT txid_current(),
    source text NOT NULL,
    op text NOT NULL,
    row_data jsonb NOT NULL
)
"""
_NOTE = """
CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO chaos_log (source, op, row_data)
    VALUES (TG_TABLE_NAME, TG_OP, to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END));
    RETURN NULL;
END $$
"""
_TRIGGER = (
    "CREATE TRIGGER chaos AFTER INSERT OR UPDATE OR DELETE ON {table}"
    " FOR EACH ROW EXECUTE FUNCTION chaos_note()"
)


class Witness:
    """Watches one database; reads it without any proxy between."""

    def __init__(self, database_url: str) -> None:
        self._engine = create_engine(database_url, pool_pre_ping=True)

    def install(self) -> None:
        """Put the triggers in place, before anything happens."""
        with self._engine.begin() as connection:
            for statement in (_LOG, _NOTE, *(_TRIGGER.format(table=name) for name in TABLES)):
                connection.execute(text(statement))

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def query(self, sql: str, **values: Any) -> list[JSON]:
        """Rows of any query."""
        with self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(text(sql), values).mappings()]

    def fill(self, history: History) -> None:
        """Add what the database knows to a history."""
        notes = self.query(
            "SELECT id, extract(epoch FROM at)::float8 AS at, tx, source, op, row_data"
            " FROM chaos_log ORDER BY id"
        )
        history.notes = [
            Note(n["id"], n["at"], n["tx"], n["source"], n["op"], n["row_data"]) for n in notes
        ]
        history.turns = self._rows("turns", "number")
        history.rows = self._rows("display_messages", "conversation_id, position")
        (now,) = self.query("SELECT extract(epoch FROM clock_timestamp())::float8 AS at")
        history.ended_at = now["at"]

    def unfinished(self) -> int:
        """How many turns have neither ended nor wait for people."""
        (row,) = self.query(
            "SELECT count(*) AS n FROM turns WHERE status IN ('queued', 'running')"
            " OR (status = 'waiting' AND decided_at IS NOT NULL)"
        )
        return int(row["n"])

    def _rows(self, table: str, order: str) -> list[JSON]:
        sql = f"SELECT to_jsonb(t) AS row_data FROM {table} t ORDER BY {order}"
        return [row["row_data"] for row in self.query(sql)]
