"""Usage counts for a domain's id, and words keep their combining marks and all kinds of digits.

A domain's name can change, and pass to another domain. What was used before counts for the domain
that has the name now. Usage of deleted domains has the nil id, under which their names tell them
apart.

Words were split at everything that is not a letter or ASCII digit: Hindi at vowel signs, and the
text "١٢٣" or "½" had no word at all. The entries of messages with such characters are made again.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0015"
down_revision = "0014"

_NIL = "00000000-0000-0000-0000-000000000000"
_KEY = ["day", "owner_id", "domain_id", "domain_name", "model"]
_KEY_BEFORE = ["day", "owner_id", "domain_name", "model"]
_NAMES = (
    "turns",
    "model_calls",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost",
)
# Domains that have had the same name share a row again.
_ADD_UP = (
    "WITH before AS (DELETE FROM usage_days RETURNING *)"  # noqa: S608  (constants)
    f" INSERT INTO usage_days ({', '.join(_KEY)}, {', '.join(_NAMES)})"
    f" SELECT day, owner_id, '{_NIL}'::uuid, domain_name, model,"
    f" {', '.join(f'sum({name})' for name in _NAMES)}"
    " FROM before GROUP BY day, owner_id, domain_name, model"
)
# Invisible characters, and the marks that make a character an emoji.
_UNSEEN = r"\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u206F\u20E3\uFE00-\uFE0F\uFEFF"
# Some of PostgreSQL's locale providers do not count symbols as punctuation.
_SYMBOLS = (
    r"$+<=>^`|~\u00A2-\u00A9\u00AC\u00AE-\u00B1\u00B4\u00B8\u00D7\u00F7\u2010-\u205E"
    r"\u207A-\u207E\u20A0-\u20CF\u2190-\u245F\u2500-\u2BFF\U0001F000-\U0001FAFF"
)
_SEPARATORS = rf"[:space:][:punct:][:cntrl:]{_SYMBOLS}{_UNSEEN}"
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
    _add_domains()
    _split(_SEPARATORS, _TITLES)


def downgrade() -> None:
    _split("^[:alnum:]", _FORMER_TITLES)
    _remove_domains()


def _add_domains() -> None:
    op.add_column(
        "usage_days", sa.Column("domain_id", sa.UUID(), nullable=False, server_default=_NIL)
    )
    op.alter_column("usage_days", "domain_id", server_default=None)
    op.execute(
        "UPDATE usage_days SET domain_id = domains.id FROM domains"
        " WHERE domains.name = usage_days.domain_name"
    )
    _change_keys(_KEY, ["domain_id", "day"])


def _remove_domains() -> None:
    op.execute(_ADD_UP)
    _change_keys(_KEY_BEFORE, ["domain_name", "day"])
    op.drop_column("usage_days", "domain_id")


def _change_keys(key: list[str], index: list[str]) -> None:
    op.drop_constraint("pk_usage_days", "usage_days", type_="primary")
    op.create_primary_key("pk_usage_days", "usage_days", key)
    op.drop_index("ix_usage_days_domain", "usage_days")
    op.create_index("ix_usage_days_domain", "usage_days", index)


def _split(separators: str, titles: str) -> None:
    op.drop_column("conversations", "search")
    op.execute(sa.text(_SPLIT_WORDS.format(separators).replace(":", "\\:")))
    op.add_column(
        "conversations",
        sa.Column("search", TSVECTOR(), sa.Computed(titles, persisted=True), nullable=False),
    )
    op.create_index("ix_conversations_search", "conversations", ["search"], postgresql_using="gin")
    op.execute(sa.text(_UPDATE_ENTRIES).bindparams(newly_kept=rf"[^[:alnum:]{_SEPARATORS}]"))
