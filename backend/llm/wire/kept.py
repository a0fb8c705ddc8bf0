"""Provider-specific fields of answers: gathered, bounded, and sent back only to their provider.

These are what a model thought before it called tools, signatures of thoughts and calls, and all
fields of messages and calls that OpenAI does not define. In a message's `additional_kwargs`, KEPT
holds `{"for", "message", "calls", "thinking"}`: the provider, fields of the message, fields of its
calls by id, and the names under which its thinking, already stored there, is sent.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

from langchain_core.messages import AIMessage

from backend.llm.wire.deltas import says_thoughts, text_of
from backend.llm.wire.merging import Pieces
from backend.llm.wire.think_tags import without_thinking
from backend.types import JSON
from colloquy_kit.messages.arguments import REASONING
from colloquy_kit.messages.clean import clean, clean_text

KEPT, NOT_KEPT = "kept", "not_kept"
FOR, FIELDS, CALLS, THINKING = "for", "message", "calls", "thinking"
MAX_KEPT_CHARS = 500_000
THINKING_TEXTS = (REASONING, "reasoning")
# Thinking in pieces: only useful with the calls that it led to.
THINKING_PARTS = ("reasoning_details", "thinking_blocks", "content")
# Read elsewhere, or useless to a model; those of the last line describe a single piece.
_NOT_KEPT = frozenset(
    [
        *("role", "content", "tool_calls", "function_call", "refusal", "audio", "id", "name"),
        *("annotations", "citations", "search_results", "executed_tools", "web_search", "context"),
        *("channel", "logprobs", "token_id", "token_ids", "obfuscation", "padding", "status"),
    ]
)
_PLAIN = frozenset(("role", "content", "tool_calls", "refusal"))
_SENT = frozenset(("role", "content", "name", "tool_calls", "tool_call_id", "refusal"))
_OF_CALL = ("index", "id", "type", "function")
_OF_FUNCTION = ("name", "arguments")


class Kept:
    """Gathers the fields of one answer; if they exceed the limit, all are dropped."""

    def __init__(self) -> None:
        self._fields = Pieces()
        self._texts: dict[str, list[str]] = {}
        self._has_parts = False
        self.size = 0

    @property
    def is_too_much(self) -> bool:
        """Return whether the fields exceed the limit."""
        return self.size > MAX_KEPT_CHARS

    def add(self, delta: JSON) -> int:
        """Add the fields of a delta, or of a whole message, that are not OpenAI's.

        Content in parts is kept from the first thinking part on. Return how many characters of
        thinking were taken, which count as part of the answer.
        """
        content = delta.get("content")
        if _PLAIN.issuperset(delta) and not self._has_parts and not isinstance(content, list):
            return 0
        taken = 0
        given = {key: value for key, value in delta.items() if key not in _NOT_KEPT}
        for name in THINKING_TEXTS:
            if isinstance(given.get(name), str):
                self._texts.setdefault(name, []).append(text := given.pop(name))
                taken += len(text)
        if content and (self._has_parts or says_thoughts(content)):
            self._has_parts = True
            given["content"] = content if isinstance(content, list) else [_as_part(content)]
        self.add_to(self._fields, given)
        return taken

    def add_to_call(self, fields: Pieces, piece: JSON) -> None:
        """Add such fields of a piece of a call."""
        given = {key: value for key, value in piece.items() if key not in _OF_CALL}
        function = piece.get("function")
        if isinstance(function, dict):
            own = {key: value for key, value in function.items() if key not in _OF_FUNCTION}
            given |= {"function": own} if own else {}
        self.add_to(fields, given)

    def add_to(self, fields: Pieces, given: JSON) -> None:
        """Add further pieces of some fields, as long as the total stays within the limit."""
        given = {key: value for key, value in given.items() if _is_told(value)}
        if given:
            self.size += len(json.dumps(given))
            if not self.is_too_much:
                fields.add(given)

    def of_message(self, thinking: str, raw: str, *, has_calls: bool) -> JSON:
        """Return the kept fields of the message, whose text and thinking arrived as `raw`.

        Without calls, no thinking needs to be sent back.
        """
        texts = {name: clean_text("".join(pieces)) for name, pieces in self._texts.items()}
        same = [name for name, text in texts.items() if text == thinking]
        other = {name: text for name, text in texts.items() if text and text != thinking}
        self.add_to(self._fields, {**other, "content": raw} if has_calls else {})
        fields = self._fields.joined()
        if has_calls:
            return {FIELDS: clean(fields), THINKING: same}
        kept = {name: value for name, value in fields.items() if name not in THINKING_PARTS}
        return {FIELDS: clean(kept)}


def _is_told(value: Any) -> bool:
    """Return whether the value is worth keeping; numbers only count pieces."""
    return isinstance(value, str | list | dict) and bool(value)


def _as_part(text: Any) -> JSON:
    return {"type": "text", "text": text}


def provider_of(base_url: str | None, model: str) -> str:
    """Return a name for the provider at this address, which does not reveal the address.

    At a gateway, whose models are called maker/model, each maker is a provider.
    """
    url = urlsplit(base_url or "")
    host = f"{url.hostname}:{url.port}" if url.port else str(url.hostname)
    maker = model.partition("/")[0] if "/" in model else ""
    text = f"{host}{url.path.rstrip('/')} {maker}"
    return urlsafe_b64encode(blake2b(text.encode(), digest_size=9).digest()).decode()


def give_back(message: AIMessage, sent: JSON, provider: str) -> None:
    """Add a message's provider-specific fields to its sent form, if the provider is the same.

    Keys are sorted, because JSONB does not keep their order, so that requests stay identical.
    """
    kept = message.additional_kwargs.get(KEPT)
    if not isinstance(kept, Mapping) or not provider or kept.get(FOR) != provider:
        return
    fields = dict(kept.get(FIELDS) or {})
    content = fields.pop("content", None)
    if content and _text_of(content) == message.content:
        sent["content"] = _in_order(content)  # otherwise a policy has changed the message's text
    thinking = message.additional_kwargs.get(REASONING) or ""
    fields |= dict.fromkeys(kept.get(THINKING) or (), thinking)
    _add_fields(sent, fields)
    of_calls = kept.get(CALLS) or {}
    for call in sent.get("tool_calls") or ():
        own = dict(of_calls.get(call.get("id")) or {})
        _add_fields(call["function"], own.pop("function", {}))
        _add_fields(call, own)


def without_own_fields(messages: Sequence[JSON]) -> list[JSON]:
    """Return messages as sent, with only the fields that OpenAI defines."""
    return [message if _is_plain(message) else _plain(message) for message in messages]


def _is_plain(message: JSON) -> bool:
    calls = message.get("tool_calls") or ()
    return _SENT.issuperset(message) and all(
        call.keys() <= set(_OF_CALL) and call["function"].keys() <= set(_OF_FUNCTION)
        for call in calls
    )


def _plain(message: JSON) -> JSON:
    plain = {key: value for key, value in message.items() if key in _SENT}
    if calls := message.get("tool_calls"):
        plain["tool_calls"] = [
            {
                **{key: call[key] for key in _OF_CALL if key in call},
                "function": {key: call["function"][key] for key in _OF_FUNCTION},
            }
            for call in calls
        ]
    return plain


def _add_fields(sent: JSON, fields: Mapping[str, Any]) -> None:
    new = sorted(fields.keys() - sent.keys())
    sent.update({name: _in_order(fields[name]) for name in new})


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _in_order(value[name]) for name in sorted(value)}
    return [_in_order(each) for each in value] if isinstance(value, list) else value


def _text_of(content: Any) -> str:
    """Return the text in a message's content as its provider wrote it."""
    return without_thinking(content) if isinstance(content, str) else text_of(content)
