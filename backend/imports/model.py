"""What every reader of a foreign format returns: one pure structure of a conversation."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class Text:
    """A text, in Markdown."""

    text: str


@dataclass(frozen=True)
class Thinking:
    """What a model thought before it answered."""

    text: str


@dataclass(frozen=True)
class Call:
    """A call of a tool; `arguments`: an object, or the text that was to be one."""

    call_id: str
    name: str
    arguments: Any


@dataclass(frozen=True)
class Result:
    """What a call returned; `call_id` names the call, which is in a message before."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Attachment:
    """A file. `where`: an entry of the upload, or a `data:` URL; None: the export lacks it."""

    name: str
    media_type: str
    where: str | None


Part = Text | Thinking | Call | Result | Attachment


@dataclass(frozen=True)
class ImportedMessage:
    """A message, with its place in the tree; ids are those of the source, and need be no UUIDs."""

    id: str
    parent_id: str | None
    role: Role
    parts: list[Part]
    created_at: datetime | None = None
    author: str | None = None  # an agent's or person's name there
    model: str | None = None


@dataclass(frozen=True)
class ImportedConversation:
    """A conversation as another program exported it.

    `messages` is a tree by `parent_id`, in any order: several children of one parent are branches.
    A reader hands over what it found; cycles, orphans and duplicates are resolved by the writer.
    """

    source: str  # the format, such as "chatgpt"
    source_id: str  # its id there: importing it again finds it
    title: str
    messages: list[ImportedMessage]
    current: str | None = None  # the last message of the active branch; None: the last message
    created_at: datetime | None = None
    updated_at: datetime | None = None
    model: str | None = None  # a name only
    notes: list[str] = field(default_factory=list)  # what was cut, skipped or guessed, a sentence


@dataclass(frozen=True)
class Skipped:
    """A conversation, or another part of the upload, that cannot be read, and why: a sentence."""

    source_id: str
    title: str
    reason: str


@dataclass(frozen=True)
class StoredConversation:
    """A session as Colloquy itself exported it: checked records, by the kind of their line."""

    source: str
    source_id: str
    title: str
    head: Any
    records: dict[str, list[Any]]
    digest: str
    notes: list[str] = field(default_factory=list)
