"""Choosing where to cut a long conversation so that the model's input fits again. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from colloquy_kit.messages.state import SOURCE, SUMMARY, is_brief


@dataclass(frozen=True)
class Cut:
    """What happens to the messages: `old` are left out, except for what a summary says of them.

    `summary` is the one before them, if any; `kept` stay, with what the turn is asked for.
    """

    summary: BaseMessage | None
    old: list[BaseMessage]
    kept: list[BaseMessage]


def count_tokens(messages: Sequence[BaseMessage]) -> int:
    """Return about how many tokens the messages have: four characters each, plus overhead."""
    return count_tokens_approximately(list(messages))


def is_summary(message: BaseMessage) -> bool:
    """Return whether a policy wrote the message in place of older ones."""
    return message.additional_kwargs.get(SOURCE) == SUMMARY


def summary_message(text: str) -> HumanMessage:
    """Return a summary as a message of the state, with LangChain's wording and mark."""
    content = f"Here is a summary of the conversation to date:\n\n{text}"
    return HumanMessage(content, id=str(uuid4()), additional_kwargs={SOURCE: SUMMARY})


def find_cut(messages: Sequence[BaseMessage], keep_tokens: int, keep_messages: int) -> Cut | None:
    """Return the cut that keeps as many of the newest messages as fit; None if all do.

    A model's message and its results are kept or left out together. The newest such block always
    stays, and so do the person's last message and, in a turn that was handed over, the newest brief
    after it. They count towards the budget wherever they are.
    """
    conversation = [message for message in messages if not is_summary(message)]
    summary = next((m for m in reversed(messages) if is_summary(m)), None)
    asked = _places_asked(conversation)
    start = _start_of_kept(conversation, asked, keep_tokens, keep_messages)
    before = [conversation[place] for place in asked if place < start]
    old = [m for place, m in enumerate(conversation[:start]) if place not in asked]
    return Cut(summary, old, [*before, *conversation[start:]]) if old else None


def _places_asked(conversation: list[BaseMessage]) -> list[int]:
    """Return where the person's last message is, and the newest brief after it, if any."""
    places = [place for place, m in enumerate(conversation) if isinstance(m, HumanMessage)]
    question = next((p for p in reversed(places) if not is_brief(conversation[p])), None)
    return sorted({place for place in (question, *places[-1:]) if place is not None})


def _start_of_kept(
    conversation: list[BaseMessage], asked: list[int], keep_tokens: int, keep_messages: int
) -> int:
    blocks = _blocks(conversation)
    start = len(conversation)
    room = keep_tokens - count_tokens([conversation[place] for place in asked])
    count = keep_messages - len(asked)
    for number, (first, last) in enumerate(reversed(blocks)):
        block = [m for place, m in enumerate(conversation[first:last], first) if place not in asked]
        room, count = room - count_tokens(block), count - len(block)
        if number and (room < 0 or count < 0):
            break
        start = first
    return start


def _blocks(conversation: list[BaseMessage]) -> list[tuple[int, int]]:
    """Return the blocks that must not be split: each message with the results that follow it."""
    starts = [i for i, m in enumerate(conversation) if i == 0 or not isinstance(m, ToolMessage)]
    return list(zip(starts, [*starts[1:], len(conversation)], strict=True))


def shorten(text: str, chars: int) -> str:
    """Return the text, or its beginning and end if it is longer than `chars`."""
    if len(text) <= chars:
        return text
    head = chars // 4
    return f"{text[:head]}\n\n[… the middle is left out …]\n\n{text[-(chars - head) :]}"


def transcript(messages: Sequence[BaseMessage], chars: int) -> str:
    """Return the messages as text for a model to summarise; long ones without their middle."""
    lines = [line for message in messages for line in _lines(message, chars // 4)]
    return shorten("\n".join(lines), chars)


def _lines(message: BaseMessage, chars: int) -> list[str]:
    text = shorten(message.text, chars)
    if isinstance(message, ToolMessage):
        return [f"[result of {message.name or 'a tool'}] {text}"]
    if not isinstance(message, AIMessage):
        return [f"[person] {text}"]
    calls: list[Any] = message.tool_calls
    called = [f"[agent calls {c['name']}] {shorten(str(c['args']), chars)}" for c in calls]
    return ([f"[agent] {text}"] if text else []) + called
