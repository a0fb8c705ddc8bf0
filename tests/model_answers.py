"""A step of a script as OpenAI's API would answer: whole, or in chunks."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from uuid import uuid4

from starlette.responses import JSONResponse, Response

from backend.types import JSON

ARGUMENT_PIECE = 8
UNTIL_SECONDS = 0.02
MOST_PIECES = 1_000
NOW = "{now}"  # in a text: the nanoseconds of the monotonic clock when this piece is sent


def error_response(status: int, step: JSON) -> Response:
    message = step.get("text", "scripted error")
    error = {"message": message, "type": "scripted", "code": step.get("code")}
    return JSONResponse({"error": error}, status, step.get("headers"))


def _calls(step: JSON) -> list[JSON]:
    calls = []
    for place, tool in enumerate(step.get("tools", [])):
        arguments = tool.get("args", {})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call_id = tool.get("id", f"call_{uuid4().hex[:12]}")
        function = {"name": tool["name"], "arguments": text}
        index = tool.get("index", place)
        calls.append({"index": index, "id": call_id, "type": "function", "function": function})
    return calls


def _finish_reason(step: JSON) -> str:
    return str(step.get("finish") or ("tool_calls" if step.get("tools") else "stop"))


def _usage(step: JSON, body: JSON) -> JSON:
    read = sum(len(str(message.get("content"))) for message in body["messages"]) // 4
    written = len(str(step.get("text", ""))) // 4 + 1
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": read // 2},
        "completion_tokens_details": {"reasoning_tokens": len(step.get("think", "")) // 4},
    }


def completion(step: JSON, body: JSON) -> JSON:
    message: JSON = {"role": "assistant", "content": step.get("text")}
    if calls := _calls(step):
        message["tool_calls"] = [{k: v for k, v in c.items() if k != "index"} for c in calls]
    if "think" in step:
        message["reasoning_content"] = step["think"]
    choice = {"index": 0, "finish_reason": _finish_reason(step), "message": message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [choice],
        "usage": _usage(step, body),
    }


async def chunks(step: JSON, body: JSON) -> AsyncIterator[str]:
    def chunk(delta: JSON | None, finish: str | None = None, usage: JSON | None = None) -> str:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
        data = {**head, "model": body["model"], "choices": choices, "usage": usage}
        return f"data: {json.dumps(data)}\n\n"

    delay = step.get("delay", 0)
    yield chunk({"role": "assistant", "content": None if step.get("tools") else ""})
    for delta in _deltas(step):
        await asyncio.sleep(delay)
        if "tool_calls" in delta and "id" in delta["tool_calls"][0]:
            await asyncio.sleep(step.get("hang", 0))
        if NOW in str(delta.get("content")):
            delta = {"content": delta["content"].replace(NOW, str(time.monotonic_ns()))}
        yield chunk(delta)
    await _hold_back(step)
    if step.get("cut"):
        raise ConnectionResetError("the script cuts the connection")
    if step.get("drop"):
        return
    yield chunk({}, _finish_reason(step))
    await asyncio.sleep(step.get("linger", 0))
    if step.get("cut_late"):
        raise ConnectionResetError("the script cuts the connection")
    if step.get("done") is False:
        return
    if (body.get("stream_options") or {}).get("include_usage"):
        yield chunk(None, usage=_usage(step, body))
    yield "data: [DONE]\n\n"


async def _hold_back(step: JSON) -> None:
    """Wait before the end of an answer for as long as the step says."""
    while "until" in step and not step["until"].is_set():
        await asyncio.sleep(UNTIL_SECONDS)
    if not step.get("tools"):
        await asyncio.sleep(step.get("hang", 0))


def _deltas(step: JSON) -> list[JSON]:
    deltas: list[JSON] = []
    deltas += [{"reasoning_content": piece} for piece in _pieces(step.get("think", ""))]
    deltas += [{"content": piece} for piece in _pieces(step.get("text") or "")]
    deltas += [{"refusal": piece} for piece in _pieces(step.get("refusal", ""))]
    for call in _calls(step):
        text = call["function"]["arguments"]
        deltas.append({"tool_calls": [{**call, "function": {**call["function"], "arguments": ""}}]})
        length = max(ARGUMENT_PIECE, len(text) // MOST_PIECES)
        for start in range(0, len(text), length):
            function = {"arguments": text[start : start + length]}
            deltas.append({"tool_calls": [{"index": call["index"], "function": function}]})
    return deltas


def _pieces(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)
