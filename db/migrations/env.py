"""Alembic's entry: migrations run on the connection that `db.migrate` hands over."""

from alembic import context

import db.models.audit_event
import db.models.conversations.agent_state
import db.models.conversations.branch
import db.models.conversations.conversation
import db.models.conversations.display_message
import db.models.conversations.search_entry
import db.models.conversations.session_link
import db.models.domains.domain
import db.models.domains.server_tool
import db.models.file
import db.models.model_connection
import db.models.turns.approval
import db.models.turns.spent_key
import db.models.turns.tool_journal
import db.models.turns.turn
import db.models.usage_day  # noqa: F401  (importing a model registers its table)
from db.base import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    compare_server_default=True,
)
with context.begin_transaction():
    context.run_migrations()
