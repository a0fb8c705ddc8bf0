"""What was refused of tool servers outlives its domain: sessions of deleted domains do without it.

What was refused in domains deleted before is taken from the trail of decisions.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_TABLE, _COLUMN, _KEY = "server_tools", "domain_id", "fk_server_tools_domain_id"
_REFUSED_BEFORE = """
INSERT INTO server_tools
(id, domain_id, server, tool, fingerprint, description, status, decided_by, decided_at)
SELECT gen_random_uuid(), NULL, server, tool, fingerprint, jsonb_build_object('name', tool),
'refused', actor, at
FROM (
    SELECT DISTINCT ON (subject_id, server, tool, fingerprint)
    action, actor, at, server, tool, fingerprint
    FROM audit_events, jsonb_to_record(details) AS said(server text, tool text, fingerprint text)
    WHERE subject = 'domain' AND action IN ('tool refused', 'tool accepted')
    AND subject_id NOT IN (SELECT id::text FROM domains)
    ORDER BY subject_id, server, tool, fingerprint, audit_events.id DESC
) AS decided
WHERE action = 'tool refused'
"""


def upgrade() -> None:
    op.alter_column(_TABLE, _COLUMN, nullable=True)
    _change_key("SET NULL")
    op.execute(_REFUSED_BEFORE)


def downgrade() -> None:
    op.execute(sa.text("DELETE FROM server_tools WHERE domain_id IS NULL"))
    op.alter_column(_TABLE, _COLUMN, nullable=False)
    _change_key("CASCADE")


def _change_key(at_end: str) -> None:
    op.drop_constraint(_KEY, _TABLE, type_="foreignkey")
    op.create_foreign_key(_KEY, _TABLE, "domains", [_COLUMN], ["id"], ondelete=at_end)
