"""For whom conversations are taken over."""

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from backend.auth.callers import scope_of
from backend.auth.scope import LOCAL_USER, Scope
from backend.legacy.errors import LegacyRefused
from backend.schemas.people.rights import Role
from backend.settings import Settings
from backend.text import first_of
from db.models.people.user import LOCAL, UserRow

_MOST_NAMED = 5


def find_owner(session: Session, settings: Settings, named: str | None) -> Scope:
    """Return the scope of the person of this name, id, login or email; else of the first admin.

    Raise LegacyRefused if that is nobody, or not one person only.
    """
    row = UserRow
    if named is None and not settings.ways:
        return LOCAL_USER
    people = select(row.id, row.name).where(row.disabled_at.is_(None)).order_by(row.name)
    if named is None:
        admins = people.where(row.role == Role.ADMIN, ~row.is_service)
        found = session.execute(admins).all()
        # Who worked without sign-in is the first administrator once there are accounts.
        found = [one for one in found if one.id == LOCAL] or list(found)
        of_whom = "There are several administrators" if found else "There is no administrator"
    else:
        wanted = named.strip().casefold()
        columns = (row.id, row.name, row.login, row.email)
        found = list(
            session.execute(people.where(or_(*(func.lower(one) == wanted for one in columns))))
        )
        exact = [one for one in found if named in (one.id, one.name)]
        found = exact if len(exact) == 1 else found
        of_whom = f"Several people are called {named!r}" if found else f"Nobody is called {named!r}"
    if len(found) != 1:
        names = first_of([f"{one.name} ({one.id})" for one in found], _MOST_NAMED)
        which = f": {names}" if names else ""
        raise LegacyRefused(f"{of_whom}{which}. Say for whom with --owner ID, NAME or EMAIL.")
    return scope_of(session, found[0].id)
