"""Search in messages: the words that people see in each display message.

A trigger adds the entries, so that rows written by the previous version are found too. Existing
messages are indexed here, in one statement, before the index is built.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0009"
down_revision = "0008"

# One function provides the text for the index and for snippets. Branches of simple expressions cost
# a few microseconds. A tool's arguments contribute their texts and numbers: `{last}` returns only
# the leaves, without copying their containers.
MESSAGE_TEXT = """
CREATE FUNCTION message_text(content_type text, content jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF content_type IN ('text', 'notice') THEN
        RETURN left(content ->> 'text', 20000);
    ELSIF content_type = 'tool_result' THEN
        RETURN concat_ws(E'\\n', content ->> 'name', left(content ->> 'content', 4000));
    ELSIF content_type = 'tool_call' THEN
        RETURN concat_ws(E'\\n', content ->> 'name', left((
            SELECT string_agg(value #>> '{}', ' ')
            FROM jsonb_path_query(
                jsonb_build_array(content -> 'arguments'), 'strict $.**{last}') AS value
            WHERE jsonb_typeof(value) IN ('string', 'number')), 4000));
    ELSIF content_type = 'error' THEN
        RETURN left(concat_ws(E'\\n', content ->> 'title', content ->> 'detail'), 4000);
    ELSIF content_type = 'todos' THEN
        RETURN left((
            SELECT string_agg(value #>> '{}', E'\\n')
            FROM jsonb_path_query(content, 'lax $.todos[*].content') AS value), 4000);
    ELSIF content_type IN ('image', 'file', 'artifact') THEN
        RETURN left(concat_ws(E'\\n', content ->> 'name', content ->> 'title'), 4000);
    END IF;
    RETURN NULL;
END $$
"""
# Split at everything that is not a letter or digit, so that CC-1001 is `cc` followed by `1001`.
SPLIT_WORDS = """
CREATE FUNCTION split_words(said text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(lower(said), '[^[:alnum:]]+', ' ', 'g')
"""
# The owner is a word too, which no text can contain: a search by one owner reads few entries of
# others, however common its words are.
ENTRY_WORDS = """
CREATE FUNCTION entry_words(owner_id text, said text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN to_tsvector('simple', split_words(said)) || array_to_tsvector(ARRAY['owner:' || owner_id])
"""
INDEX_MESSAGES = """
CREATE FUNCTION index_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_entries (conversation_id, position, created_at, words)
    SELECT conversation_id, position, said.created_at, entry_words(owner_id, text)
    FROM added AS said
    JOIN conversations ON conversations.id = conversation_id,
    message_text(content_type, content) AS text
    WHERE text <> '';
    RETURN NULL;
END $$
"""
TRIGGER = """
CREATE TRIGGER index_messages AFTER INSERT ON display_messages
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION index_messages()
"""
INDEX_ALL = INDEX_MESSAGES[INDEX_MESSAGES.index("INSERT") : INDEX_MESSAGES.index(";")].replace(
    "added", "display_messages"
)


def upgrade() -> None:
    op.create_table(
        "search_entries",
        sa.Column("conversation_id", sa.UUID(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("words", TSVECTOR(), nullable=False),
        sa.PrimaryKeyConstraint("conversation_id", "position", name="pk_search_entries"),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name="fk_search_entries_conversation_id_conversations",
            ondelete="CASCADE",
        ),
    )
    for function in (MESSAGE_TEXT, SPLIT_WORDS, ENTRY_WORDS, INDEX_MESSAGES, TRIGGER):
        op.execute(sa.text(function.replace(":", "\\:")))
    op.execute(sa.text(INDEX_ALL))
    op.create_index(
        "ix_search_entries_words",
        "search_entries",
        ["words"],
        postgresql_using="gin",
        postgresql_with={"gin_pending_list_limit": 256},
    )


def downgrade() -> None:
    op.execute("DROP TRIGGER index_messages ON display_messages")
    op.execute("DROP FUNCTION index_messages")
    op.drop_table("search_entries")
    op.execute("DROP FUNCTION entry_words, split_words, message_text")
