"""Who asked a turn, and what they may do: read again at each call, so that it holds as it is."""

import asyncio
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Protocol
from uuid import UUID

from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import Session

from backend.auth.callers import scope_of
from backend.auth.rights import Rights, read_rights
from backend.auth.scope import Scope
from backend.conversations.service import visible_to
from backend.errors.models import ModelWithheld
from backend.errors.people import RightsEnded
from backend.schemas.people.rights import Permission, Resource, Right
from db.models.conversations.conversation import ConversationRow
from db.session import Database

_READERS = ThreadPoolExecutor(8, thread_name_prefix="rights")


class Asker(Protocol):
    """A person for whom agents work."""

    async def check(self) -> Rights:
        """Return what they may do now. Raise AppError if they may not go on with the turn."""

    def rights(self) -> Rights:
        """Return what they might do at the last check."""


class KnownAsker:
    """A person whose rights do not change: for scripts, tests and requests that are not sent."""

    def __init__(self, rights: Rights) -> None:
        self._rights = rights

    async def check(self) -> Rights:
        """Return what they may do."""
        return self._rights

    def rights(self) -> Rights:
        """Return what they may do."""
        return self._rights


class TurnAsker:
    """Who asked a turn of a conversation; several threads may ask.

    `rights`: what they might do when the turn was claimed. `patience`: for how many seconds reading
    is retried while the database is down.
    """

    def __init__(
        self, database: Database, rights: Rights, conversation_id: UUID, patience: float
    ) -> None:
        self._database = database
        self._last = rights
        self._conversation_id = conversation_id
        self._patience = patience

    async def check(self) -> Rights:
        """Read what they may do now.

        Raise PersonDisabled, or RightsEnded if they may use the session or its domain no more.
        """
        # Not on the loop's default executor: hung tools may hold all of its threads.
        return await asyncio.get_running_loop().run_in_executor(_READERS, self._read)

    def rights(self) -> Rights:
        """Return what they might do at the last check."""
        return self._last

    def _read(self) -> Rights:
        person = self._last.scope.user_id

        def read(session: Session) -> Rights:
            return read_rights_in(session, person, self._conversation_id)

        self._last = self._database.retry_transaction(read, self._patience)
        return self._last


def read_rights_in(session: Session, user_id: str, conversation_id: UUID) -> Rights:
    """Return what a person may do in a conversation now.

    Raise PersonDisabled, or RightsEnded if they may use the session or its domain no more.
    """
    scope = scope_of(session, user_id)
    rights = read_rights(session, scope)
    found = session.execute(_domain_of_theirs(scope), {"id": conversation_id}).one_or_none()
    if found is None:
        raise RightsEnded
    is_usable = rights.may_use(Resource.DOMAIN, str(found.domain_id))
    if not is_usable and not scope.has(Permission.MANAGE_DOMAINS):
        raise RightsEnded("Who asked may not use the domain of this session any more.")
    return rights


@lru_cache(1_000)  # building it takes longer than running it
def _domain_of_theirs(scope: Scope) -> Select[UUID | None]:
    """Select the domain of the session `id`, if the caller may continue it."""
    row, is_theirs = ConversationRow, visible_to(scope, Right.CONTINUE)
    return select(row.domain_id).where(row.id == bindparam("id"), is_theirs)


def check_model(rights: Rights, name: str) -> None:
    """Raise ModelWithheld unless the person may use the model."""
    if not rights.may_use(Resource.MODEL, name):
        raise ModelWithheld(f"There is no model {name!r} that you may use. Choose another one.")


def may_use_server(rights: Rights, name: str, secrets: Collection[str]) -> bool:
    """Return whether the person may use a tool server, and all secrets that it is sent."""
    secret_too = (rights.may_use(Resource.SECRET, secret) for secret in secrets)
    return rights.may_use(Resource.SERVER, name) and all(secret_too)
