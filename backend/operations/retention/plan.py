"""Which sessions retention deletes: one statement per rule; active and recently used ones stay.

Sessions of tasks are deleted with their parent, and count as part of it. A session that one rule
deletes takes up no place and no storage for the next rules.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import TextClause, text
from sqlalchemy.orm import Session

from backend.schemas.bounds import LONGEST_DAYS
from backend.schemas.retention import Departing, Reason, RetentionRules

MEGABYTE = 2**20
SCAN_SECONDS = 600  # measuring storage reads all sessions

_IDLE = (
    "NOT EXISTS (SELECT FROM turns WHERE turns.conversation_id = c.id"
    " AND turns.status IN ('queued', 'running', 'waiting'))"
)
_LAST = "greatest(c.last_accessed_at, c.updated_at)"
_COLUMNS = (
    "c.id, c.title, c.owner_id AS owner, c.updated_at, c.version,"
    " greatest(c.last_accessed_at, c.updated_at) AS last_accessed_at,"
    " coalesce((SELECT name FROM users WHERE users.id = c.owner_id), c.owner_id) AS owner_name,"
    " coalesce((SELECT name FROM domains WHERE domains.id = c.domain_id), c.domain_name) AS domain"
)
_STAYS = "c.id <> ALL(CAST(:departing AS uuid[]))"
# A domain's own days take precedence over the settings'; 0 there means forever. They may predate
# the upper bound, and no day lies further back than dates allow.
_AGE = text(
    f"SELECT {_COLUMNS} FROM conversations c LEFT JOIN domains d ON d.id = c.domain_id,"  # noqa: S608  (constants)
    f" LATERAL (SELECT least(coalesce((d.template ->> 'retention_days')::numeric, :days),"
    f" {LONGEST_DAYS})::int AS days) kept"
    " WHERE c.parent_id IS NULL"
    f" AND kept.days > 0 AND {_LAST} < now() - make_interval(days => kept.days)"
    f" AND {_IDLE} ORDER BY last_accessed_at, c.id"
)
_NUMBER = text(
    f"SELECT {_COLUMNS} FROM (SELECT *, row_number() OVER (PARTITION BY owner_id"  # noqa: S608  (constants)
    f" ORDER BY pinned DESC, {_LAST} DESC, id) AS place FROM conversations c"
    f" WHERE parent_id IS NULL AND {_STAYS}) c"
    f" WHERE c.place > :limit AND {_IDLE} ORDER BY last_accessed_at, c.id"
)
_STORAGE = text(
    "WITH pieces AS ("  # noqa: S608  (constants)
    " SELECT conversation_id, sum(pg_column_size(m.*)) AS bytes FROM display_messages m GROUP BY 1"
    " UNION ALL SELECT conversation_id, sum(pg_column_size(r.*)) FROM tool_results r GROUP BY 1"
    " UNION ALL SELECT conversation_id, sum(pg_column_size(a.*))"
    " FROM agent_state_deltas a GROUP BY 1"
    " UNION ALL SELECT conversation_id, pg_column_size(s.*) FROM agent_state_snapshots s"
    " UNION ALL SELECT conversation_id, sum(pg_column_size(s.*)) FROM sent_contents s GROUP BY 1"
    " UNION ALL SELECT conversation_id, sum(pg_column_size(t.*)) FROM turns t GROUP BY 1"
    " UNION ALL SELECT conversation_id, sum(size) FROM files"
    " WHERE conversation_id IS NOT NULL GROUP BY 1"
    " UNION ALL SELECT a.conversation_id, sum(v.size + pg_column_size(v.preview))"
    " FROM artifact_versions v JOIN artifacts a ON a.id = v.artifact_id GROUP BY 1"
    "), sizes AS ("
    " SELECT coalesce(whole.parent_id, whole.id) AS conversation_id, sum(bytes) AS bytes"
    " FROM pieces JOIN conversations whole ON whole.id = pieces.conversation_id GROUP BY 1"
    "), c AS (SELECT c.*, sum(sizes.bytes)"
    f" OVER (ORDER BY pinned DESC, {_LAST} DESC, id) AS kept_bytes"
    " FROM conversations c JOIN sizes ON sizes.conversation_id = c.id"
    f" WHERE {_STAYS})"
    f" SELECT {_COLUMNS} FROM c WHERE c.kept_bytes > :limit AND {_IDLE}"
    " ORDER BY last_accessed_at, c.id"
)


class Planned(Departing):
    """A session to delete, with its version, which changes when it is pinned or renamed."""

    version: int


@dataclass(frozen=True)
class Plan:
    """The sessions to delete, each once, with the first rule that applies."""

    departing: tuple[Planned, ...]

    @property
    def by_reason(self) -> dict[str, int]:
        """How many sessions are deleted for each reason."""
        reasons = [one.reason for one in self.departing]
        return {reason.value: reasons.count(reason) for reason in Reason if reason in reasons}


def make_plan(session: Session, rules: RetentionRules) -> Plan:
    """Return what these rules would delete. Pinned sessions come last, except by age."""
    session.execute(text(f"SET LOCAL statement_timeout = {SCAN_SECONDS * 1000}"))
    departing = _found(session, Reason.AGE, _AGE, {"days": rules.days})
    for reason, query, limit in (
        (Reason.NUMBER, _NUMBER, rules.sessions_per_person),
        (Reason.STORAGE, _STORAGE, rules.megabytes * MEGABYTE),
    ):
        if limit:
            before = [one.id for one in departing]
            departing += _found(session, reason, query, {"limit": limit, "departing": before})
    return Plan(tuple(sorted(departing, key=lambda one: (one.last_accessed_at, one.id))))


def _found(
    session: Session, reason: Reason, query: TextClause, values: dict[str, Any]
) -> list[Planned]:
    return [Planned(**row._mapping, reason=reason) for row in session.execute(query, values)]
