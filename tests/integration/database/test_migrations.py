"""The migrations build what the models say, and can be undone."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

import db.models.audit_event
import db.models.conversations.agent_state
import db.models.conversations.branch
import db.models.conversations.conversation
import db.models.conversations.display_message
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
from db.migrate import migrate
from tests.stack import Servers


def test_models_and_migrations_agree(servers: Servers) -> None:
    engine = create_engine(servers.new_database())

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": False})
        differences = compare_metadata(context, Base.metadata)

    engine.dispose()
    assert differences == []


def test_migrating_twice_changes_nothing(servers: Servers) -> None:
    url = servers.new_database()

    migrate(url)

    engine = create_engine(url)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM alembic_version")) == 1
        assert "turns" in inspect(connection).get_table_names()
    engine.dispose()
