"""The output of a task's turn: its answer, its last table from a tool, and its artifacts."""

from uuid import UUID

from sqlalchemy import cast, func, select
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.orm import Session

from backend.conversations.messages import last_answer
from backend.planning.results import MOST_ROWS, make_output
from backend.types import JSON
from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.kinds import ContentType
from db.models.conversations.display_message import DisplayMessageRow, ToolResultRow
from db.models.turns.turn import TurnRow


def output_of(session: Session, turn: TurnRow) -> JSON:
    """Return the output of a task whose turn has succeeded, as JSON that can be stored."""
    since = turn.message_position or 0
    answer = last_answer(session, turn.conversation_id, turn.id, since) or ""
    table, artifacts = _last_table(session, turn, since), _artifacts(session, turn, since)
    output: JSON = clean(make_output(answer, table, artifacts))
    return output


def _last_table(session: Session, turn: TurnRow, since: int) -> JSON | None:
    metadata = DisplayMessageRow.metadata_
    table = session.scalar(
        select(metadata["table"])
        .where(DisplayMessageRow.conversation_id == turn.conversation_id)
        .where(DisplayMessageRow.position >= since, DisplayMessageRow.turn_id == turn.id)
        .where(DisplayMessageRow.content_type == ContentType.TOOL_RESULT)
        .where(metadata.has_key("table"))
        .order_by(DisplayMessageRow.position.desc())
        .limit(1)
    )
    if table is None:
        return None
    found: JSON = {"columns": table["columns"], "rows": table["rows"]}
    if "row_count" in table:
        found["row_count"] = table["row_count"]
    if result_id := table.get("result_id"):
        found["rows"] = _first_rows(session, UUID(result_id)) or found["rows"]
    return found


def _first_rows(session: Session, result_id: UUID) -> list[list[object]] | None:
    """Return the first rows of a stored table; cut in the database because it may be large."""
    first = cast(f"$[0 to {MOST_ROWS - 1}]", JSONPATH)
    query = select(func.jsonb_path_query_array(ToolResultRow.result["rows"], first))
    found: list[list[object]] | None = session.scalar(query.where(ToolResultRow.id == result_id))
    return found


def _artifacts(session: Session, turn: TurnRow, since: int) -> list[JSON]:
    """Return the versions that the turn showed, also one that it found equal to the newest."""
    row = DisplayMessageRow
    shown = session.scalars(
        select(row.content)
        .where(row.conversation_id == turn.conversation_id)
        .where(row.position >= since, row.turn_id == turn.id)
        .where(row.content_type == ContentType.ARTIFACT)
        .order_by(row.position)
    )
    found = {(one["artifact_id"], one["version"]): one["title"] for one in shown}
    return [{"id": key[0], "version": key[1], "title": title} for key, title in found.items()]
