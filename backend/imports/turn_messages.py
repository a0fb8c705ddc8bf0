"""One imported turn as messages of the agent state and as display messages. Pure.

The state's messages are repaired first, so that each call has its one result, and both views are
made of the same ones.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice, takewhile
from uuid import uuid4

from backend.conversations import display
from backend.imports.model import (
    Attachment,
    Call,
    ImportedMessage,
    Part,
    Result,
    Text,
    Thinking,
)
from backend.schemas.conversations.sessions import MAX_MESSAGE_CHARS
from backend.types import JSON
from colloquy_kit.messages.arguments import MODEL_NAME, REASONING, write_arguments
from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.display import Draft, call_status, notice, user_text
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from colloquy_kit.messages.repair import repair

NO_RESULT = "The export has no result of this call."
CUT = "\n\n[The rest was cut: the text is longer than {:,} characters.]"
_NAMELESS = "tool"


@dataclass
class TurnViews:
    """A turn in both views: `drafts` with their times, `messages` of the state."""

    drafts: list[tuple[Draft, datetime | None, Attachment | None]] = field(default_factory=list)
    messages: list[JSON] = field(default_factory=list)
    question: str = ""  # what the person said
    dropped: int = 0  # results whose calls are missing


def make_views(said: Iterable[ImportedMessage], agent: str) -> TurnViews:
    """Return a turn, or what comes before the first one, in both views."""
    views = TurnViews()
    pending: list[JSON] = []  # of the model and its tools, not repaired yet
    sources: dict[str, ImportedMessage] = {}  # by the ids of the state's messages
    # Files of results come behind the results of all calls that were made together.
    held: list[tuple[list[Attachment], ImportedMessage]] = []

    def close() -> None:
        _finish(views, pending, sources, agent)
        for files, message in held:
            _add_files(views, files, message, agent)
        held.clear()

    for message in _with_thoughts(said):
        if message.role in ("user", "system"):
            close()
            _add_said(views, message)
        elif all(isinstance(part, Thinking) for part in message.parts):
            close()
            thought = {"text": _fit("\n\n".join(part.text for part in _thoughts(message)))}
            draft = Draft(MessageType.ASSISTANT, ContentType.THINKING, thought, agent=agent)
            views.drafts.append((draft, message.created_at, None))
        else:
            if held and message.role != "tool":
                close()
            for made in _answers(message):
                sources[made["id"]] = message
                pending.append(made)
            if files := _files(message):
                held.append((files, message))
    close()
    return views


def _with_thoughts(said: Iterable[ImportedMessage]) -> Iterator[ImportedMessage]:
    """Yield the messages; thoughts that are one of their own come with the answer behind them."""
    held: ImportedMessage | None = None
    for message in said:
        is_thought = all(isinstance(part, Thinking) for part in message.parts)
        if held is not None:
            if message.role == "assistant":
                message = replace(message, parts=[*held.parts, *message.parts])
            else:
                yield held
        held = message if message.role == "assistant" and is_thought else None
        if held is None:
            yield message
    if held is not None:
        yield held


def _add_said(views: TurnViews, message: ImportedMessage) -> None:
    """Add what a person said, or a prompt of the other program, which only people see."""
    text = _text(message)
    if message.role == "system":
        if text:
            words = f"Instructions there: {text}"
            views.drafts.append((notice(words), message.created_at, None))
        return
    views.question = views.question or text
    views.drafts.append((user_text(text), message.created_at, None))
    views.messages.append({"role": "user", "content": text, "id": str(uuid4())})
    _add_files(views, _files(message), message, None)


def _add_files(
    views: TurnViews, files: list[Attachment], message: ImportedMessage, agent: str | None
) -> None:
    for file in files:
        is_image = file.media_type.startswith("image/")
        draft = Draft(
            MessageType.TOOL,
            ContentType.IMAGE if is_image else ContentType.FILE,
            {"name": clean(file.name)[:200], "mime_type": clean(file.media_type)[:120]},
            agent=agent,
        )
        views.drafts.append((draft, message.created_at, file))


def _finish(
    views: TurnViews, pending: list[JSON], sources: dict[str, ImportedMessage], agent: str
) -> None:
    """Repair what the model and its tools said, and add it to both views."""
    state, added = repair({"messages": pending}, NO_RESULT)
    repaired: list[JSON] = state["messages"]
    results = sum(message["role"] == "tool" for message in pending)
    views.dropped += results - sum(m["role"] == "tool" for m in repaired) + len(added)
    source: ImportedMessage | None = None
    for message, following in zip(repaired, _following_results(repaired), strict=True):
        source = sources.get(message["id"], source)
        at = source.created_at if source else None
        name = clean(source.author)[:80] if source and source.author else agent
        if message["role"] == "tool":
            drafts = display.tool_drafts(message, None, name)
        else:
            drafts = display.assistant_drafts(message, name, MessageStatus.COMPLETED)
            drafts = [_ended(draft, following) for draft in drafts]
        views.drafts += [(draft, at, None) for draft in drafts]
    views.messages += repaired
    pending.clear()


def _following_results(messages: list[JSON]) -> Iterator[dict[str, JSON]]:
    """Yield for each message the results behind it, by their calls."""
    for place in range(len(messages)):
        found: dict[str, JSON] = {}
        if messages[place]["role"] != "tool":
            behind = islice(messages, place + 1, None)
            for message in takewhile(lambda one: one["role"] == "tool", behind):
                found[message["tool_call_id"]] = message
        yield found


def _ended(draft: Draft, results: dict[str, JSON]) -> Draft:
    if draft.content_type is not ContentType.TOOL_CALL:
        return draft
    return replace(draft, status=call_status(results[draft.content["call_id"]]))


def _answers(message: ImportedMessage) -> Iterator[JSON]:
    """Yield a message of a model or tool as the state has it; a result ends what it follows."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, Result):
            if parts:
                yield _answer(parts, message)
            parts = []
            yield _result(part)
        elif not isinstance(part, Attachment) or message.role == "assistant":
            parts.append(part)
    if any(not isinstance(part, Attachment) for part in parts):
        yield _answer(parts, message)


