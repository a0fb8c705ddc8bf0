"""Alembic's entry: migrations run on the connection that `db.migrate` hands over."""

from alembic import context

from db.tables import all_tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=all_tables(),
    compare_server_default=True,
)
with context.begin_transaction():
    context.run_migrations()
