"""OpenAI's wire format: completions, chunks, errors and estimated usage. Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from backend.demo_model.rules import Reply
from backend.types import JSON

_CHARS_PER_TOKEN = 4
_WORDS = re.compile(r"\s*\S+\s*")


@dataclass(frozen=True)
class Answer:
    """A reply with the ids and times of its wire form."""

    id: str
    created: int
    model: str
    reply: Reply
    usage: JSON
    finish_reason: str


def make_answer(request: Mapping[str, Any], reply: Reply, answer_id: str, created: int) -> Answer:
    """Return the reply as an answer to this request, cut at its token limit if it has one."""
    limit = request.get("max_completion_tokens") or request.get("max_tokens")
    finish_reason = "tool_calls" if reply.calls else "stop"
    if isinstance(limit, int) and not reply.calls and len(reply.text) > limit * _CHARS_PER_TOKEN:
        reply = Reply(reply.thinking, reply.text[: limit * _CHARS_PER_TOKEN])
        finish_reason = "length"
    model = str(request.get("model") or "demo")
    return Answer(answer_id, created, model, reply, _usage(request, reply), finish_reason)


def completion(answer: Answer) -> JSON:
    """Return the whole answer as one object."""
    message: JSON = {
        "role": "assistant",
        "content": answer.reply.text or None,
        "reasoning_content": answer.reply.thinking,
    }
    if answer.reply.calls:
        message["tool_calls"] = [
            {
                "id": _call_id(answer, index),
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for index, call in enumerate(answer.reply.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
    return _envelope(answer, "chat.completion") | {"choices": [choice], "usage": answer.usage}


def chunks(answer: Answer, include_usage: bool) -> Iterator[JSON]:
    """Yield the answer in chunks of a word: thinking, text, calls, end, usage."""
    yield _chunk(answer, {"role": "assistant", "content": ""})
    for piece in _WORDS.findall(answer.reply.thinking):
        yield _chunk(answer, {"reasoning_content": piece})
    for piece in _WORDS.findall(answer.reply.text):
        yield _chunk(answer, {"content": piece})
    for delta in _call_deltas(answer):
        yield _chunk(answer, {"tool_calls": [delta]})
    yield _chunk(answer, {}, answer.finish_reason)
    if include_usage:
        envelope = _envelope(answer, "chat.completion.chunk")
        yield envelope | {"choices": [], "usage": answer.usage}


def error(message: str, param: str | None = None) -> JSON:
    """Return OpenAI's form of an error for an invalid request."""
    return {
        "error": {
            "message": message,
            "type": "invalid_request_error",
            "param": param,
            "code": None,
        }
    }


def _call_deltas(answer: Answer) -> Iterator[JSON]:
    """Yield each call's name, then its arguments in pieces, under the call's index."""
    for index, call in enumerate(answer.reply.calls):
        function = {"name": call.name, "arguments": ""}
        yield {
            "index": index,
            "id": _call_id(answer, index),
            "type": "function",
            "function": function,
        }
        for piece in re.findall(r".{1,24}", json.dumps(call.arguments), re.DOTALL):
            yield {"index": index, "function": {"arguments": piece}}


def _chunk(answer: Answer, delta: JSON, finish_reason: str | None = None) -> JSON:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return _envelope(answer, "chat.completion.chunk") | {"choices": [choice]}


def _envelope(answer: Answer, kind: str) -> JSON:
    return {
        "id": f"chatcmpl-{answer.id}",
        "object": kind,
        "created": answer.created,
        "model": answer.model,
    }


def _call_id(answer: Answer, index: int) -> str:
    return f"call_{answer.id[:20]}{index}"


def _usage(request: Mapping[str, Any], reply: Reply) -> JSON:
    """Return an estimate of four characters per token, because there is no tokenizer."""
    prompt = _tokens(json.dumps([request.get("messages"), request.get("tools")], default=str))
    thinking = _tokens(reply.thinking)
    calls = "".join(call.name + json.dumps(call.arguments) for call in reply.calls)
    spoken = _tokens(reply.text) + _tokens(calls)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": spoken + thinking,
        "total_tokens": prompt + spoken + thinking,
        "completion_tokens_details": {"reasoning_tokens": thinking},
    }


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARS_PER_TOKEN)
