"""Count usage by a domain's id: its name can change, and pass to another domain.

What was used before counts for the domain that has the name now. Usage of deleted domains has the
nil id, under which their names tell them apart.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_NIL = "00000000-0000-0000-0000-000000000000"
_KEY = ["day", "owner_id", "domain_id", "domain_name", "model"]
_KEY_BEFORE = ["day", "owner_id", "domain_name", "model"]


def upgrade() -> None:
    op.add_column(
        "usage_days", sa.Column("domain_id", sa.UUID(), nullable=False, server_default=_NIL)
    )
    op.alter_column("usage_days", "domain_id", server_default=None)
    op.execute(
        "UPDATE usage_days SET domain_id = domains.id FROM domains"
        " WHERE domains.name = usage_days.domain_name"
    )
    _change_keys(_KEY, ["domain_id", "day"])


def downgrade() -> None:
    op.execute(_ADD_UP)
    _change_keys(_KEY_BEFORE, ["domain_name", "day"])
    op.drop_column("usage_days", "domain_id")


def _change_keys(key: list[str], index: list[str]) -> None:
    op.drop_constraint("pk_usage_days", "usage_days", type_="primary")
    op.create_primary_key("pk_usage_days", "usage_days", key)
    op.drop_index("ix_usage_days_domain", "usage_days")
    op.create_index("ix_usage_days_domain", "usage_days", index)


_NAMES = (
    "turns",
    "model_calls",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost",
)
# Domains that have had the same name share a row again.
_ADD_UP = (
    "WITH before AS (DELETE FROM usage_days RETURNING *)"  # noqa: S608  (constants)
    f" INSERT INTO usage_days ({', '.join(_KEY)}, {', '.join(_NAMES)})"
    f" SELECT day, owner_id, '{_NIL}'::uuid, domain_name, model,"
    f" {', '.join(f'sum({name})' for name in _NAMES)}"
    " FROM before GROUP BY day, owner_id, domain_name, model"
)
