"""Alembic's entry: migrations run on the connection that `db.migrate` hands over."""

from alembic import context

import db.models.agent_state
import db.models.approval
import db.models.audit_event
import db.models.branch
import db.models.conversation
import db.models.display_message
import db.models.domain
import db.models.model_connection
import db.models.search_entry
import db.models.server_tool
import db.models.session_link
import db.models.tool_journal
import db.models.turn
import db.models.usage_day  # noqa: F401  (importing a model registers its table)
from db.base import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    compare_server_default=True,
)
with context.begin_transaction():
    context.run_migrations()
