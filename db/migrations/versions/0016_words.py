"""Words keep their combining marks and all kinds of digits, in messages and in titles.

Words were split at everything that is not a letter or ASCII digit: Hindi at vowel signs, and the
text "١٢٣" or "½" had no word at all. The entries of messages with such characters are made again.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0016"
down_revision = "0015"

# Invisible characters, and the marks that make a character an emoji.
_UNSEEN = r"\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u206F\u20E3\uFE00-\uFE0F\uFEFF"
_SEPARATORS = rf"[:space:][:punct:][:cntrl:]{_UNSEEN}"
_SPLIT_WORDS = """
CREATE OR REPLACE FUNCTION split_words(said text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(lower(said), '[{}]+', ' ', 'g')
"""
# The title's column is computed again in one lock, which writers of messages wait for: no entry is
# added with the former words meanwhile.
_TITLES = "to_tsvector('simple', split_words(title))"
_FORMER_TITLES = "to_tsvector('simple', regexp_replace(title, '[^[:alnum:]]+', ' ', 'g'))"
_UPDATE_ENTRIES = """
UPDATE search_entries AS entry SET words = entry_words(conversations.owner_id, shown)
FROM display_messages AS said
JOIN conversations ON conversations.id = said.conversation_id,
message_text(said.content_type, said.content) AS shown
WHERE entry.conversation_id = said.conversation_id AND entry.position = said.position
AND shown ~ :newly_kept
"""


def upgrade() -> None:
    _split(_SEPARATORS, _TITLES)


def downgrade() -> None:
    _split("^[:alnum:]", _FORMER_TITLES)


def _split(separators: str, titles: str) -> None:
    op.drop_column("conversations", "search")
    op.execute(sa.text(_SPLIT_WORDS.format(separators).replace(":", "\\:")))
    op.add_column(
        "conversations",
        sa.Column("search", TSVECTOR(), sa.Computed(titles, persisted=True), nullable=False),
    )
    op.create_index("ix_conversations_search", "conversations", ["search"], postgresql_using="gin")
    op.execute(sa.text(_UPDATE_ENTRIES).bindparams(newly_kept=rf"[^[:alnum:]{_SEPARATORS}]"))
