"""Who calls this process: scopes of tokens, remembered for a moment."""

import time
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import asdict
from threading import Lock

from backend.auth.api_tokens import record_refused
from backend.auth.callers import find_again, find_caller, find_people, note_use, scope_of
from backend.auth.scope import LOCAL_USER, Scope
from backend.auth.tokens import digest
from backend.errors.people import NotSignedIn
from backend.people.providers.signing_in import admit_proxied
from backend.schemas.people.providers import ProxiedPerson
from backend.settings import Settings
from backend.web.identity import Proxied
from db.session import Database

KEPT_SECONDS = 2.0  # after which a token that has ended is refused
REFUSED_SECONDS = 600.0  # until the use of a token that has ended is recorded again
MOST_KEPT = 10_000
_Key = tuple[str, bool] | Proxied  # a token's digest and whether this is a use of it


class Callers:
    """Finds callers by their tokens; several threads may ask."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._known: OrderedDict[_Key, tuple[float, Scope]] = OrderedDict()
        self._refused: OrderedDict[str, float] = OrderedDict()
        self._lock = Lock()

    @property
    def local(self) -> Scope | None:
        """Return who calls where nobody signs in."""
        return None if self._settings.has_accounts else LOCAL_USER

    def remembered(self, token: str, *, is_use: bool = True) -> Scope | None:
        """Return the scope of a token that was found a moment ago."""
        return self._remembered((digest(token), is_use))

    def find(self, token: str, *, is_use: bool = True) -> Scope:
        """Return the scope of a token's holder; note its use if it is one. Raise NotSignedIn."""
        settings = self._settings
        try:
            with self._database.transaction() as session:
                scope = find_caller(session, token, settings.ways, settings.review, is_use=is_use)
        except NotSignedIn:
            self._record_refusal(token)
            raise
        self._remember((digest(token), is_use), scope)
        return scope

    def find_proxied(self, person: Proxied) -> Scope:
        """Return the scope of a person whom a trusted proxy has named. Raise PersonDisabled."""
        if (scope := self._remembered(person)) is not None:
            return scope
        given = ProxiedPerson(**{**asdict(person), "groups": list(person.groups)})
        with self._database.transaction() as session:
            user_id = admit_proxied(session, self._settings, given)
            note_use(session, user_id)
            scope = scope_of(session, user_id, self._settings.review)
        self._remember(person, scope)
        return scope

    def _remembered(self, key: _Key) -> Scope | None:
        held = self._known.get(key)
        return held[1] if held and held[0] > time.monotonic() else None

    def _remember(self, key: _Key, scope: Scope) -> None:
        with self._lock:
            self._known[key] = (time.monotonic() + KEPT_SECONDS, scope)
            while len(self._known) > MOST_KEPT:
                self._known.popitem(last=False)

    def find_again(self, tokens: Collection[str]) -> Mapping[str, Scope]:
        """Return the scopes of those tokens that are still valid, as their holders are now.

        It is no use of them: a sign-in that is only held open by a page ends as an idle one.
        """
        settings, scopes = self._settings, {}
        if tokens:
            by_digest = {digest(token): token for token in tokens}
            with self._database.read() as session:
                found = find_again(session, set(by_digest), settings.ways, settings.review)
            scopes = {by_digest[key]: scope for key, scope in found.items()}
        return scopes

    def find_people(self, user_ids: Collection[str]) -> Mapping[str, Scope]:
        """Return the scopes of those of these people, let in by a proxy, who may still come."""
        if not user_ids:
            return {}
        with self._database.read() as session:
            return find_people(session, user_ids, self._settings.review)

    def _record_refusal(self, token: str) -> None:
        """Record that an API token that has ended was used; not each time a program tries again."""
        key, now = digest(token), time.monotonic()
        with self._lock:
            if self._refused.get(key, 0.0) > now:
                return
            self._refused[key] = now + REFUSED_SECONDS
            while len(self._refused) > MOST_KEPT:
                self._refused.popitem(last=False)
        with self._database.transaction() as session:
            record_refused(session, token)

    def forget(self) -> None:
        """Forget all: somebody's rights have just changed."""
        with self._lock:
            self._known.clear()
