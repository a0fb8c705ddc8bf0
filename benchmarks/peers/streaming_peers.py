"""The peers of B6: the same answers streamed by OpenAI's client alone, and by a LangGraph agent."""

import asyncio
import resource
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI

Ask = Callable[[str], Awaitable[str]]


@dataclass(frozen=True)
class Streamed:
    """The texts in the order of the questions, and the CPU seconds used by the process."""

    texts: tuple[str, ...]
    cpu: float


def stream_with_sdk(url: str, questions: Sequence[str], at_once: int) -> Streamed:
    """Stream with OpenAI's asynchronous client and nothing else."""

    async def run() -> Streamed:
        client = AsyncOpenAI(base_url=url, api_key="test", max_retries=0)

        async def ask(question: str) -> str:
            stream = await client.chat.completions.create(
                model="scripted",
                messages=[{"role": "user", "content": question}],
                stream=True,
                stream_options={"include_usage": True},
            )
            return "".join(
                [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
            )

        return await _all(ask, questions, at_once)

    return asyncio.run(run())


def stream_with_langgraph(url: str, questions: Sequence[str], at_once: int) -> Streamed:
    """Stream with an agent without tools, taking tokens as LangGraph yields them."""

    async def run() -> Streamed:
        model = ChatOpenAI(model="scripted", base_url=url, api_key="test", max_retries=0)  # type: ignore[arg-type]  # a plain text is taken, too
        agent = create_agent(model, tools=[])

        async def ask(question: str) -> str:
            pieces = []
            asked = {"messages": [{"role": "user", "content": question}]}
            async for message, _ in agent.astream(asked, stream_mode="messages"):  # type: ignore[arg-type]  # as its documentation does
                if isinstance(message, AIMessageChunk):
                    pieces.append(message.text)
            return "".join(pieces)

        return await _all(ask, questions, at_once)

    return asyncio.run(run())


async def _all(ask: Ask, questions: Sequence[str], at_once: int) -> Streamed:
    """Ask all questions, `at_once` concurrently, after a warm-up that is not counted."""
    await ask("get ready")
    gate = asyncio.Semaphore(at_once)

    async def take_turn(question: str) -> str:
        async with gate:
            return await ask(question)

    before = _cpu()
    texts = await asyncio.gather(*map(take_turn, questions))
    return Streamed(tuple(texts), _cpu() - before)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
