"""The API client: typed with the wire contract, with readable errors.

Calls made by a single page are in `ui.features.*.calls`.
"""

import os
from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx
from pydantic import ValidationError

from backend.addresses import read_servers
from backend.schemas.conversations.sessions import (
    ChatRequest,
    ChatResponse,
    DisplayMessage,
    MessagePage,
    NewChatRequest,
    NewSession,
    Problem,
    Session,
)
from backend.schemas.conversations.turns import Turn, TurnPage
from backend.schemas.operations.server import ServerInfo
from backend.schemas.operations.work import Work, WorkerInfo
from backend.schemas.people.account import UNATTENDED
from backend.schemas.wire import Wire
from backend.web.replicas import Replicas, ReplicaTransport
from backend.web.request_ids import naming

API_URL = "http://127.0.0.1:8000"  # unless the environment has another one, or several
BROWSERS_API = "/colloquy/api"  # where the pages' server passes on what a browser asks of it
TIMEOUT = httpx.Timeout(30.0, connect=3.0)
UPLOADING = httpx.Timeout(600.0, connect=3.0)  # an import is read whole before the answer
ANSWER_LATER = "respond-async"
MAX_PAGE = 200  # messages

Model = TypeVar("Model", bound=Wire)


class ClientError(Exception):
    """The service refused or failed; `title` and `detail` are sentences for a person."""

    def __init__(self, title: str, detail: str, status: int = 0) -> None:
        self.title = title
        self.detail = detail
        self.status = status
        super().__init__(f"{title}: {detail}")


class ServiceUnavailable(ClientError):
    """The service cannot be reached or cannot answer at the moment."""


class NotFound(ClientError):
    """The resource does not exist, or the caller has no access to it."""


class ReasonNeeded(ClientError):
    """The session is somebody else's, and may be read once a reason was given."""

    def __init__(self, session_id: UUID, problem: ClientError) -> None:
        super().__init__(problem.title, problem.detail, problem.status)
        self.session_id = session_id


def authorization(token: str | None) -> dict[str, str]:
    """Return the header that says who calls; with None nobody does."""
    return {"Authorization": f"Bearer {token}"} if token else {}


def _name(request: httpx.Request) -> None:
    request.headers.update(naming())


def api_servers() -> tuple[str, ...]:
    """Return the addresses of the API, any of which may be asked. Raise ValueError."""
    return read_servers(os.environ.get("API_URL") or API_URL)


