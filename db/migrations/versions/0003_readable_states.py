"""`agent_states` becomes a view that returns each complete state, for host applications to read.

Stored are snapshots and deltas whose messages refer to the display messages that hold their texts
(`backend.conversations.state.delta` and `shown` have the rules that are written in SQL here).
"""

from alembic import op

revision = "0003"
down_revision = "0002"

SHOWN = """
CREATE FUNCTION agent_state_text(conversation uuid, value jsonb) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN jsonb_typeof(value) = 'object' AND value ? '$shown' THEN (
        SELECT to_jsonb(coalesce(content ->> 'text', content ->> 'content'))
        FROM display_messages
        WHERE conversation_id = conversation AND position = (value ->> '$shown')::int
    ) ELSE value END
$$
"""

MESSAGE = """
CREATE FUNCTION agent_state_message(conversation uuid, message jsonb) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN said #> '{additional_kwargs,reasoning_content}' ? '$shown' THEN jsonb_set(
        said,
        '{additional_kwargs,reasoning_content}',
        agent_state_text(conversation, said #> '{additional_kwargs,reasoning_content}')
    ) ELSE said END
    FROM (SELECT CASE WHEN message -> 'content' ? '$shown' THEN jsonb_set(
        message, '{content}', agent_state_text(conversation, message -> 'content')
    ) ELSE message END AS said) AS with_content
$$
"""

STATE = """
CREATE FUNCTION agent_state(conversation uuid) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
    snapshot record;
    step record;
    state jsonb;
    messages jsonb;
BEGIN
    SELECT state_data, version INTO snapshot
        FROM agent_state_snapshots WHERE conversation_id = conversation;
    state := snapshot.state_data;
    messages := coalesce(state -> 'messages', '[]');
    FOR step IN
        SELECT delta FROM agent_state_deltas
        WHERE conversation_id = conversation AND version > snapshot.version ORDER BY version
    LOOP
        IF step.delta ?| ARRAY['drop', 'keep'] THEN
            SELECT coalesce(jsonb_agg(message ORDER BY place), '[]') INTO messages
                FROM jsonb_array_elements(messages) WITH ORDINALITY AS old (message, place)
                WHERE place > coalesce((step.delta ->> 'drop')::int, 0)
                AND place <= coalesce((step.delta ->> 'drop')::int, 0)
                    + coalesce((step.delta ->> 'keep')::int, jsonb_array_length(messages));
        END IF;
        messages := coalesce(step.delta -> 'prepend', '[]') || messages
            || coalesce(step.delta -> 'append', '[]');
        state := (state || coalesce(step.delta -> 'set', '{}'))
            - ARRAY(SELECT jsonb_array_elements_text(coalesce(step.delta -> 'unset', '[]')));
    END LOOP;
    SELECT coalesce(jsonb_agg(agent_state_message(conversation, message) ORDER BY place), '[]')
        INTO messages
        FROM jsonb_array_elements(messages) WITH ORDINALITY AS kept (message, place);
    RETURN '{"todos": [], "metadata": {}, "payload": {}, "interrupt": null}'::jsonb || state
        || jsonb_build_object('messages', messages);
END
$$
"""

VIEW = """
CREATE VIEW agent_states AS
SELECT
    conversation_id,
    agent_state(conversation_id) AS state_data,
    coalesce((
        SELECT max(version) FROM agent_state_deltas AS deltas
        WHERE deltas.conversation_id = snapshots.conversation_id
    ), version) AS version
FROM agent_state_snapshots AS snapshots
"""


def upgrade() -> None:
    op.rename_table("agent_states", "agent_state_snapshots")
    for constraint in ("pk_agent_states", "fk_agent_states_conversation_id"):
        renamed = constraint.replace("states", "state_snapshots")
        op.execute(f"ALTER TABLE agent_state_snapshots RENAME CONSTRAINT {constraint} TO {renamed}")
    for statement in (SHOWN, MESSAGE, STATE, VIEW):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP VIEW agent_states")
    op.execute("DROP FUNCTION agent_state(uuid)")
    op.execute("DROP FUNCTION agent_state_message(uuid, jsonb)")
    op.execute("DROP FUNCTION agent_state_text(uuid, jsonb)")
    for constraint in ("pk_agent_states", "fk_agent_states_conversation_id"):
        renamed = constraint.replace("states", "state_snapshots")
        op.execute(f"ALTER TABLE agent_state_snapshots RENAME CONSTRAINT {renamed} TO {constraint}")
    op.rename_table("agent_state_snapshots", "agent_states")
