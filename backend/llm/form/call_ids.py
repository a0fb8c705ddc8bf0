"""Ids of tool calls that every endpoint takes: nine letters and digits, each only once. Pure.

Mistral wants this form, Anthropic distinct ids; a conversation may have ids of other providers.
"""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

from backend.types import JSON

_ACCEPTED = re.compile(r"[a-zA-Z0-9]{9}")


def with_strict_ids(messages: Sequence[JSON]) -> list[JSON]:
    """Return the messages with such ids, on calls and results alike; good ids stay.

    An id is always replaced by the same one, so that requests that continue each other do as well.
    """
    taken: set[str] = set()
    seen: Counter[str] = Counter()
    renamed: dict[str, str] = {}
    changed = []
    for message in messages:
        if calls := message.get("tool_calls"):
            renamed = {}
            for call in calls:
                renamed[call["id"]] = _strict(call["id"], seen, taken)
        changed.append(_with_ids(message, renamed))
    return changed


def _strict(call_id: str, seen: Counter[str], taken: set[str]) -> str:
    strict = call_id
    while strict in taken or not _ACCEPTED.fullmatch(strict):
        seen[call_id] += 1
        text = f"{call_id} {seen[call_id]}"
        strict = blake2b(text.encode(), digest_size=5).hexdigest()[:9]
    taken.add(strict)
    return strict


def _with_ids(message: JSON, renamed: dict[str, str]) -> JSON:
    if calls := message.get("tool_calls"):
        if all(renamed[call["id"]] == call["id"] for call in calls):
            return message
        return {**message, "tool_calls": [{**call, "id": renamed[call["id"]]} for call in calls]}
    given = message.get("tool_call_id")
    if given is None or renamed.get(given, given) == given:
        return message
    return {**message, "tool_call_id": renamed[given]}
