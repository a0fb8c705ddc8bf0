"""The migrations build what the models say, and can be undone."""

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from db.migrate import MIGRATIONS, migrate
from db.tables import all_tables
from tests.stack import Servers


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
    engine = create_engine(servers.new_database())
    with engine.begin() as connection:
        add = "INSERT INTO domains (id, name, template) VALUES (gen_random_uuid(), 'kept', '{}')"
        connection.execute(text(add))
        for name in ("kept", "kept", "deleted"):
            connection.execute(_USAGE, {"name": name})

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0014")
        command.upgrade(config, "0015")

        rows = connection.execute(_BY_DOMAIN).all()
    engine.dispose()
    assert [tuple(row) for row in rows] == [("deleted", 1, None), ("kept", 2, "kept")]


_USAGE = text(
    "INSERT INTO usage_days (day, owner_id, domain_id, domain_name, model, turns)"
    " VALUES ('2026-01-31', 'local', gen_random_uuid(), :name, 'scripted', 1)"
)
_BY_DOMAIN = text(
    "SELECT usage_days.domain_name, turns, domains.name FROM usage_days"
    " LEFT JOIN domains ON domains.id = usage_days.domain_id ORDER BY 1"
)
