"""Checking an agent state that a person wrote: what is wrong, and in which message. Pure."""

from collections.abc import Iterator

from backend.errors.base import InvalidInput
from backend.text import listed
from backend.types import JSON
from colloquy_kit.errors import CorruptState
from colloquy_kit.messages.arguments import REASONING
from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.repair import repair
from colloquy_kit.messages.state import STATE_VERSION, check_state, load_messages, upgrade
from colloquy_kit.runtime.growing import with_own_ids

KINDS = {"todos": list, "metadata": dict, "payload": dict}
WORDS = {list: "a list", dict: "an object"}


def check_given(state: JSON) -> JSON:
    """Return the state in the newest version, if a model accepts it just as it is.

    Messages with a missing or repeated id get one, by which others refer to them.
    Raise InvalidInput that names the first message, or the key, that is wrong, and why.
    """
    try:
        current = upgrade(state)
    except CorruptState:
        raise InvalidInput(
            f"version, messages: this is no agent state. Its version must be {STATE_VERSION} or an"
            " older one, and its messages a list, as in what GET answers."
        ) from None
    if fault := next(_faults(current), None):
        raise InvalidInput(f"{fault} Nothing was changed.")
    return with_own_ids(current)


def _faults(state: JSON) -> Iterator[str]:
    for key, kind in KINDS.items():
        if not isinstance(state.get(key, kind()), kind):
            yield f"{key}: this must be {WORDS[kind]}."
    if state.get("interrupt") is not None:
        yield "interrupt: a state that waits for people cannot be written back. Leave it null."
    if clean(state) != state:
        yield "A number is too large, or a value is nested too deeply, to be stored as it is."
    messages = state["messages"]
    for place, message in enumerate(messages):
        if said := _fault_alone(message):
            yield f"messages[{place}]: {said}"
    yield from _faults_of_calls(messages)
    if repair(state, "")[0] is not state:  # a rule of repair that is not told above
        yield "messages: no model accepts these calls and results."


def _fault_alone(message: JSON) -> str | None:
    try:
        check_state({"version": STATE_VERSION, "messages": [message]})
    except (CorruptState, TypeError):
        return (
            "it needs a role (system, user, assistant, tool), a content that is a text, a list or"
            " null, a tool_call_id if it is a tool's, and calls with a name and arguments as text."
        )
    extra = message.get("additional_kwargs", {})
    if not isinstance(extra, dict) or not isinstance(extra.get(REASONING, ""), str):
        return f"additional_kwargs must be an object, and {REASONING} in it a text."
    if not isinstance(message.get("id"), str | None):
        return "its id must be a text."
    if "invalid_tool_calls" in message:
        return "invalid_tool_calls are not part of a state. Leave them out."
    try:
        load_messages([message])
    except CorruptState:
        return "one of its fields has a value of another kind than messages have."
    return None


def _faults_of_calls(messages: list[JSON]) -> Iterator[str]:
    """Yield calls without results, results without calls, and ids that occur twice."""
    asking = 0
    waiting: dict[str, str] = {}
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            if waiting.pop(message["tool_call_id"], None) is None:
                yield (
                    f"messages[{place}]: it is the result of the call {message['tool_call_id']},"
                    " and no such call before it waits for one."
                )
            continue
        yield from _unanswered(asking, waiting)
        calls = message.get("tool_calls") or []
        ids = [call.get("id") for call in calls]
        if not all(isinstance(one, str) and one for one in ids) or len(set(ids)) < len(ids):
            yield f"messages[{place}]: each of its calls needs an id of its own."
        asking = place
        waiting = {call["id"]: call["function"]["name"] for call in calls}
    yield from _unanswered(asking, waiting)


def _unanswered(place: int, waiting: dict[str, str]) -> Iterator[str]:
    if waiting:
        calls = listed([f"{name} ({call_id})" for call_id, name in waiting.items()])
        yield f"messages[{place}]: no result follows its call of {calls}. Add one, of role tool."
