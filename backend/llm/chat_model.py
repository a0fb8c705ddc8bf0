"""The one path to models: ChatOpenAI that refuses cut answers and keeps thinking and usage."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableBinding
from langchain_openai import ChatOpenAI
from pydantic import Field

from backend.llm.answer import Answer, Delta
from backend.llm.arguments import RAW_ARGUMENTS, REASONING, argument_texts
from backend.llm.failures import FAILURES, explain_failure

SILENCE_SECONDS = 180.0


class ColloquyChatModel(ChatOpenAI):
    """Chat completions over HTTP, always streamed, whole answers only.

    `on_delta` sees each piece as it arrives; that costs a fraction of LangGraph's token stream,
    which builds, merges and filters a message object for each. Answers that broke off raise
    IncompleteAnswer, all other failures ModelUnavailable.
    """

    on_delta: Callable[[Delta], None] | None = Field(None, exclude=True)
    silence_seconds: float = SILENCE_SECONDS

    def bind_tools(
        self, tools: Sequence[Any], **options: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind the tools; a schema that a tool server gave is sent as it is, not rewritten."""
        bound = super().bind_tools(tools, **options)
        if isinstance(bound, RunnableBinding):
            for tool, sent in zip(tools, bound.kwargs["tools"], strict=True):
                if isinstance(schema := getattr(tool, "args_schema", None), dict):
                    sent["function"]["parameters"] = {"properties": {}, **schema}
        return bound

    def _get_request_payload(
        self, input_: Any, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        messages = self._convert_input(input_).to_messages()
        payload: dict[str, Any] = super()._get_request_payload(messages, stop=stop, **kwargs)
        for message, sent in zip(messages, payload["messages"], strict=True):
            if isinstance(message, AIMessage) and message.tool_calls:
                _restore_argument_texts(message, sent["tool_calls"])
        payload |= {"stream": True, "stream_options": {"include_usage": True}}
        return payload

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = Answer()
        async for delta in self._receive(answer, messages, stop, kwargs):
            if self.on_delta is not None:
                self.on_delta(delta)
        return ChatResult(generations=[ChatGeneration(message=answer.message())])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        answer = Answer()
        async for delta in self._receive(answer, messages, stop, kwargs):
            yield _as_chunk(delta)
        yield _last_chunk(answer.message())

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = Answer()
        for _ in self._receive_sync(answer, messages, stop, kwargs):
            pass
        return ChatResult(generations=[ChatGeneration(message=answer.message())])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = Answer()
        for delta in self._receive_sync(answer, messages, stop, kwargs):
            yield _as_chunk(delta)
        yield _last_chunk(answer.message())

    async def _receive(
        self,
        answer: Answer,
        messages: list[BaseMessage],
        stop: list[str] | None,
        options: dict[str, Any],
    ) -> AsyncIterator[Delta]:
        began = False
        payload = self._get_request_payload(messages, stop=stop, **options)
        try:
            async with asyncio.timeout(self.silence_seconds):
                stream = await self.async_client.create(**_as_body(payload))
            async with stream:
                chunks = aiter(stream)
                while (chunk := await self._next(chunks)) is not None:
                    began = True
                    for delta in answer.add(chunk):
                        yield delta
        except FAILURES as error:
            raise explain_failure(error, self.model_name, began) from error

    async def _next(self, chunks: AsyncIterator[Any]) -> Any:
        async with asyncio.timeout(self.silence_seconds):
            return await anext(chunks, None)

    def _receive_sync(
        self,
        answer: Answer,
        messages: list[BaseMessage],
        stop: list[str] | None,
        options: dict[str, Any],
    ) -> Iterator[Delta]:
        began = False
        payload = self._get_request_payload(messages, stop=stop, **options)
        try:
            with self.client.create(**_as_body(payload)) as stream:
                for chunk in stream:
                    began = True
                    yield from answer.add(chunk)
        except FAILURES as error:
            raise explain_failure(error, self.model_name, began) from error


def _as_body(payload: dict[str, Any]) -> dict[str, Any]:
    """Hand the messages to the SDK as part of the body, ready to be sent.

    As an argument it walks through each of them, for 0.13 ms a message, while all turns wait.
    """
    ready = {key: payload[key] for key in ("messages", "tools") if key in payload}
    rest = {key: value for key, value in payload.items() if key not in ready}
    return {**rest, "messages": [], "extra_body": {**(rest.get("extra_body") or {}), **ready}}


def _restore_argument_texts(message: AIMessage, sent: list[dict[str, Any]]) -> None:
    raw = message.additional_kwargs.get(RAW_ARGUMENTS, [])
    texts = argument_texts([call["args"] for call in message.tool_calls], raw)
    for call, text in zip(sent, texts, strict=False):
        call["function"]["arguments"] = text


def _as_chunk(delta: Delta) -> ChatGenerationChunk:
    extra = {REASONING: delta.thinking} if delta.thinking else {}
    chunk = AIMessageChunk(content=delta.text, id=delta.message_id, additional_kwargs=extra)
    return ChatGenerationChunk(message=chunk)


def _last_chunk(message: AIMessage) -> ChatGenerationChunk:
    """Return what the deltas did not carry: the calls, whole, and the usage."""
    extra = {key: v for key, v in message.additional_kwargs.items() if key != REASONING}
    raw = message.additional_kwargs.get(RAW_ARGUMENTS, [])
    texts = argument_texts([call["args"] for call in message.tool_calls], raw)
    calls = [
        tool_call_chunk(name=call["name"], args=text, id=call["id"], index=index)
        for index, (call, text) in enumerate(zip(message.tool_calls, texts, strict=True))
    ]
    chunk = AIMessageChunk(
        content="",
        id=message.id,
        tool_call_chunks=calls,
        additional_kwargs=extra,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
        chunk_position="last",
    )
    return ChatGenerationChunk(message=chunk)