def connections(servers: Sequence[str]) -> httpx.BaseTransport:
    """Return connections to the API. Clients of several people may share them."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    retries = 0 if len(servers) > 1 else 1
    inner = httpx.HTTPTransport(retries=retries, limits=limits)
    return ReplicaTransport(Replicas(servers), inner)


class Client:
    """Calls the API as one person; safe to share between threads.

    `token`: of the person's sign-in; None where nobody signs in.
    """

    def __init__(
        self,
        servers: Sequence[str] = (API_URL,),
        token: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.servers = servers
        self.token = token
        self.http = httpx.Client(
            base_url=f"{servers[0]}/api/v1/",
            timeout=TIMEOUT,
            transport=transport or connections(servers),
            headers=authorization(token),
            event_hooks={"request": [_name]},
        )

    def server(self) -> ServerInfo:
        """Return the caller, the model that answers, and whether a worker is alive."""
        return self.get(ServerInfo, "server")

    def session(self, session_id: UUID) -> Session:
        """Return one session. Raise NotFound, or ReasonNeeded for a reviewer's first look."""
        try:
            return self.get(Session, f"sessions/{session_id}")
        except ClientError as problem:
            if problem.status == httpx.codes.FORBIDDEN:
                raise ReasonNeeded(session_id, problem) from problem
            raise

    def new_session(self, domain: str | None = None, team: str | None = None) -> Session:
        """Make an empty session, from the default domain unless one is named."""
        body = NewSession(domain=domain, team=team).model_dump(mode="json", exclude_none=True)
        return self.call(Session, "POST", "sessions", json=body)

    def delete_file(self, file_id: UUID) -> None:
        """Delete an uploaded file permanently."""
        self.send("DELETE", f"files/{file_id}")

    def messages(
        self,
        session_id: UUID,
        *,
        limit: int = 50,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
    ) -> MessagePage:
        """Return the latest messages of the active branch, or those at a position, in order."""
        path = f"sessions/{session_id}/messages"
        place = {"before": before, "after": after, "around": around}
        return self.get(MessagePage, path, limit=limit, branch="active", **place)

    def messages_after(self, session_id: UUID, position: int) -> list[DisplayMessage]:
        """Return all messages of the active branch after a position, in order."""
        path, after = f"sessions/{session_id}/messages", position
        found: list[DisplayMessage] = []
        while True:
            page = self.get(MessagePage, path, limit=MAX_PAGE, after=after, branch="active")
            found += page.items
            if page.next_after is None:
                return found
            after = page.next_after

    def turns(self, session_id: UUID) -> TurnPage:
        """Return the unfinished turns of a session, in order; the first one is running or next."""
        return self.get(TurnPage, f"sessions/{session_id}/turns")

    def turn(self, turn_id: UUID) -> Turn:
        """Return one turn."""
        return self.get(Turn, f"turns/{turn_id}")

    def send_message(
        self,
        session_id: UUID | None,
        text: str,
        key: str,
        *,
        domain: str | None = None,
        model: str | None = None,
        team: str | None = None,
    ) -> ChatResponse:
        """Submit a message and return without waiting; without a session, make one from a domain.

        The same `key` and text return the same turn, however often they are sent.
        """
        path = f"sessions/{session_id}/chat" if session_id else "chat"
        new = NewChatRequest(message=text, domain=domain, model=model, team=team)
        body: Wire = ChatRequest(message=text, model=model) if session_id else new
        headers = {"Idempotency-Key": key, "Prefer": ANSWER_LATER}
        json = body.model_dump(mode="json", exclude_none=True)
        return self.call(ChatResponse, "POST", path, json=json, headers=headers)

    def stop_turn(self, turn_id: UUID) -> Turn:
        """Stop a running turn, or take a queued one out of the queue; return it as it is then."""
        return self.call(Turn, "POST", f"turns/{turn_id}/stop")

    def retry_turn(self, turn_id: UUID) -> None:
        """Run a failed or stopped turn again."""
        self.send("POST", f"turns/{turn_id}/retry")

    def work(self) -> Work:
        """Return running, waiting and failed turns, and the workers; for administrators."""
        return self.call(Work, "GET", "work", headers=UNATTENDED)  # the page asks by itself

    def drain_worker(self, name: str) -> WorkerInfo:
        """Let a worker finish its turns, take no new ones, and stop; for administrators."""
        return self.call(WorkerInfo, "POST", f"workers/{quote(name, safe='')}/drain")

    def rebuild_session(self, session_id: UUID) -> None:
        """Rebuild the session's agent state from its messages."""
        self.send("POST", f"sessions/{session_id}/rebuild")

    def get(self, model: type[Model], path: str, /, **params: Any) -> Model:
        """Read one resource; parameters that are None are omitted."""
        given = {name: value for name, value in params.items() if value is not None}
        return self.call(model, "GET", path, params=given)

    def call(self, model: type[Model], method: str, path: str, **options: Any) -> Model:
        """Make one call and parse its response; `options` are passed to httpx."""
        response = self.send(method, path, **options)
        try:
            return model.read(response.content)
        except ValidationError as error:
            raise ServiceUnavailable(
                "The service gave an unexpected answer",
                "The pages and the API have different versions. Restart both, then reload.",
                response.status_code,
            ) from error

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Make one call. Raise ClientError with the service's own message."""
        try:
            response = self.http.request(method, path, **options)
        except httpx.TransportError as error:
            raise unreachable(self.servers) from error
        if response.is_success:
            return response
        raise refusal(response)


def unreachable(servers: Sequence[str]) -> ServiceUnavailable:
    """Return the error for an API that does not answer."""
    return ServiceUnavailable(
        "The service does not answer",
        f"Nothing is lost: turns go on without this page. Start the API (`make run`, or `make api`)"
        f" at {' or '.join(servers)}; this page reconnects by itself.",
    )


def refusal(response: httpx.Response) -> ClientError:
    """Return the error of a response, from its problem document if it has one."""
    try:
        problem = Problem.model_validate_json(response.content)
        title, detail = problem.title, problem.detail
    except ValidationError:
        title, detail = "The service could not answer", f"HTTP status {response.status_code}."
    if response.status_code == httpx.codes.NOT_FOUND:
        return NotFound(title, detail, response.status_code)
    if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
        return ServiceUnavailable(title, detail, response.status_code)
    return ClientError(title, detail, response.status_code)
