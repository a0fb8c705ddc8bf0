"""The migrations build what the models say, and can be undone."""

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, inspect, text

from db.migrate import migrate
from db.schema import MIGRATIONS
from db.tables import all_tables
from tests.stack import Servers

DECIDED = {"no": ("accepted", "refused"), "yes": ("refused", "accepted")}
SAID = "हिन्दी ½"


def test_models_and_migrations_agree(servers: Servers) -> None:
    engine = create_engine(servers.new_database())

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": False})
        differences = compare_metadata(context, all_tables())

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


def test_usage_counts_for_the_domain_that_has_its_name_when_ids_are_added(servers: Servers) -> None:
    url = servers.new_database()
    engine = create_engine(url)
    with engine.begin() as connection:
        add = "INSERT INTO domains (id, name, template) VALUES (gen_random_uuid(), 'kept', '{}')"
        connection.execute(text(add))
        for name in ("kept", "kept", "deleted"):
            connection.execute(_USAGE, {"name": name})

    with engine.begin() as connection:
        undo_migrations(connection, "0014")
    migrate(url)

    with engine.connect() as connection:
        rows = connection.execute(_BY_DOMAIN).all()
    engine.dispose()
    assert [tuple(row) for row in rows] == [("deleted", 1, None), ("kept", 2, "kept")]


def test_what_was_said_before_the_words_changed_is_found_after(servers: Servers) -> None:
    url = servers.new_database()
    engine = create_engine(url)
    with engine.begin() as connection:
        undo_migrations(connection, "0014")
        connection.execute(_SAY, {"said": SAID})

    migrate(url)

    with engine.connect() as connection:
        assert connection.scalar(_COUNT, {"said": SAID}) == 1
    engine.dispose()


def test_what_was_refused_in_domains_deleted_before_is_known_from_the_decisions(
    servers: Servers,
) -> None:
    url = servers.new_database()
    engine = create_engine(url)
    with engine.begin() as connection:
        undo_migrations(connection, "0015")
        for tool, actions in DECIDED.items():
            for action in actions:
                connection.execute(_DECIDE, {"tool": tool, "action": f"tool {action}"})

    migrate(url)

    with engine.connect() as connection:
        known = connection.execute(text("SELECT server, tool, status, domain_id FROM server_tools"))
        rows = known.all()
    engine.dispose()
    assert [tuple(row) for row in rows] == [("s", "no", "refused", None)]


def undo_migrations(connection: Connection, revision: str) -> None:
    """Undo all migrations after this one."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.downgrade(config, revision)


_USAGE = text(
    "INSERT INTO usage_days (day, owner_id, domain_id, domain_name, model, turns)"
    " VALUES ('2026-01-31', 'local', gen_random_uuid(), :name, 'scripted', 1)"
)
_BY_DOMAIN = text(
    "SELECT usage_days.domain_name, turns, domains.name FROM usage_days"
    " LEFT JOIN domains ON domains.id = usage_days.domain_id ORDER BY 1"
)
_DECIDE = text(
    "INSERT INTO audit_events (actor, action, subject, subject_id, details) VALUES ('ann', :action,"
    " 'domain', '00000000-0000-0000-0000-000000000001', jsonb_build_object('server', 's', 'tool',"
    " CAST(:tool AS text), 'fingerprint', 'f', 'version_id', 'v'))"
)
_SAY = text(
    """WITH made AS (
         INSERT INTO conversations (id, image_id, owner_id, title, domain_name, image)
         VALUES (gen_random_uuid(), gen_random_uuid(), 'ann', :said, 'plain', '{}') RETURNING id)
       INSERT INTO display_messages
         (conversation_id, position, message_type, content_type, status, content)
       SELECT id, 1, 'user', 'text', 'completed', jsonb_build_object('text', CAST(:said AS text))
       FROM made"""
)
_COUNT = text(
    """SELECT count(*) FROM search_entries JOIN conversations ON id = conversation_id,
         phraseto_tsquery('simple', split_words(:said)) AS wanted
       WHERE words @@ wanted AND search @@ wanted"""
)