def _answer(parts: list[Part], message: ImportedMessage) -> JSON:
    thinking = "\n\n".join(part.text for part in parts if isinstance(part, Thinking))
    calls = [part for part in parts if isinstance(part, Call)]
    text = "\n\n".join(part.text for part in parts if isinstance(part, Text) and part.text)
    made: JSON = {"role": "assistant", "content": _fit(text), "id": str(uuid4())}
    if calls:
        made["content"] = made["content"] or None
        made["tool_calls"] = [_call(call) for call in calls]
    if thinking:
        made["additional_kwargs"] = {REASONING: _fit(thinking)}
    if message.model:
        made["response_metadata"] = {MODEL_NAME: clean(message.model)[:200]}
    return made


def _call(call: Call) -> JSON:
    given = call.arguments
    text = given if isinstance(given, str) else write_arguments({} if given is None else given)
    function = {"name": clean(call.name)[:200] or _NAMELESS, "arguments": clean(text)}
    return {"id": clean(call.call_id)[:200], "type": "function", "function": function}


def _result(part: Result) -> JSON:
    made: JSON = {
        "role": "tool",
        "content": _fit(part.text),
        "name": clean(part.name)[:200] or _NAMELESS,
        "id": str(uuid4()),
        "tool_call_id": clean(part.call_id)[:200],
    }
    return made | ({"status": "error"} if part.is_error else {})


def _text(message: ImportedMessage) -> str:
    """Return a message's texts, and a line that names each of its files."""
    texts = [part.text for part in message.parts if isinstance(part, Text) and part.text]
    for file in _files(message):
        missing = ", which the export lacks" if file.where is None else ""
        texts.append(f"[Attached: {file.name[:200]}{missing}]")
    return _fit("\n\n".join(texts))


def _files(message: ImportedMessage) -> list[Attachment]:
    return [part for part in message.parts if isinstance(part, Attachment)]


def _thoughts(message: ImportedMessage) -> list[Thinking]:
    return [part for part in message.parts if isinstance(part, Thinking)]


def _fit(text: str) -> str:
    """Return a storable text of at most a message's length; a longer one says that it was cut."""
    cleaned: str = clean(text)
    if len(cleaned) <= MAX_MESSAGE_CHARS:
        return cleaned
    note = CUT.format(MAX_MESSAGE_CHARS)
    return cleaned[: MAX_MESSAGE_CHARS - len(note)] + note
