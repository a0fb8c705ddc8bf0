"""The search entries without a log: they are made from the messages, and can be made again.

Their words and the index over them wrote more of the write-ahead log than all else of a turn, and
ever more with the number of messages. PostgreSQL empties unlogged tables when it starts after a
crash; `search_index` is one too, so its row, which says that the entries are all there, goes with
them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.execute("ALTER TABLE search_entries SET UNLOGGED")
    op.create_table(
        "search_index",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("is_complete", sa.Boolean(), nullable=False),
        sa.Column("conversation_id", sa.UUID(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_search_index"),
        prefixes=["UNLOGGED"],
    )
    op.execute("INSERT INTO search_index (id, is_complete) VALUES (1, true)")


def downgrade() -> None:
    op.drop_table("search_index")
    op.execute("ALTER TABLE search_entries SET LOGGED")
