"""The agent state: what the model reads, as versioned JSON in OpenAI's shape. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    message_chunk_to_message,
)
from langchain_core.messages.tool import tool_call

from colloquy_kit.errors import CorruptState
from colloquy_kit.messages.arguments import (
    MODEL_NAME,
    RAW_ARGUMENTS,
    REASONING,
    argument_texts,
    parse_or_empty,
    write_arguments,
)
from colloquy_kit.messages.clean import clean
from colloquy_kit.types import JSON

STATE_VERSION = 1
STOPPED = "stopped"
SOURCE, SUMMARY = "lc_source", "summarization"  # LangChain's own mark
BRIEF = "brief"  # marks a message by an agent, not a person, to the next agent

_CLASSES: Mapping[str, type[BaseMessage]] = {
    "system": SystemMessage,
    "user": HumanMessage,
    "assistant": AIMessage,
    "tool": ToolMessage,
}
_ROLES = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}
_DEFAULTS: JSON = {"status": "success"}

Upgrade = Callable[[JSON], JSON]
# By the version that each upgrade starts from; the tests hold a sample of every version.
UPGRADES: Mapping[int, Upgrade] = {}


def empty_state() -> JSON:
    """Return the state of a conversation without messages."""
    return {"version": STATE_VERSION, "messages": []}


def user_message(text: str, message_id: str) -> JSON:
    """Return a person's message in the state's form."""
    return {"role": "user", "content": clean(text), "id": message_id}


def load_values(state: JSON) -> dict[str, Any]:
    """Return LangGraph's values for a stored state: messages as objects, other keys unchanged.

    Upgrade a state of an older version first. Raise CorruptState for a newer or unreadable one.
    """
    current = upgrade(state)
    values = {key: value for key, value in current.items() if key != "version"}
    values["messages"] = load_messages(current["messages"])
    return values


def load_messages(messages: list[JSON]) -> list[BaseMessage]:
    """Return the messages as LangChain's objects; the inverse of `dump_message`."""
    try:
        return [_load_message(message) for message in messages]
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptState from error


def dump_message(message: BaseMessage) -> JSON:
    """Return the message as JSON in OpenAI's shape, without its artifact and empty fields."""
    message = message_chunk_to_message(message)
    fields = message.model_dump(exclude={"type", "artifact", "tool_calls"})
    dumped = {"role": _ROLES[message.type], "content": fields.pop("content")}
    if isinstance(message, AIMessage) and message.tool_calls:
        extra = fields["additional_kwargs"]
        dumped["tool_calls"] = _dump_calls(message, extra.pop(RAW_ARGUMENTS, []))
        dumped["content"] = dumped["content"] or None
    for key, value in fields.items():
        if value not in (None, {}, []) and value != _DEFAULTS.get(key):
            dumped[key] = value
    if "tool_call_id" in fields:
        dumped["tool_call_id"] = fields["tool_call_id"]
    return dumped


def pending_calls(state: JSON) -> list[JSON]:
    """Return the last model message's calls that have no result yet, in order."""
    answered: list[Any] = []
    for message in reversed(state["messages"]):
        if message["role"] != "tool":
            calls = message.get("tool_calls") or []
            return [call for call in calls if call["id"] not in answered]
        answered.append(message.get("tool_call_id"))
    return []


def calling_message(state: JSON) -> JSON | None:
    """Return the last model message, if a call of it has no result yet."""
    if not pending_calls(state):
        return None
    messages: list[JSON] = state["messages"]
    return next(message for message in reversed(messages) if message["role"] != "tool")


def is_answered(state: JSON) -> bool:
    """Return whether nothing is left to do: the last message is an answer without calls."""
    messages = state["messages"]
    if not messages or messages[-1]["role"] in ("user", "tool"):
        return not messages
    return not pending_calls(state)


def is_summary(message: JSON) -> bool:
    """Return whether a policy wrote the message in place of older ones."""
    return (message.get("additional_kwargs") or {}).get(SOURCE) == SUMMARY


def is_brief(message: BaseMessage | JSON) -> bool:
    """Return whether an agent wrote this for the one that continues the turn."""
    extra = (
        message.get("additional_kwargs")
        if isinstance(message, dict)
        else (message.additional_kwargs)
    )
    return bool((extra or {}).get(BRIEF))


def add_partial(
    state: JSON,
    text: str,
    thinking: str,
    message_id: str,
    name: str | None = None,
    model: str | None = None,
) -> tuple[JSON, JSON | None]:
    """Return the state with a stopped message's partial answer, and that message, marked.

    Calls are never part of it. Thinking alone makes a message for people only: the state is left
    as it is, because models refuse an empty answer. Return None if there is nothing to keep.
    `name` is the agent's, where others read it, `model` the one that was asked.
    """
    known = any(message.get("id") == message_id for message in state["messages"])
    if known or not (text.strip() or thinking.strip()):
        return state, None
    message: JSON = {"role": "assistant", "content": clean(text), "id": message_id}
    if name:
        message["name"] = name
    if thinking:
        message["additional_kwargs"] = {REASONING: clean(thinking)}
    named = {MODEL_NAME: model} if model else {}
    message["response_metadata"] = {"finish_reason": STOPPED, **named}
    if not text.strip():
        return state, message
    return {**state, "messages": [*state["messages"], message]}, message


def upgrade(
    state: JSON, steps: Mapping[int, Upgrade] = UPGRADES, wanted: int = STATE_VERSION
) -> JSON:
    """Return the state in the newest version, upgraded one version at a time.

    Raise CorruptState for an unknown version, and for a value that is not a state.
    """
    while (version := state.get("version")) != wanted:
        step = steps.get(version) if isinstance(version, int) else None
        if step is None or version is None:
            raise CorruptState
        state = {**step(state), "version": version + 1}
    if not isinstance(state.get("messages"), list):
        raise CorruptState
    return state


def check_state(state: JSON) -> JSON:
    """Return a usable state in the newest version. Raise CorruptState if it is not usable.

    Cheap: checks the structure of each message, not its content.
    """
    current = upgrade(state)
    if not all(map(_is_message, current["messages"])):
        raise CorruptState
    return current


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("role") not in _CLASSES:
        return False
    if not isinstance(message.get("content"), str | list | None):
        return False
    if message["role"] == "tool" and "tool_call_id" not in message:
        return False
    return all(map(_is_call, message.get("tool_calls") or ()))


def _is_call(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return False
    return isinstance(function.get("name"), str) and isinstance(function.get("arguments"), str)


def _load_message(message: JSON) -> BaseMessage:
    fields = dict(message)
    kind = _CLASSES[fields.pop("role")]
    if fields["content"] is None:
        fields["content"] = ""
    if calls := fields.pop("tool_calls", None):
        fields["tool_calls"], raw = _load_calls(calls)
        if any(raw):
            extra = fields.get("additional_kwargs", {})
            fields["additional_kwargs"] = {**extra, RAW_ARGUMENTS: raw}
    return kind(**fields)


def _load_calls(calls: list[JSON]) -> tuple[list[Any], list[str | None]]:
    loaded, raw = [], []
    for call in calls:
        text = call["function"]["arguments"]
        arguments = parse_or_empty(text)
        loaded.append(tool_call(name=call["function"]["name"], args=arguments, id=call.get("id")))
        raw.append(None if text == write_arguments(arguments) else text)
    return loaded, raw


def _dump_calls(message: AIMessage, raw: list[str | None]) -> list[JSON]:
    texts = argument_texts([call["args"] for call in message.tool_calls], raw)
    return [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": text},
        }
        for call, text in zip(message.tool_calls, texts, strict=True)
    ]
