"""A turn stores its worker's last heartbeat, and when it was asked to stop or to wait.

All columns come last and have a default, so that code of the previous version can write turns.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.add_column("turns", sa.Column("heartbeat_at", moment))
    op.add_column("turns", sa.Column("stop_requested_at", moment))
    op.add_column("turns", sa.Column("model_retry_at", moment))
    op.add_column("turns", sa.Column("model_retry_reason", sa.String()))
    op.add_column(
        "turns", sa.Column("model_retries", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column(
        "turns", sa.Column("lost_seconds", sa.Float(), nullable=False, server_default="0")
    )


def downgrade() -> None:
    for name in (
        "lost_seconds",
        "model_retries",
        "model_retry_reason",
        "model_retry_at",
        "stop_requested_at",
        "heartbeat_at",
    ):
        op.drop_column("turns", name)
