"""A scripted model: a real HTTP server that speaks OpenAI's chat completions, well or badly.

A step of a script is a dict; all keys are optional:
text, think, refusal: str; tools: [{name, args: dict or raw text, id, index}]; delay: seconds
before each chunk; until: an event to wait for after the text; hang: seconds before the tool calls;
wait: seconds before the answer begins; status: an HTTP error instead, with `headers` and `code`;
drop: end the stream without a finish_reason; cut: break the connection; finish: the finish_reason;
raw: bytes sent instead of the stream, with `status` and `media_type`. After the finish_reason:
linger: seconds of silence; cut_late: break the connection; done: false for neither usage nor
[DONE].
"""

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from backend.agents.middleware.title import PROMPT
from backend.types import JSON

Script = Sequence[JSON] | Callable[[list[JSON], JSON], JSON]

ARGUMENT_PIECE = 8
UNTIL_SECONDS = 0.02
MOST_PIECES = 1_000
NOW = "{now}"  # in a text: the nanoseconds of the monotonic clock when this piece is sent
ENDLESS: JSON = {"text": "word " * 2_000, "delay": 0.1}  # who waits for its end has failed
OVER: JSON = {"text": "(the script is over)"}
TITLE_PROMPT = PROMPT.strip()
NO_TITLE: JSON = {"status": 400}  # so that no title changes, nor anything is used for one


def script(*steps: JSON) -> str:
    """Return a message of a person that carries its own script."""
    return "do it SCRIPT:" + json.dumps(list(steps))


class ScriptedModel:
    """Answers by script; a message that carries `SCRIPT:<json list>` overrides it.

    A list is read by the number of the assistant's messages since the last person's message, so
    that the model needs no memory. A callable gets the messages and the body, and returns a step.
    Requests for a title are kept apart. With a `key` other keys are refused; with `names` it lists
    its models, and has no other ones.
    """

    def __init__(
        self, steps: Script = (), key: str | None = None, names: Sequence[str] | None = None
    ) -> None:
        self.steps = steps
        self.key = key
        self.names = names
        self.title = NO_TITLE
        self.requests: list[JSON] = []
        self.title_requests: list[JSON] = []
        self.started_at: list[float] = []
        self.open_streams = 0
        self.most_open_streams = 0
        self.aborted_streams = 0
        # Named as TCP, else asyncio leaves Nagle on and each answer waits 40 ms.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self.root_url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.url = f"{self.root_url}/v1"
        routes = [
            Route("/v1/chat/completions", self._answer, methods=["POST"]),
            Route("/v1/models", self._list),
        ]
        config = uvicorn.Config(Starlette(routes=routes), log_level="critical", lifespan="off")
        self._server = uvicorn.Server(config)
        sockets = [self._socket]
        self._thread = threading.Thread(target=self._server.run, args=(sockets,), daemon=True)

    def __enter__(self) -> "ScriptedModel":
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        # The thread ends soon, and closes the socket; nobody has to wait for it.
        self._server.should_exit = True
        self._server.force_exit = True

    def clear(self) -> None:
        """Forget the requests so far."""
        self.title = NO_TITLE
        self.title_requests.clear()
        self.requests.clear()
        self.started_at.clear()

    @property
    def messages(self) -> list[list[JSON]]:
        """The messages of each request, in the order of the requests."""
        return [request["messages"] for request in self.requests]

    async def _list(self, _: Request) -> Response:
        if self.names is None:
            return _error(404, {"text": "Not Found"})
        return JSONResponse({"object": "list", "data": [{"id": name} for name in self.names]})

    async def _answer(self, request: Request) -> Response:
        body = await request.json()
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            said = f"Incorrect API key provided: {request.headers.get('authorization')}"
            return _error(401, {"text": said, "code": "invalid_api_key"})
        if self.names is not None and body["model"] not in self.names:
            said = f"The model `{body['model']}` does not exist"
            return _error(404, {"text": said, "code": "model_not_found"})
        if str(body["messages"][-1].get("content")).startswith(TITLE_PROMPT):
            self.title_requests.append(body)
            return self._give(self.title, body)
        self.requests.append(body)
        self.started_at.append(time.monotonic())
        if refusal := find_disorder(body["messages"]):
            return _error(400, {"text": refusal})
        step = self._pick(body)
        await asyncio.sleep(step.get("wait", 0))
        return self._give(step, body)

    def _give(self, step: JSON, body: JSON) -> Response:
        if "raw" in step:
            kind = step.get("media_type", "text/event-stream")
            return Response(step["raw"], step.get("status", 200), media_type=kind)
        if status := step.get("status"):
            return _error(status, step)
        if not body.get("stream"):
            return JSONResponse(_completion(step, body))
        return StreamingResponse(self._stream(step, body), media_type="text/event-stream")

    def _pick(self, body: JSON) -> JSON:
        messages = body["messages"]
        if (carried := _carried_script(messages)) is not None:
            return carried
        if callable(self.steps):
            return self.steps(messages, body)
        number = _answers_since_person(messages)
        return self.steps[number] if number < len(self.steps) else OVER

    async def _stream(self, step: JSON, body: JSON) -> AsyncIterator[str]:
        self.open_streams += 1
        self.most_open_streams = max(self.most_open_streams, self.open_streams)
        ended = False
        try:
            async for chunk in _chunks(step, body):
                yield chunk
            ended = True
        finally:
            self.open_streams -= 1
            self.aborted_streams += not ended


def find_disorder(messages: list[JSON]) -> str | None:
    """Say what OpenAI would refuse: a call without its result, or a result without its call."""
    open_ids: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_ids:
                return "messages with role 'tool' must be a response to a preceding 'tool_calls'"
            open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            break
        open_ids = [call["id"] for call in message.get("tool_calls") or []]
    if open_ids:
        return f"'tool_calls' must be followed by tool messages; missing: {', '.join(open_ids)}"
    return None


def _carried_script(messages: list[JSON]) -> JSON | None:
    for place in range(len(messages) - 1, -1, -1):
        content = messages[place].get("content")
        if messages[place]["role"] == "user":
            text = content if isinstance(content, str) else json.dumps(content)
            if "SCRIPT:" not in text:
                return None
            steps = json.JSONDecoder().raw_decode(text.split("SCRIPT:", 1)[1])[0]
            number = _answers_since_person(messages)
            return steps[number] if number < len(steps) else OVER
    return None


def _answers_since_person(messages: list[JSON]) -> int:
    roles = [message["role"] for message in messages]
    since = len(roles) - roles[::-1].index("user") if "user" in roles else 0
    return roles[since:].count("assistant")


def _error(status: int, step: JSON) -> Response:
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


def _completion(step: JSON, body: JSON) -> JSON:
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


async def _chunks(step: JSON, body: JSON) -> AsyncIterator[str]:
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
