"""The wire contract of sessions: sessions, messages to them, and what they show."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field, computed_field

from backend.schemas.bounds import ModelName
from backend.schemas.conversations.turns import TurnStatus, WaitsFor
from backend.schemas.ids import Kind, SessionId, with_prefix
from backend.schemas.people.rights import SessionRights
from backend.schemas.wire import Change, Input, Wire
from backend.types import JSON
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType

MAX_MESSAGE_CHARS = 2_000_000
MAX_TITLE_CHARS = 200
MAX_KEY_CHARS = 255
MAX_DELETION_SECONDS = 86_400


class SessionOrder(StrEnum):
    """The order of a list of sessions: ascending, or descending with a leading `-`."""

    LATEST = "-updated_at"
    LONGEST_UNUSED = "updated_at"
    NEWEST = "-created_at"
    OLDEST = "created_at"
    TITLE = "title"
    TITLE_REVERSED = "-title"

    @property
    def column(self) -> str:
        """The field to sort by."""
        return self.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        """Whether the largest value comes first."""
        return self.startswith("-")


class ChatRequest(Input):
    """A person's message to a session's agent."""

    message: str = Field(
        examples=["What's the budget for CC-1001?"],
        json_schema_extra={"minLength": 1, "maxLength": MAX_MESSAGE_CHARS},  # more is 413
    )
    agent: str | None = Field(
        None,
        description="The agent to ask. Absent: the session's first; where there is a manager, the"
        " agent that the message mentions or continues with, else the manager.",
    )
    model: ModelName | None = Field(
        None,
        description="The model to ask, one that the domain offers; later turns keep it."
        " Absent: the last choice, else the domain's default.",
    )


class NewChatRequest(ChatRequest):
    """A person's message; without `session_id` it starts a new session."""

    session_id: SessionId | None = None
    domain: str | None = Field(
        None,
        description="A domain's name or id, for a new session; with `session_id`, that session's.",
    )
    team: str | None = Field(
        None,
        description="For a new session: the id of a team of the caller's that it belongs to."
        " Absent: it is the caller's.",
    )


class ChatResponse(Wire):
    """The turn that a message started; `response` is null until the turn has ended."""

    session_id: UUID
    turn_id: UUID
    status: TurnStatus
    response: str | None = Field(examples=["CC-1001 has a budget of 1,200,000 EUR for 2026."])
    agent: str = Field(examples=["assistant"])


class NewSession(Input):
    """A session to create."""

    title: str | None = Field(None, max_length=MAX_TITLE_CHARS)
    domain: str | None = Field(
        None, description="A domain's name or id; absent: the default domain."
    )
    team: str | None = Field(
        None,
        description="The id of a team of the caller's that the session belongs to. Absent: it is"
        " the caller's.",
    )


class SessionChange(Change):
    """The changes to a session; absent fields stay unchanged."""

    title: str = Field("", max_length=MAX_TITLE_CHARS)
    pinned: bool = False
    archived: bool = False
    team: str | None = Field(
        None,
        description="The id of a team of the caller's that the session belongs to from now on;"
        " null: it is its owner's again.",
    )


class SessionFigures(Wire):
    """What a session of anybody has used and what people think of it, for reviewers."""

    team: str | None = Field(description="The name of the team that it belongs to.")
    agent: str | None = Field(description="The agent that had its latest turn.")
    tokens: int = Field(description="Input and output.")
    cost: float
    errors: int = Field(description="Turns that failed.")
    thumbs_up: int
    thumbs_down: int


class PrefixedIds(Wire):
    """The ids of a session, its image and its domain, each behind its prefix."""

    session: str = Field(examples=["sess_8d9d4c57-4d43-4f8a-9a55-7d3e0f4a1b2c"])
    image: str
    domain: str | None


