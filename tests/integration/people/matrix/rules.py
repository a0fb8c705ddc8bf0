"""What each operation of the API needs, as this test expects it: written down, not read from code.

An operation that is not here fails the test: whoever adds one says here who may call it.
"""

from dataclasses import dataclass

from backend.schemas.people.rights import Permission, Right
from backend.types import JSON

# Operations without a token, each with its reason.
PUBLIC = {
    "GET /healthz": "probes of the machine have no token",
    "GET /readyz": "probes of the machine have no token",
    "GET /sign-in-ways": "the page to sign in is drawn from it",
    "POST /sign-ins": "it is how people get a token",
    "POST /sign-ins/oidc": "it is how people get a token",
    "POST /sign-ins/oidc/answer": "it is how people get a token",
    "GET /sign-ins/proxy": "it asks for the key of the pages' server instead",
    "POST /sign-ins/proxy": "it asks for the key of the pages' server instead",
    "GET /one-time-links/{token}": "the link is the token",
    "POST /one-time-links/{token}": "the link is the token",
}


@dataclass(frozen=True)
class Needs:
    """What an operation needs of the thing that it names: a right, or else a permission.

    Without either, it names nothing of anybody: it is about the caller, or about everybody.
    """

    right: Right | None = None
    of_owner: bool = False  # only those do it whose session it is
    permission: Permission | None = None
    by_review: bool = True  # whether those may who read because they review
    body: JSON | None = None
    query: JSON | None = None

    @property
    def is_of_session(self) -> bool:
        """Whether the operation names a session, or something in one."""
        return self.right is not None or self.of_owner


def reads(**query: object) -> Needs:
    return Needs(Right.READ, query=query or None)


def continues(**body: object) -> Needs:
    return Needs(Right.CONTINUE, body=body or None)


def owns(
    permission: Permission | None = None, body: JSON | None = None, query: JSON | None = None
) -> Needs:
    return Needs(of_owner=True, permission=permission, body=body, query=query)


def needs(permission: Permission, **body: object) -> Needs:
    return Needs(permission=permission, body=body or None)


QUERY = {"source": "none", "sql": "SELECT 1"}  # it fails for who may ask
OPERATE = Permission.OPERATE

# Names in braces are filled in: in bodies and queries those of the thing that is asked for.
OF_SESSIONS = {
    "GET /approvals/{approval_id}": reads(),
    "POST /approvals/{approval_id}/decision": continues(type="approve"),
    "GET /artifacts/{artifact_id}": reads(),
    "GET /artifacts/{artifact_id}/diff": reads(before=1, after=1),
    "GET /artifacts/{artifact_id}/versions/{version}": reads(),
    "GET /artifacts/{artifact_id}/versions/{version}/download": reads(format="md"),
    "GET /artifacts/{artifact_id}/versions/{version}/table": reads(),
    "GET /images/{image_id}": reads(),
    "POST /images/{image_id}/chat": continues(message="Hello"),
    "GET /images/{image_id}/events": reads(),
    "GET /images/{image_id}/messages": reads(),
    "POST /images/{image_id}/stop": Needs(Right.CONTINUE),
    "DELETE /sessions/{session_id}": owns(OPERATE),
    "GET /sessions/{session_id}": reads(),
    "PATCH /sessions/{session_id}": owns(body={"title": "Theirs now"}),
    "GET /sessions/{session_id}/agents": reads(),
    "GET /sessions/{session_id}/allowed_tools": reads(),
    "DELETE /sessions/{session_id}/allowed_tools/{tool}": continues(),
    "GET /sessions/{session_id}/artifacts": reads(),
    "POST /sessions/{session_id}/branch": continues(turn_id="{turn_id}"),
    "GET /sessions/{session_id}/branches": reads(),
    "GET /sessions/{session_id}/calls": reads(),
    "GET /sessions/{session_id}/calls/{version}/{number}": reads(),
    "POST /sessions/{session_id}/chat": continues(message="Hello"),
    "POST /sessions/{session_id}/clear": continues(),
    "POST /sessions/{session_id}/continue": Needs(Right.READ, by_review=False),
    "GET /sessions/{session_id}/drift": reads(),
    "GET /sessions/{session_id}/events": reads(),
    "GET /sessions/{session_id}/export": reads(),
    "GET /sessions/{session_id}/grants": owns(),
    "PUT /sessions/{session_id}/grants": owns(body={"principal_type": "everyone"}),
    "DELETE /sessions/{session_id}/grants": owns(query={"principal_type": "everyone"}),
    "GET /sessions/{session_id}/image": reads(),
    "GET /sessions/{session_id}/inspection": reads(),
    "GET /sessions/{session_id}/links": owns(),
    "POST /sessions/{session_id}/links": owns(),
    "DELETE /sessions/{session_id}/links/{link_id}": owns(),
    "GET /sessions/{session_id}/messages": reads(),
    "POST /sessions/{session_id}/query": continues(**QUERY),
    "POST /sessions/{session_id}/query/artifact": continues(**QUERY, title="Kept"),
    "POST /sessions/{session_id}/rebuild": continues(),
    "GET /sessions/{session_id}/messages/{message_id}/query": reads(),
    "GET /sessions/{session_id}/messages/{message_id}/tables/{number}": reads(),
    "GET /sessions/{session_id}/results/{result_id}": reads(),
    "GET /sessions/{session_id}/reviews": owns(),
    "GET /sessions/{session_id}/state": reads(),
    "PUT /sessions/{session_id}/state": owns(body={"version": 1, "messages": []}),
    "POST /sessions/{session_id}/stop": Needs(Right.CONTINUE),
    "GET /sessions/{session_id}/tasks": reads(),
    "GET /sessions/{session_id}/turns": reads(),
    "POST /sessions/{session_id}/undelete": owns(OPERATE),
    "GET /sessions/{session_id}/usage": reads(),
    "GET /sessions/{session_id}/usage/turns": reads(ids="{turn_id}"),
    "POST /tasks/{task_id}/decision": continues(decision="stop"),
    "GET /turns/{turn_id}": reads(),
    "POST /turns/{turn_id}/decisions": continues(decisions=[{"type": "approve"}]),
    "POST /turns/{turn_id}/edit": continues(message="Hello"),
    "POST /turns/{turn_id}/feedback": Needs(Right.READ, by_review=False, body={"rating": "up"}),
    "DELETE /turns/{turn_id}/feedback": Needs(Right.READ, by_review=False),
    "POST /turns/{turn_id}/retry": continues(),
    "POST /turns/{turn_id}/stop": Needs(Right.CONTINUE, permission=OPERATE),
    # The session is named in the body or in the query.
    "POST /chat": continues(message="Hello", session_id="{session_id}"),
    "GET /files": reads(session_id="{session_id}"),
    "GET /search": reads(q="Tangerine", session_id="{session_id}"),
}

