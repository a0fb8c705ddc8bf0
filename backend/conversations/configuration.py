"""How a conversation's configuration differs from its domain's current one."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations.service import visible_to
from backend.domains import service as domains
from backend.domains.allowed import Allowed
from backend.domains.drift import diff_templates
from backend.domains.secrets import check_secrets
from backend.domains.template import template_of
from backend.domains.tool_servers import check_servers
from backend.errors.conversations import SessionNotFound
from backend.errors.domains import DomainNotFound
from backend.schemas.domains.configuration import Drift
from db.models.conversations.conversation import ConversationRow


def get_drift(session: Session, scope: Scope, conversation_id: UUID, allowed: Allowed) -> Drift:
    """Return how the domain differs from the image, and what prevents turns from running.

    Raise SessionNotFound.
    """
    row = ConversationRow
    found = session.execute(
        select(row.image, row.domain_id, row.domain_version).where(
            row.id == conversation_id, visible_to(scope)
        )
    ).one_or_none()
    if found is None:
        raise SessionNotFound
    image = template_of(found.image)
    refused, missing = check_secrets(image.mcp_servers, allowed.secrets)
    not_allowed = check_servers(image.mcp_servers, allowed)
    drift = Drift(
        domain_exists=False,
        image_version=found.domain_version,
        changes=[],
        warnings=[fault.message for fault in (*refused, *missing, *not_allowed)],
    )
    if found.domain_id is None:
        return drift
    try:
        domain = domains.get(session, scope, found.domain_id)
    except DomainNotFound:  # deleted between the two reads
        return drift
    drift.domain_exists, drift.archived = True, domain.archived
    drift.domain_version = domain.version
    drift.changes = diff_templates(image, domains.template_in(domain))
    return drift
