"""The wire contract of dry runs of unsaved domains: their tool servers, their first request."""

from typing import Annotated

from pydantic import Field

from backend.schemas.bounds import UpperBound
from backend.schemas.domains.templates import DomainTemplate
from backend.schemas.ids import DomainId
from backend.schemas.wire import Input, Wire
from backend.types import JSON

LONGEST_QUESTION = 20_000


class ServersTrial(Input):
    """An unsaved domain whose tool servers are to be checked."""

    template: DomainTemplate
    domain_id: DomainId | None = Field(
        None,
        description="The stored domain that is being edited, whose accepted tools count as"
        " accepted. Absent: a new domain.",
    )


class RequestTrial(ServersTrial):
    """An unsaved domain, and a question for one of its agents."""

    agent: str | None = Field(None, max_length=80, description="Absent: the first agent.")
    question: Annotated[str, Field(min_length=1), UpperBound(LONGEST_QUESTION)]


class FirstRequest(Wire):
    """Exactly what a model would be sent first; nothing is sent or stored.

    If `problem` is set, it says why a turn could not begin, and there is no request.
    """

    agent: str
    model: str = ""
    messages: list[JSON] = Field([], description="As they would be sent, system prompt first.")
    tools: list[JSON] = Field([], description="As they would be sent, with their parameters.")
    settings: JSON = Field({}, description="The rest of the request: model, stream, and so on.")
    purpose: str = Field(
        "", description="`answer`, or the middleware that calls a model before the agent does."
    )
    notices: list[str] = Field([], description="Notices that people would see, in sentences.")
    problem: str | None = None
