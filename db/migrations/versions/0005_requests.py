"""Which request accepted each turn: its id, by which logs and traces are joined."""

from pathlib import Path

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Execute the file beside this one."""
    statements = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(statements, execution_options={"no_parameters": True})
