"""The peer of B10: server-sent events as usually built on a Redis stream, an XREAD per viewer."""

import argparse
from collections.abc import AsyncIterator

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from redis.asyncio import Redis

from backend.events.stream import STREAM

BLOCK_MS = 5_000
COUNT = 100


def connect(redis_url: str) -> Redis:
    """Connect to Redis with as many connections as viewers, on which reads may block for long."""
    return Redis.from_url(redis_url, socket_timeout=None, max_connections=1_000)


async def follow(redis: Redis, key: str) -> AsyncIterator[bytes]:
    """Follow as one viewer, with its own connection to Redis and place in the stream."""
    newest = await redis.xrevrange(key, count=1)
    last: bytes | str = newest[0][0] if newest else "0"
    yield b": connected\n\n"
    while True:
        for _, entries in await redis.xread({key: last}, count=COUNT, block=BLOCK_MS) or []:
            for last, fields in entries:
                yield b"id: %s\nevent: text_delta\ndata: %s\n\n" % (last, fields[b"e"])


def create_app(redis_url: str) -> FastAPI:
    """Create the service."""
    app = FastAPI()
    redis = connect(redis_url)

    @app.get("/events/{session_id}")
    async def get_events(session_id: str) -> StreamingResponse:
        return StreamingResponse(
            follow(redis, f"{STREAM}{session_id}"), media_type="text/event-stream"
        )

    return app


def main() -> None:
    """Serve until terminated."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--redis", required=True)
    arguments = parser.parse_args()
    app = create_app(arguments.redis)
    uvicorn.run(app, port=arguments.port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
