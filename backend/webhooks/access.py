"""Who may set webhooks for whose sessions; asked when one is changed and when one is told."""

from sqlalchemy import ColumnElement, and_, or_, true
from sqlalchemy.orm import Session

from backend.auth.callers import scope_of
from backend.auth.reach import principals
from backend.auth.scope import LOCAL_USER, Scope
from backend.conversations.service import exists_still
from backend.errors.people import PersonDisabled
from backend.schemas.people.rights import Permission, PrincipalType
from backend.settings import Settings
from db.models.conversations.conversation import ConversationRow
from db.models.webhook import WebhookRow

# Everyone's words leave the installation: that needs what reading them here would.
OF_EVERYONE = (Permission.OPERATE, Permission.REVIEW_SESSIONS)


def may_hold(scope: Scope, principal_type: str, principal_id: str) -> bool:
    """Return whether the caller may have the events of these sessions sent somewhere."""
    if principal_type == PrincipalType.EVERYONE:
        return all(scope.has(one) for one in OF_EVERYONE)
    return (principal_type, principal_id) in principals(scope)


def shown_to(scope: Scope) -> ColumnElement[bool]:
    """Match the webhooks that the caller sees: their own, their teams' and everyone's."""
    row = WebhookRow
    return or_(
        *(
            and_(row.principal_type == kind, row.principal_id == name)
            for kind, name in principals(scope)
        )
    )


def setter_now(session: Session, settings: Settings, row: WebhookRow) -> Scope | None:
    """Return who set a webhook, as they are now; None if they may not have it any more."""
    try:
        scope = (
            scope_of(session, row.set_by, settings.review) if settings.has_accounts else LOCAL_USER
        )
    except PersonDisabled:
        return None
    return scope if may_hold(scope, row.principal_type, row.principal_id) else None


def told_of(row: WebhookRow) -> ColumnElement[bool]:
    """Match the conversations that a webhook is told of, as they belong to people now."""
    one = ConversationRow
    whose: ColumnElement[bool] = true()
    if row.principal_type == PrincipalType.TEAM:
        whose = one.team == row.principal_id
    elif row.principal_type == PrincipalType.USER:
        whose = one.team.is_(None) & (one.owner_id == row.principal_id)
    return exists_still() & whose
