"""Copying a conversation's display messages into a new one, within the database."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from backend.conversations.paths import Path


def copy_history(session: Session, old: UUID, new: UUID, path: Path) -> int:
    """Copy the display messages of a path and the results they name, to positions from 1 on.

    Those are the whole tables and files of tool results. Ids are new. The copies belong to no
    turn: what they report happened elsewhere. Return their number; costs one statement.
    """
    firsts, lasts = [first for first, _ in path.ranges], [last for _, last in path.ranges]
    values = {"old": old, "new": new, "firsts": firsts, "lasts": lasts}
    return int(session.execute(_COPY, values).scalar_one())


_COPY = text(
    """
    WITH shown AS MATERIALIZED (
        SELECT said.*, row_number() OVER (ORDER BY said.position) AS place,
            coalesce(metadata #>> '{table,result_id}', metadata ->> 'result_id') AS result_id,
            CASE WHEN metadata ? 'result_id' THEN '{result_id}' ELSE '{table,result_id}' END
                AS naming
        FROM display_messages AS said
        JOIN unnest(CAST(:firsts AS int[]), CAST(:lasts AS int[])) AS range (first, last)
            ON said.position >= range.first AND said.position <= coalesce(range.last, said.position)
        WHERE said.conversation_id = :old
    ), renamed AS MATERIALIZED (
        SELECT whole.id AS old_id, gen_random_uuid() AS new_id
        FROM tool_results AS whole
        WHERE whole.conversation_id = :old
        AND whole.id::text IN (SELECT result_id FROM shown)
    ), results AS (
        INSERT INTO tool_results (id, conversation_id, result, created_at)
        SELECT renamed.new_id, :new, whole.result, whole.created_at
        FROM renamed JOIN tool_results AS whole ON whole.id = renamed.old_id
    ), counted AS (
        UPDATE conversations SET message_count = (SELECT count(*) FROM shown) WHERE id = :new
    ), copied AS (
        INSERT INTO display_messages (
            conversation_id, position, message_type, content_type, content, sequence, status,
            agent, metadata, created_at)
        SELECT :new, shown.place, shown.message_type, shown.content_type, shown.content,
            shown.sequence, shown.status, shown.agent,
            CASE WHEN renamed.new_id IS NULL THEN shown.metadata
                ELSE jsonb_set(shown.metadata, naming::text[], to_jsonb(renamed.new_id)) END,
            shown.created_at
        FROM shown
        LEFT JOIN renamed ON renamed.old_id::text = shown.result_id
        ORDER BY shown.place
    )
    SELECT count(*) FROM shown
    """
)
