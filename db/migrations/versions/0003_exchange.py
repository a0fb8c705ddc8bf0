"""Last access of sessions, webhooks, imports, and conversations of an older system."""

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Execute the files of the folder beside this one, one per subject, by their names."""
    for file in sorted(Path(__file__).with_suffix("").glob("*.sql")):
        # Without parameters the driver leaves percent signs alone.
        statements = file.read_text(encoding="utf-8")
        op.get_bind().exec_driver_sql(statements, execution_options={"no_parameters": True})