# Who may review others' sessions is told here to say why first.
ASKS_WHY = {"GET /sessions/{session_id}", "GET /images/{image_id}"}

# What people uploaded is theirs, whoever else is in the session.
OF_FILES = {
    "DELETE /files/{file_id}": owns(),
    "GET /files/{file_id}": owns(),
    "PATCH /files/{file_id}": owns(body={}),
    "GET /files/{file_id}/content": owns(),
    "POST /files/{file_id}/preview": owns(body={}),
    "GET /files/{file_id}/sample": owns(),
}

# Permissions to look, which tokens leave that only read.
TO_LOOK = {
    Permission.REVIEW_SESSIONS,
    Permission.SEE_WORK,
    Permission.SEE_ALL_USAGE,
    Permission.READ_AUDIT,
}
DOMAINS = Permission.MANAGE_DOMAINS
SERVERS = Permission.MANAGE_SERVERS
MODELS = Permission.MANAGE_MODELS
PEOPLE = Permission.MANAGE_PEOPLE
PROVIDER = {"issuer": "https://127.0.0.1:9", "client_id": "c", "client_secret": "a secret"}
GRANT = {"resource_type": "domain", "resource_id": "{random}", "principal_type": "everyone"}
CONNECTION = {"base_url": "http://127.0.0.1:9/v1", "default_model": "m", "api_key": "key"}

