"""The wire contract of trying a domain before it is stored: its tool servers, its first request."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from backend.schemas.bounds import Most
from backend.schemas.domains.templates import DomainTemplate
from backend.schemas.wire import Input, Wire
from backend.types import JSON

LONGEST_QUESTION = 20_000


class ServersTrial(Input):
    """A domain as it would be, whose tool servers are to be looked at."""

    template: DomainTemplate
    domain_id: UUID | None = Field(
        None,
        description="The stored domain that is edited: credentials that come back masked are"
        " taken from it, and its tools are known by what was accepted. Absent: a new one.",
    )


class RequestTrial(ServersTrial):
    """A domain as it would be, and a question that its agent would be asked."""

    agent: str | None = Field(None, max_length=80, description="Absent: the first one.")
    question: Annotated[str, Field(min_length=1), Most(LONGEST_QUESTION)]


class FirstRequest(Wire):
    """Exactly what a model would be sent first; nothing was sent, and nothing was stored.

    With a `problem`, which says why a turn could not begin, there is no request.
    """

    agent: str
    model: str = ""
    messages: list[JSON] = Field([], description="As they would be sent, the system prompt first.")
    tools: list[JSON] = Field([], description="As they would be sent: with their parameters.")
    settings: JSON = Field({}, description="The rest of the request: model, stream, and so on.")
    purpose: str = Field(
        "", description="`answer`; otherwise which middleware asks a model before the agent does."
    )
    notices: list[str] = Field([], description="What people would be told, in sentences.")
    problem: str | None = None
