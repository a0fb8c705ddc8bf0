"""What a provider wants back with its own answers: gathered, bounded, and sent to nobody else.

That is what a model thought before it called tools, signatures of thoughts and calls, and all
fields of messages and calls that OpenAI does not name. In a message's `additional_kwargs`, KEPT
holds `{"for", "message", "calls", "thinking"}`: whom it is for, fields of the message, fields of
its calls by their ids, and the names under which its thinking is sent, which stands there already.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

from langchain_core.messages import AIMessage

from backend.llm.arguments import REASONING
from backend.llm.clean import clean
from backend.llm.wire.deltas import says_thoughts, text_of
from backend.llm.wire.merging import Pieces
from backend.llm.wire.think_tags import without_thinking
from backend.text import clean_text
from backend.types import JSON

KEPT, NOT_KEPT = "kept", "not_kept"
FOR, FIELDS, CALLS, THINKING = "for", "message", "calls", "thinking"
MAX_KEPT_CHARS = 500_000
THINKING_TEXTS = (REASONING, "reasoning")
# Thinking in pieces: only of use with the calls that it led to.
THINKING_PARTS = ("reasoning_details", "thinking_blocks", "content")
# Read elsewhere, or of no use to a model; those of the last line tell of a piece only.
_NOT_KEPT = frozenset(
    [
        *("role", "content", "tool_calls", "function_call", "refusal", "audio", "id", "name"),
        *("annotations", "citations", "search_results", "executed_tools", "web_search", "context"),
        *("channel", "logprobs", "token_id", "token_ids", "obfuscation", "padding", "status"),
    ]
)
_PLAIN = frozenset(("role", "content", "tool_calls", "refusal"))
_OF_CALL = ("index", "id", "type", "function")
_OF_FUNCTION = ("name", "arguments")


class Kept:
    """Gathers the fields of one answer; those beyond the bound are dropped, all of them."""

    def __init__(self) -> None:
        self._fields = Pieces()
        self._texts: dict[str, list[str]] = {}
        self._has_parts = False
        self.size = 0

    @property
    def is_too_much(self) -> bool:
        """Whether it is more than is kept."""
        return self.size > MAX_KEPT_CHARS

    def add(self, delta: JSON) -> int:
        """Take what a delta, or a whole message, says in fields that are not OpenAI's.

        Content in parts is kept from the first one on that is thinking. Return how many characters
        of thinking it has taken, which count as part of the answer.
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
        """Take what a piece of a call says in such fields."""
        given = {key: value for key, value in piece.items() if key not in _OF_CALL}
        function = piece.get("function")
        if isinstance(function, dict):
            own = {key: value for key, value in function.items() if key not in _OF_FUNCTION}
            given |= {"function": own} if own else {}
        self.add_to(fields, given)

    def add_to(self, fields: Pieces, given: JSON) -> None:
        """Take further pieces of some fields, as long as all that is kept is not too much."""
        given = {key: value for key, value in given.items() if _is_told(value)}
        if given:
            self.size += len(json.dumps(given))
            if not self.is_too_much:
                fields.add(given)

    def of_message(self, thinking: str, raw: str, *, has_calls: bool) -> JSON:
        """Return what is kept of the message, whose text and thinking came together as `raw`.

        Without calls no thinking is wanted back.
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
    """Return whether there is something to keep; numbers count pieces, they tell nothing."""
    return isinstance(value, str | list | dict) and bool(value)


def _as_part(text: Any) -> JSON:
    return {"type": "text", "text": text}


def provider_of(base_url: str | None, model: str) -> str:
    """Return a name for whoever answers under this address; it tells nothing of the address.

    Of a gateway, whose models are called maker/model, each maker is one.
    """
    url = urlsplit(base_url or "")
    host = f"{url.hostname}:{url.port}" if url.port else str(url.hostname)
    maker = model.partition("/")[0] if "/" in model else ""
    text = f"{host}{url.path.rstrip('/')} {maker}"
    return urlsafe_b64encode(blake2b(text.encode(), digest_size=9).digest()).decode()


def give_back(message: AIMessage, sent: JSON, provider: str) -> None:
    """Add to a message as it is sent what its provider wants back; nothing if that is another.

    In one order of keys, which JSONB does not keep, so that a request is always written the same.
    """
    kept = message.additional_kwargs.get(KEPT)
    if not isinstance(kept, Mapping) or not provider or kept.get(FOR) != provider:
        return
    fields = dict(kept.get(FIELDS) or {})
    content = fields.pop("content", None)
    if content and _text_of(content) == message.content:
        sent["content"] = _in_order(content)  # else a policy has changed what the message says
    thinking = message.additional_kwargs.get(REASONING) or ""
    fields |= dict.fromkeys(kept.get(THINKING) or (), thinking)
    _add_fields(sent, fields)
    of_calls = kept.get(CALLS) or {}
    for call in sent.get("tool_calls") or ():
        own = dict(of_calls.get(call.get("id")) or {})
        _add_fields(call["function"], own.pop("function", {}))
        _add_fields(call, own)


def _add_fields(sent: JSON, fields: Mapping[str, Any]) -> None:
    new = sorted(fields.keys() - sent.keys())
    sent.update({name: _in_order(fields[name]) for name in new})


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _in_order(value[name]) for name in sorted(value)}
    return [_in_order(each) for each in value] if isinstance(value, list) else value


def _text_of(content: Any) -> str:
    """Return what of a message's content, as its provider wrote it, is its text."""
    return without_thinking(content) if isinstance(content, str) else text_of(content)