# What concerns the whole installation, with the permission that it needs.
OF_INSTALLATION = {
    "GET /audit": needs(Permission.READ_AUDIT),
    "GET /audit/export": needs(Permission.READ_AUDIT),
    "GET /audit/kinds": needs(Permission.READ_AUDIT),
    "GET /grants": Needs(permission=PEOPLE, query={"resource_type": "session"}),
    "PUT /grants": needs(
        PEOPLE,
        resource_type="domain",
        resource_id="{random}",
        principal_type="everyone",
        right="use",
    ),
    "DELETE /grants": Needs(permission=PEOPLE, query=GRANT),
    "GET /budgets": needs(PEOPLE),
    "PUT /budgets/{principal_type}/{principal_id}": needs(PEOPLE, tokens=1),
    "DELETE /budgets/{principal_type}/{principal_id}": needs(PEOPLE),
    "GET /feedback": needs(Permission.REVIEW_SESSIONS),
    "GET /identity-providers": needs(PEOPLE),
    "POST /identity-providers": needs(PEOPLE, id="new", name="New", **PROVIDER),
    "POST /identity-provider-tests": needs(PEOPLE, **PROVIDER),
    "PATCH /identity-providers/{provider_id}": needs(PEOPLE, name="Changed"),
    "DELETE /identity-providers/{provider_id}": needs(PEOPLE),
    "GET /model-prices": needs(MODELS),
    "PUT /model-prices": needs(MODELS, model="m", input=1, output=1),
    "DELETE /model-prices": Needs(permission=MODELS, query={"model": "m"}),
    "POST /domains": needs(DOMAINS, name="A new one {random}"),
    "POST /domains/check": needs(DOMAINS, name="A new one"),
    "POST /domains/check/request": needs(DOMAINS, template={"name": "x"}, question="Hello"),
    "POST /domains/check/servers": needs(DOMAINS, template={"name": "x"}),
    "DELETE /domains/{domain_id}": needs(DOMAINS),
    "PATCH /domains/{domain_id}": needs(DOMAINS, description="Changed"),
    "POST /domains/{domain_id}/duplicate": needs(DOMAINS, name="A copy {random}"),
    "GET /domains/{domain_id}/servers": needs(SERVERS),
    "GET /domains/{domain_id}/tool-versions": needs(SERVERS),
    "PATCH /domains/{domain_id}/tool-versions/{version_id}": needs(SERVERS, status="accepted"),
    "POST /domains/{domain_id}/versions/{version}/restore": needs(DOMAINS),
    "DELETE /model-connection": needs(MODELS),
    "GET /model-connection": needs(MODELS),
    "PUT /model-connection": needs(MODELS, **CONNECTION),
    "POST /model-connection/test": needs(MODELS, **CONNECTION),
    "GET /people": needs(PEOPLE),
    "POST /people": needs(PEOPLE, name="Somebody new"),
    "GET /people/{user_id}": needs(PEOPLE),
    "PATCH /people/{user_id}": needs(PEOPLE, name="Somebody"),
    "POST /people/{user_id}/reset-link": needs(PEOPLE),
    "GET /people/{user_id}/reach": needs(PEOPLE),
    "GET /people/{user_id}/tokens": needs(PEOPLE),
    "POST /people/{user_id}/tokens": needs(PEOPLE, name="a program"),
    "DELETE /people/{user_id}/tokens/{token_id}": needs(PEOPLE),
    "GET /retention": needs(OPERATE),
    "POST /retention": needs(OPERATE),
    "GET /sessions/csv": needs(Permission.REVIEW_SESSIONS),
    "GET /teams": needs(PEOPLE),
    "POST /teams": needs(PEOPLE, name="A team {random}"),
    "DELETE /teams/{team_id}": needs(PEOPLE),
    "PATCH /teams/{team_id}": needs(PEOPLE, name="A team {random}"),
    "PUT /teams/{team_id}/members/{user_id}": needs(PEOPLE),
    "DELETE /teams/{team_id}/members/{user_id}": needs(PEOPLE),
    "POST /sessions/{session_id}/reviews": needs(Permission.REVIEW_SESSIONS, reason="Asked to"),
    "GET /work": needs(Permission.SEE_WORK),
    "POST /workers/{name}/drain": needs(OPERATE),
    "GET /metrics": needs(Permission.SEE_WORK),
}

# Everybody's, or the caller's own: nothing that it names can be somebody else's.
OF_CALLER = {
    "GET /account": Needs(),
    "POST /account/password": Needs(body={"old": "x", "new": "five random words for me"}),
    "GET /account/tokens": Needs(),
    "POST /account/tokens": Needs(body={"name": "a program"}),
    "DELETE /account/tokens/{token_id}": Needs(),
    "GET /agents": Needs(),
    "GET /approvals": Needs(),
    "GET /approvals/count": Needs(),
    "GET /catalog": Needs(),
    "GET /domains": Needs(),
    "GET /domains/{domain_id}": Needs(),
    "GET /domains/{domain_id}/agents": Needs(),
    "GET /domains/{domain_id}/versions": Needs(),
    "GET /domains/{domain_id}/versions/{version}": Needs(),
    "GET /export": Needs(),
    "POST /files": Needs(),
    "GET /imports": Needs(),
    "POST /imports": Needs(),
    "GET /imports/{import_id}": Needs(),
    "POST /imports/{import_id}/cancel": Needs(),
    "POST /imports/{import_id}/start": Needs(body={}),
    "GET /principals": Needs(),
    "GET /server": Needs(),
    "GET /sessions": Needs(),
    "POST /sessions": Needs(body={}),
    "GET /shared/{token}": Needs(),
    "GET /shared/{token}/messages": Needs(),
    "GET /shared/{token}/messages/{message_id}/query": Needs(),
    "GET /shared/{token}/messages/{message_id}/tables/{number}": Needs(),
    "GET /shared/{token}/results/{result_id}": Needs(),
    "DELETE /sign-ins": Needs(),
    "GET /sign-ins": Needs(),
    "DELETE /sign-ins/{sign_in_id}": Needs(),
    "GET /sources": Needs(),
    "GET /sources/{name}": Needs(),
    "GET /sources/{name}/sample": Needs(),
    "GET /tasks": Needs(),
    "GET /usage": Needs(),
    "GET /usage/choices": Needs(),
    "GET /usage/own": Needs(),
    "GET /webhooks": Needs(),
    "POST /webhooks": Needs(body={"name": "Ours", "url": "https://example.com"}),
    "GET /webhooks/{webhook_id}": Needs(),
    "PATCH /webhooks/{webhook_id}": Needs(body={"is_paused": True}),
    "DELETE /webhooks/{webhook_id}": Needs(),
    "POST /webhooks/{webhook_id}/test": Needs(),
    "POST /webhooks/{webhook_id}/secret": Needs(),
    "GET /webhooks/{webhook_id}/deliveries": Needs(),
    "POST /webhooks/{webhook_id}/deliveries/{delivery_id}/retry": Needs(),
}

ALL = {**OF_SESSIONS, **OF_FILES, **OF_INSTALLATION, **OF_CALLER}
