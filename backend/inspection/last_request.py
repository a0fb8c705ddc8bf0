"""Comparing the last request with the agent state that it was made from. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backend.conversations.state.sent import read_names
from backend.types import JSON
from colloquy_kit.messages.display import text_of

PROMPTS = ("system", "developer")


@dataclass
class LastRequest:
    """The last request's system prompt and tools, and where it differs from the state.

    `otherwise`: the texts of messages that were edited on the way, by id. `added`: texts that
    policies put between the messages. `tools` is None if no model has been asked yet.
    """

    system: str = ""
    tools: list[JSON] | None = None
    otherwise: dict[str, str] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)


def read_request(
    record: JSON, contents: Mapping[str, str], ids: Sequence[str], answered: int
) -> LastRequest:
    """Read a call's record. `ids`: of the state at its version, the last `answered` by the call."""
    frame = json.loads(contents.get(record["f"], "{}"))
    request = LastRequest(tools=frame.get("tools") or [])
    waiting: list[JSON] = []
    following = 0
    for name in [*read_names(record["m"]), len(ids) - answered]:
        if isinstance(name, str):
            message = json.loads(contents.get(name, "{}"))
            if message.get("role") in PROMPTS and not following:
                request.system += text_of(message)
            else:
                waiting.append(message)
            continue
        _explain(request, waiting, ids[following:name])
        waiting, following = [], name + 1
    return request


def _explain(request: LastRequest, sent: Sequence[JSON], left_out: Sequence[str]) -> None:
    """Record what was sent in place of these messages: another form of each, or something else."""
    if len(sent) == len(left_out):
        request.otherwise |= {
            name: _words(message) for name, message in zip(left_out, sent, strict=True)
        }
        return
    request.added += [_words(message) for message in sent]
    request.otherwise |= dict.fromkeys(left_out, "")


def _words(message: JSON) -> str:
    calls = [call.get("function", {}) for call in message.get("tool_calls") or ()]
    parts = [text_of(message), *(f"{call.get('name')}({call.get('arguments')})" for call in calls)]
    return "\n".join(filter(None, parts))
