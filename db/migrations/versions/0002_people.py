"""People, their teams and rights, ways of signing in, and feedback."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables of people; what exists belongs to the person who works without sign-in."""
    schema = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    # Without parameters the driver leaves percent signs alone.
    op.get_bind().exec_driver_sql(schema, execution_options={"no_parameters": True})
