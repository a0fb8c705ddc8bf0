"""Make the search entries unlogged, because they can be rebuilt from the messages.

Their words and the index over them wrote more write-ahead log than everything else in a turn, and
increasingly so with the number of messages. PostgreSQL empties unlogged tables when it starts after
a crash; `search_index` is unlogged too, so its row, which says that the entries are complete, is
lost with them.
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
