"""Versions of servers' tools in PostgreSQL: recorded by workers, decided by administrators."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol
from uuid import UUID

from mcp.types import Tool
from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.schemas.domains.servers import VersionStatus
from backend.tools.mcp.versions import (
    KnownVersion,
    Review,
    Version,
    review_refused,
    review_versions,
    version_of,
)
from db.models.domains.domain import DomainRow
from db.models.domains.server_tool import ServerToolRow
from db.session import Database

KEPT_SECONDS = 10.0  # how long a process caches versions before it sees a refusal
_READERS = ThreadPoolExecutor(4, thread_name_prefix="server-tools")


class ToolMemory(Protocol):
    """What was seen of one domain's servers before."""

    async def review(self, listed: Mapping[str, Sequence[Tool]]) -> Review:
        """Return which of the tools listed now may be used, and remember them."""


class NoMemory:
    """For servers of a template that is not stored: whatever they list may be used."""

    async def review(self, listed: Mapping[str, Sequence[Tool]]) -> Review:
        """Accept it."""
        return Review()


class ServerTools:
    """The memory of one process for all domains. Without changes it runs no query."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[UUID, tuple[float, list[KnownVersion]]] = {}
        self._lock = threading.Lock()

    def of(self, domain_id: UUID | None) -> ToolMemory:
        """Return the memory of one domain; None: one that was deleted, where nobody decides."""
        return _Memory(partial(self.review, domain_id) if domain_id else self.look_for_refused)

    def seen(self, domain_id: UUID | None) -> ToolMemory:
        """Return the read-only memory of one domain: nothing is remembered."""
        return _Memory(partial(self.look, domain_id)) if domain_id else NoMemory()

    def look(self, domain_id: UUID, listed: Mapping[str, Sequence[Tool]]) -> Review:
        """Return which of the listed tools may be used, judged by the domain's stored versions."""
        with self._database.read() as session:
            return review_versions(_versions_in(listed), _load(session, domain_id))

    def look_for_refused(self, listed: Mapping[str, Sequence[Tool]]) -> Review:
        """Return which of the listed tools may be used in sessions of deleted domains."""
        with self._database.read() as session:
            return review_refused(_versions_in(listed), _load(session, None))

    def review(self, domain_id: UUID, listed: Mapping[str, Sequence[Tool]]) -> Review:
        """Return which of the tools listed now may be used, and remember them."""
        versions = _versions_in(listed)
        with self._lock:
            loaded_at, known = self._known.get(domain_id, (float("-inf"), []))
        if time.monotonic() - loaded_at < KEPT_SECONDS:
            review = review_versions(versions, known)
            if _is_known(versions, known) and not any(map(review.withholds, review.statuses)):
                return review
        with self._database.transaction() as session:
            known = _load(session, domain_id)
            if not _is_known(versions, known):
                if not _hold_domain(session, domain_id):  # deleted since the turn has begun
                    return review_refused(versions, _load(session, None))
                known = _remember(session, domain_id, versions)
        with self._lock:
            self._known[domain_id] = (time.monotonic(), known)
        return review_versions(versions, known)


class _Memory:
    """Asks in a thread, because a review waits for the database."""

    def __init__(self, review: Callable[[Mapping[str, Sequence[Tool]]], Review]) -> None:
        self._review = review

    async def review(self, listed: Mapping[str, Sequence[Tool]]) -> Review:
        return await asyncio.get_running_loop().run_in_executor(_READERS, self._review, listed)


def _versions_in(listed: Mapping[str, Sequence[Tool]]) -> list[Version]:
    return [version_of(name, tool) for name, tools in listed.items() for tool in tools]


def _is_known(versions: Sequence[Version], known: Sequence[KnownVersion]) -> bool:
    return {version[:3] for version in versions} <= {one[:3] for one in known}


def _load(session: Session, domain_id: UUID | None) -> list[KnownVersion]:
    """Return a domain's versions; None: what was refused in those that were deleted."""
    row = ServerToolRow
    columns = (row.server, row.tool, row.fingerprint, row.status, row.seen_at)
    versions = select(*columns).where(row.domain_id == domain_id)
    if domain_id is None:
        versions = versions.where(row.status == VersionStatus.REFUSED)
    rows = session.execute(versions)
    return [KnownVersion(*values[:3], VersionStatus(values[3]), values[4]) for values in rows]


def _hold_domain(session: Session, domain_id: UUID) -> bool:
    """Keep the domain from being deleted, one process at a time; return whether it is there."""
    lock = func.pg_advisory_xact_lock(func.hashtextextended(f"server_tools {domain_id}", 0))
    session.execute(select(lock))
    domain = select(DomainRow.id).where(DomainRow.id == domain_id)
    return session.scalar(domain.with_for_update(read=True, key_share=True)) is not None


def _remember(session: Session, domain_id: UUID, versions: Sequence[Version]) -> list[KnownVersion]:
    """Store new versions; return all known ones. The caller holds the domain.

    Versions that waited for a decision and are no longer offered are forgotten, so that a server
    which changes with each turn cannot fill the table.
    """
    review = review_versions(versions, _load(session, domain_id))
    row = ServerToolRow
    offered = {version.fingerprint for version in versions}
    asked = {version.server for version in versions}
    session.execute(
        delete(row).where(
            row.domain_id == domain_id,
            row.status == VersionStatus.PENDING,
            row.server.in_(asked),
            row.fingerprint.not_in(offered),
        )
    )
    for version in versions:
        values = version._asdict() | {
            "domain_id": domain_id,
            "status": review.statuses[version[:2]],
        }
        session.execute(insert(row).values(**values).on_conflict_do_nothing())
    return _load(session, domain_id)
