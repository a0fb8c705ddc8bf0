"""The schema of the first release, as SQL. There is nothing before it to go back to."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables, functions and the view that host applications read."""
    schema = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(schema)