class Session(Wire):
    """A conversation, as people see it."""

    id: UUID
    title: str
    domain: str
    domain_id: UUID | None
    image_id: UUID
    status: TurnStatus | Literal["idle"]
    waits_for: WaitsFor | None = Field(
        None,
        description="What a waiting session waits for: people also where one of its tasks waits for"
        " them. Null: it continues as soon as a worker is free.",
    )
    has_failed: bool = Field(False, description="The latest turn of its active branch failed.")
    pinned: bool
    archived: bool
    message_count: int
    turn_count: int
    branch: int | None = Field(None, description="The active branch; null: never forked.")
    model: str | None = Field(
        None, description="The model that was chosen last; null: the default."
    )
    models: list[str] | None = Field(
        None,
        description="Other models that may be chosen; null in lists of sessions.",
    )
    default_model: str | None = Field(
        None,
        description="The model used when none is chosen; null: the installation's, and in lists.",
    )
    parent_id: UUID | None = Field(
        None,
        description="The session whose plan has the task that runs here; only that plan sends it"
        " messages. Null: a session that people write to.",
    )
    deletes_at: datetime | None = Field(
        None, description="When it is deleted, unless this is undone; null: it stays."
    )
    owner: str
    owner_name: str | None = Field(
        None, description="The owner's name; null in lists, where the caller owns it."
    )
    review_ends_at: datetime | None = Field(
        None,
        description="Until when the caller may read this session, which is somebody else's, as its"
        " reviewer; null: it is not reviewed, and in lists.",
    )
    review_count: int = Field(
        0, description="How often it was reviewed; its owner may see by whom. 0 in lists."
    )
    figures: SessionFigures | None = Field(None, description="null unless `scope=all`.")
    team: str | None = Field(
        None, description="The id of the team that it belongs to; null: it is its owner's."
    )
    team_name: str | None = None
    rights: SessionRights = Field(
        SessionRights.OWN, description="What the caller may do here; each holds those before it."
    )
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime = Field(
        description="When somebody last read or wrote in it, to the minute. A review is no access."
    )

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own way
    @property
    def prefixed_ids(self) -> PrefixedIds:
        """The same ids as `id`, `image_id` and `domain_id`; either form is accepted."""
        domain = self.domain_id and with_prefix(Kind.DOMAIN, self.domain_id)
        return PrefixedIds(
            session=with_prefix(Kind.SESSION, self.id),
            image=with_prefix(Kind.IMAGE, self.image_id),
            domain=domain,
        )


class Image(Wire):
    """The configuration that a session was created with, and keeps; each session has its own."""

    id: UUID
    session_id: UUID
    domain_id: UUID | None
    prefixed_ids: PrefixedIds
    configuration: JSON


class SessionPage(Wire):
    """One page of sessions, most recently used first by default."""

    items: list[Session]
    next_cursor: str | None


class DisplayMessage(Wire):
    """One piece of content in a session's history."""

    id: UUID
    position: int
    message_type: MessageType
    content_type: ContentType
    content: JSON
    sequence: int
    status: MessageStatus
    agent: str | None
    turn_id: UUID | None
    created_at: datetime
    metadata: JSON = Field(
        description="What belongs to it beside its content. `model_name`: the model that answered;"
        " `usage`: the tokens of that model call, in the row of the message's text, else in its"
        " first row: `{input_tokens, cached_tokens, output_tokens, reasoning_tokens}`, absent where"
        " the endpoint reports none; `table`, `result_id`: a tool's table or file, of whose"
        " columns `kind` (and `number`) say how cells are written, where messages are listed;"
        " `author`: who wrote it, where people sign in."
    )


class MessagePage(Wire):
    """One page of display messages, by ascending position; a null cursor: there are no more."""

    items: list[DisplayMessage]
    next_before: int | None
    next_after: int | None


class EventContext(Wire):
    """The session, image, agent and turn that an event belongs to."""

    domain_id: UUID | None
    session_id: UUID
    image_id: UUID
    agent_id: str
    turn_id: UUID


class Problem(BaseModel):
    """An error, as RFC 9457 defines it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str | None = None
    request_id: str | None = Field(
        None,
        description="Under which the logs have what happened: the X-Request-ID of the request, or"
        " a new one. Each response has it as a header, too.",
    )
