"""The output of a task's turn: its answer, its last table from a tool, and its artifacts."""

from uuid import UUID

from sqlalchemy import cast, func, select
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.orm import Session

from backend.conversations.messages import last_answer
from backend.llm.clean import clean
from backend.planning.results import MOST_ROWS, make_output
from backend.schemas.conversations.sessions import ContentType
from backend.types import JSON
from db.models.artifacts.artifact import ArtifactVersionRow
from db.models.conversations.display_message import DisplayMessageRow, ToolResultRow
from db.models.turns.turn import TurnRow


def output_of(session: Session, turn: TurnRow) -> JSON:
    """Return the output of a task whose turn has succeeded, as JSON that can be stored."""
    since = turn.message_position or 0
    answer = last_answer(session, turn.conversation_id, turn.id, since) or ""
    table, made = _last_table(session, turn, since), _artifacts(session, turn.id)
    output: JSON = clean(make_output(answer, table, made))
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


def _artifacts(session: Session, turn_id: UUID) -> list[JSON]:
    row = ArtifactVersionRow
    found = session.execute(
        select(row.artifact_id, row.version, row.title)
        .where(row.turn_id == turn_id)
        .order_by(row.created_at, row.artifact_id, row.version)
    )
    return [
        {"id": str(artifact_id), "version": version, "title": title}
        for artifact_id, version, title in found
    ]
