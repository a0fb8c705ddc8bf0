"""A scripted model: a real HTTP server that speaks OpenAI's chat completions, well or badly.

A step of a script is a dict; all keys are optional:
text, think, refusal: str; tools: [{name, args: dict or raw text, id, index}]; delay: seconds
before each chunk; until: an event to wait for after the text; hang: seconds before the tool calls;
wait: seconds before the answer begins; status: an HTTP error instead, with `headers` and `code`;
drop: end the stream without a finish_reason; cut: break the connection; finish: the finish_reason;
raw: bytes sent instead of the stream, with `status`, `headers` and `media_type`. After the
finish_reason: linger: seconds of silence; cut_late: break the connection; done: false for neither
usage nor [DONE].
"""

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from backend.agents.middleware.title import PROMPT
from backend.types import JSON
from tests.model_answers import chunks, completion, error_response

Script = Sequence[JSON] | Callable[[list[JSON], JSON], JSON]
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
        self,
        steps: Script = (),
        key: str | None = None,
        names: Sequence[str] | None = None,
        host: str = "127.0.0.1",
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
        # Named as TCP, else asyncio leaves Nagle on and each answer waits 40 ms.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind((host, 0))
        self.root_url = f"http://{host}:{self._socket.getsockname()[1]}"
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

    def _refuse_key(self, request: Request) -> Response | None:
        given = request.headers.get("authorization")
        if not self.key or given == f"Bearer {self.key}":
            return None
        said = f"Incorrect API key provided: {given}"
        return error_response(401, {"text": said, "code": "invalid_api_key"})

    def refuse(self, body: JSON) -> JSON | None:
        """The step in place of an answer to a request that is not valid; None if it is."""
        disorder = find_disorder(body["messages"])
        return {"status": 400, "text": disorder} if disorder else None

    async def _list(self, request: Request) -> Response:
        if refused := self._refuse_key(request):
            return refused
        if self.names is None:
            return error_response(404, {"text": "Not Found"})
        return JSONResponse({"object": "list", "data": [{"id": name} for name in self.names]})

    async def _answer(self, request: Request) -> Response:
        body = await request.json()
        if refused := self._refuse_key(request):
            return refused
        if self.names is not None and body["model"] not in self.names:
            said = f"The model `{body['model']}` does not exist"
            return error_response(404, {"text": said, "code": "model_not_found"})
        if str(body["messages"][-1].get("content")).startswith(TITLE_PROMPT):
            self.title_requests.append(body)
            return self._give(self.title, body)
        self.requests.append(body)
        self.started_at.append(time.monotonic())
        if refusal := self.refuse(body):
            return self._give(refusal, body)
        step = self._pick(body)
        await asyncio.sleep(step.get("wait", 0))
        return self._give(step, body)

    def _give(self, step: JSON, body: JSON) -> Response:
        if "raw" in step:
            kind = step.get("media_type", "text/event-stream")
            return Response(step["raw"], step.get("status", 200), step.get("headers"), kind)
        if status := step.get("status"):
            return error_response(status, step)
        if not body.get("stream"):
            return JSONResponse(completion(step, body))
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
        try:
            async for chunk in chunks(step, body):
                yield chunk
        finally:
            self.open_streams -= 1


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
