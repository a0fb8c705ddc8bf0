"""The migrations build what the models say."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from db.migrate import migrate
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
