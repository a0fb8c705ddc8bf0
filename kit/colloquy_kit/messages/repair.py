"""Repairing a message history so that every call has a result and models accept it. Pure."""

from operator import is_
from uuid import uuid4

from colloquy_kit.types import JSON


def repair(state: JSON, note: str) -> tuple[JSON, list[JSON]]:
    """Return a state that a model accepts, and the results that were added for it.

    Each call gets exactly one result, right behind its message: a missing one becomes an error
    result that says `note`. Results without a call are dropped. Call ids may recur within a
    conversation, so calls and results are paired by adjacency; within one message they become
    distinct. Messages that need no repair stay the same objects; a valid state is returned as is.
    """
    repaired: list[JSON] = []
    added: list[JSON] = []
    messages: list[JSON] = state["messages"]
    position = 0
    while position < len(messages):
        message = messages[position]
        position += 1
        if message["role"] == "tool":
            continue
        message = _repair_calls(message)
        repaired.append(message)
        if calls := message.get("tool_calls"):
            end = _end_of_results(messages, position)
            missing = [substitute_result(call, note) for call in calls]
            results, unanswered = _pair(messages[position - 1], calls, messages[position:end])
            missing = [missing[index] for index in unanswered]
            repaired += results + missing
            added += missing
            position = end
    if len(repaired) == len(messages) and all(map(is_, repaired, messages)):
        return state, []
    return {**state, "messages": repaired}, added


def substitute_result(call: JSON, text: str, *, is_error: bool = True) -> JSON:
    """Return the result of a call that has no other: it says `text`."""
    return {
        "role": "tool",
        "content": text,
        "name": call["function"]["name"],
        "id": str(uuid4()),
        "tool_call_id": call["id"],
        **({"status": "error"} if is_error else {}),
    }


def _end_of_results(messages: list[JSON], start: int) -> int:
    end = start
    while end < len(messages) and messages[end]["role"] == "tool":
        end += 1
    return end


def _repair_calls(message: JSON) -> JSON:
    """Give calls with a missing or repeated id a new id."""
    if "invalid_tool_calls" in message:
        message = {key: value for key, value in message.items() if key != "invalid_tool_calls"}
    calls = message.get("tool_calls") or []
    ids = [call.get("id") for call in calls]
    if all(ids) and len(set(ids)) == len(ids):
        return message
    taken: set[str] = set()
    distinct = []
    for call in calls:
        wanted = call.get("id") or "call"
        name, number = wanted, 1
        while name in taken or (name != wanted and name in ids):
            number += 1
            name = f"{wanted}_{number}"
        taken.add(name)
        distinct.append({**call, "id": name})
    return {**message, "tool_calls": distinct}


def _pair(original: JSON, calls: list[JSON], results: list[JSON]) -> tuple[list[JSON], list[int]]:
    """Return the results that answer a call, in order, and the positions of unanswered calls."""
    wanted = [call.get("id") for call in original["tool_calls"]]
    unanswered = list(range(len(calls)))
    paired = []
    for result in results:
        given = result.get("tool_call_id")
        match = next((i for i in unanswered if wanted[i] == given), None)
        if match is None:
            continue
        unanswered.remove(match)
        call_id = calls[match]["id"]
        paired.append(result if given == call_id else {**result, "tool_call_id": call_id})
    return paired, unanswered
