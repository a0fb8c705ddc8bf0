"""The peer of B13: a LangChain agent behind FastAPI, in one process, with streamed answers.

`python -m benchmarks.peers.b13_peer --port 8000 --model URL --result TEXT [--database URL]`: with a
database, checkpoints are stored in PostgreSQL, otherwise in the process.
"""

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph.state import CompiledStateGraph
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from pydantic import BaseModel

CONNECTIONS = 20


class Message(BaseModel):
    """A person's message."""

    message: str


@asynccontextmanager
async def open_saver(database_url: str) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Open the store of checkpoints, connected as its documentation says."""
    if not database_url:
        yield InMemorySaver()
        return
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(
        database_url, kwargs=options, max_size=CONNECTIONS, open=False
    ) as pool:
        saver = AsyncPostgresSaver(pool)  # type: ignore[arg-type]  # rows are dicts by the options
        await saver.setup()
        yield saver


def create_app(model_url: str, result: str, database_url: str) -> FastAPI:
    """Create the service; its agent is created once, when it starts."""
    agents: list[CompiledStateGraph] = []

    def list_sources() -> str:
        """List all data sources you can query: names, kinds, tables and numbers of rows."""
        return result

    @asynccontextmanager
    async def run(_: FastAPI) -> AsyncIterator[None]:
        model = ChatOpenAI(model="scripted", base_url=model_url, api_key="test")  # type: ignore[arg-type]  # a plain text is taken, too
        async with open_saver(database_url) as saver:
            agents.append(create_agent(model, tools=[list_sources], checkpointer=saver))
            yield

    app = FastAPI(lifespan=run)

    @app.post("/chat/{thread_id}")
    async def chat(thread_id: str, body: Message) -> StreamingResponse:
        told = _stream(agents[0], thread_id, body.message)
        return StreamingResponse(told, media_type="text/event-stream")

    return app


async def _stream(agent: CompiledStateGraph, thread_id: str, said: str) -> AsyncIterator[bytes]:
    asked = {"messages": [{"role": "user", "content": said}]}
    config = {"configurable": {"thread_id": thread_id}}
    async for message, _ in agent.astream(asked, config, stream_mode="messages"):  # type: ignore[arg-type]  # as its documentation does
        if isinstance(message, AIMessageChunk) and message.text:
            yield b"data: %s\n\n" % orjson.dumps({"text": message.text})


def main() -> None:
    """Serve until terminated."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--result", required=True)
    parser.add_argument("--database", default="")
    arguments = parser.parse_args()
    app = create_app(arguments.model, arguments.result, arguments.database)
    uvicorn.run(app, port=arguments.port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
