"""A request's messages as the demo model reads them: the question, and tools' results. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Message = Mapping[str, Any]

LONGEST_QUESTION = 2_000  # characters that rules read; their patterns may backtrack
_MENTION = re.compile(r"(?<![\w.@/`])@[^\W\d_][\w-]{0,80}[,:]?[ \t]*")
_STATEMENT = re.compile(r"\bselect\b", re.IGNORECASE)


class InvalidMessages(Exception):
    """The messages are not in an order that OpenAI's protocol allows."""


@dataclass(frozen=True)
class Call:
    """One tool call: its name and its arguments."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """The result of a call."""

    call: Call
    content: str


@dataclass(frozen=True)
class Conversation:
    """The last question, the calls made for it, what came before it, and the available tools."""

    question: str
    results: tuple[Result, ...]
    earlier: tuple[Result, ...]
    tools: frozenset[str]
    transcript: tuple[tuple[str, str], ...] = ()
    system: str = ""

    @property
    def asked(self) -> str:
        """The beginning of the question with single spaces, by which rules recognise it."""
        return " ".join(self.question[:LONGEST_QUESTION].split())


def read_conversation(request: Mapping[str, Any]) -> Conversation:
    """Return the request's conversation. Raise InvalidMessages, worded like OpenAI's error."""
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidMessages("'messages' must be an array with at least one message.")
    if not all(isinstance(message, dict) for message in messages):
        raise InvalidMessages("Each message must be an object with 'role' and 'content'.")
    check_order(messages)
    last = max((i for i, m in enumerate(messages) if m.get("role") == "user"), default=-1)
    question = without_mentions(text_of(messages[last])) if last >= 0 else ""
    dialogue = [m for m in messages if m.get("role") in ("user", "assistant")]
    spoken = [_spoken(m) for place, m in enumerate(dialogue) if not _is_handed_on(dialogue, place)]
    system = [text_of(m) for m in messages if m.get("role") in ("system", "developer")]
    return Conversation(
        question,
        tuple(_results(messages[last + 1 :])),
        tuple(_results(messages[:last] if last > 0 else [])),
        _offered(request),
        tuple(pair for pair in spoken if pair[1]),
        "\n\n".join(system),
    )


def check_order(messages: Sequence[Message]) -> None:
    """Raise InvalidMessages unless each tool call is followed by its result, and no other."""
    waiting: dict[str, int] = {}
    for position, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            if not waiting.get(str(message.get("tool_call_id"))):
                raise InvalidMessages(
                    f"Invalid parameter: messages[{position}] with role 'tool' must be a response "
                    "to a preceding message with 'tool_calls'."
                )
            waiting[str(message.get("tool_call_id"))] -= 1
            continue
        _check_answered(waiting)
        if role not in ("system", "developer", "user", "assistant"):
            raise InvalidMessages(f"Invalid value for messages[{position}].role: {role!r}.")
        waiting = {}
        for call in message.get("tool_calls") or []:
            waiting[str(call.get("id"))] = waiting.get(str(call.get("id")), 0) + 1
    _check_answered(waiting)


def text_of(message: Message) -> str:
    """Return a message's text, from plain content or its text parts."""
    content = message.get("content")
    if isinstance(content, list):
        parts = (part.get("text", "") for part in content if isinstance(part, dict))
        return "\n".join(str(part) for part in parts if part)
    return str(content or "")


def without_mentions(text: str) -> str:
    """Return a message without the agents that it mentions; SQL is left as it is."""
    begun = _STATEMENT.search(text)
    end = begun.start() if begun else len(text)
    plain, count = _MENTION.subn("", text[:end])
    return plain + text[end:] if count else text


def _is_handed_on(dialogue: Sequence[Message], place: int) -> bool:
    """Return whether a manager delegates a person's question unchanged, right after it."""
    later = dialogue[place + 1 :]
    by_agent = [m for m in later if m["role"] == "user" and m.get("name")]
    if (
        dialogue[place]["role"] != "user"
        or not by_agent
        or text_of(by_agent[0]) != text_of(dialogue[place])
    ):
        return False
    return all(m["role"] == "assistant" for m in later[: later.index(by_agent[0])])


def _spoken(message: Message) -> tuple[str, str]:
    text = text_of(message)
    return message["role"], without_mentions(text) if message["role"] == "user" else text


def _check_answered(waiting: Mapping[str, int]) -> None:
    missing = [call_id for call_id, count in waiting.items() if count > 0]
    if missing:
        raise InvalidMessages(
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            + ", ".join(missing)
        )


def _results(messages: Sequence[Message]) -> list[Result]:
    """Return results in the order of the calls; ids are matched per batch, as they may repeat."""
    results: list[Result] = []
    calls: dict[str, list[Call]] = {}
    for message in messages:
        if message.get("role") == "tool":
            same_id = calls.get(str(message.get("tool_call_id")))
            if same_id:
                results.append(Result(same_id.pop(0), text_of(message)))
            continue
        calls = {}
        for call in message.get("tool_calls") or []:
            calls.setdefault(str(call.get("id")), []).append(_call(call))
    return results


def _call(call: Mapping[str, Any]) -> Call:
    function = call.get("function") or {}
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        arguments = {}
    return Call(str(function.get("name")), arguments if isinstance(arguments, dict) else {})


def _offered(request: Mapping[str, Any]) -> frozenset[str]:
    if request.get("tool_choice") == "none":
        return frozenset()
    tools = request.get("tools") or []
    return frozenset(
        str(tool["function"].get("name"))
        for tool in tools
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict)
    )
