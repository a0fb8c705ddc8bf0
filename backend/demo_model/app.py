"""The demo model's HTTP server: OpenAI's chat completions over the pure rules."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from backend.demo_model import wire
from backend.demo_model.conversation import InvalidMessages, read_conversation
from backend.demo_model.rules import reply
from backend.types import JSON

MODEL_NAME = "demo"


def create_app(delay_ms: float = 15.0) -> Starlette:
    """Return the server; `delay_ms` is the pause after each word of a stream."""

    async def complete(request: Request) -> Response:
        try:
            body = await request.json()
        except ValueError:
            return JSONResponse(wire.error("The body is not valid JSON."), 400)
        return _complete(body, delay_ms / 1000)

    return Starlette(
        routes=[
            Route("/v1/chat/completions", complete, methods=["POST"]),
            Route("/v1/models", _models),
            Route("/healthz", _healthz),
        ]
    )


def _complete(body: Any, pause: float) -> Response:
    if not isinstance(body, dict):
        return JSONResponse(wire.error("The body must be an object."), 400)
    try:
        conversation = read_conversation(body)
    except InvalidMessages as problem:
        return JSONResponse(wire.error(str(problem), "messages"), 400)
    parallel = body.get("parallel_tool_calls") is not False
    answer = wire.make_answer(body, reply(conversation, parallel), uuid4().hex, int(time.time()))
    if not body.get("stream"):
        return JSONResponse(wire.completion(answer))
    options = body.get("stream_options")
    include_usage = isinstance(options, dict) and bool(options.get("include_usage"))
    pieces = wire.chunks(answer, include_usage)
    return StreamingResponse(_events(pieces, pause), media_type="text/event-stream")


async def _events(pieces: Iterator[JSON], pause: float) -> AsyncIterator[str]:
    for piece in pieces:
        yield f"data: {json.dumps(piece)}\n\n"
        await asyncio.sleep(pause)
    yield "data: [DONE]\n\n"


async def _models(_: Request) -> Response:
    model = {"id": MODEL_NAME, "object": "model", "created": 0, "owned_by": "colloquy"}
    return JSONResponse({"object": "list", "data": [model]})


async def _healthz(_: Request) -> Response:
    return JSONResponse({"status": "ok"})
