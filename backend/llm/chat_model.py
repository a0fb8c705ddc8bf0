"""The one path to models: ChatOpenAI that refuses truncated answers, keeps thinking and usage."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Self

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_openai import ChatOpenAI
from openai import Omit
from pydantic import Field, SecretStr, model_validator

from backend.errors.models import IncompleteAnswer
from backend.llm.answer import Answer
from backend.llm.arguments import RAW_ARGUMENTS, argument_texts
from backend.llm.asking import Asking, Tell
from backend.llm.events import ANSWER, ModelCall, ModelEvent
from backend.llm.failures import FAILURES, ModelFailure, explain_failure
from backend.llm.patience import Patience
from backend.llm.prices import COST, cost_of
from backend.llm.wire.kept import give_back, provider_of
from backend.llm.wire.stream import AsyncChunks, Chunks
from backend.settings import Price

# Posted by path and read as plain JSON: the SDK's typed method walks through each message, for
# 0.13 ms, and builds a model of each chunk, for 0.06 ms, while all other turns wait.
PATH = "/chat/completions"
KEY = {"security": {"bearer_auth": True}}  # never an admin key, which the SDK would prefer
NO_KEY = {**KEY, "headers": {"Authorization": Omit()}}
LAST_WORD_SECONDS = 3.0
TOLERANCE = 0.05


class ColloquyChatModel(ChatOpenAI):
    """Chat completions over HTTP, always streamed, complete answers only.

    `on_event` gets each piece as it arrives; that costs a fraction of LangGraph's token stream,
    which builds, merges and filters a message object for each. It also gets the reason of each
    retry and, first of all, the request itself as it leaves, with its `purpose`. When retries are
    exhausted, an answer that broke off raises IncompleteAnswer, any other failure
    ModelUnavailable. `provider` names the provider, so that its own fields go to no other. `key` is
    the API key, empty if none is sent: the SDK wants one in any case.
    """

    on_event: Tell | None = Field(None, exclude=True)
    purpose: str = Field(ANSWER, exclude=True)
    patience: Patience = Patience()
    price: Price | None = Field(None, exclude=True)
    provider: str = Field("", exclude=True)
    key: SecretStr = Field(SecretStr(""), exclude=True)

    @model_validator(mode="after")
    def _name_provider(self) -> Self:
        self.provider = self.provider or provider_of(self.openai_api_base, self.model_name)
        return self

    def bind_tools(
        self, tools: Sequence[Any], **options: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind the tools; a tool server's schema is sent unchanged."""
        return super().bind_tools([describe_tool(tool) for tool in tools], **options)

    def _get_request_payload(
        self, input_: Any, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        messages = self._convert_input(input_).to_messages()
        payload: dict[str, Any] = super()._get_request_payload(messages, stop=stop, **kwargs)
        for message, sent in zip(messages, payload["messages"], strict=True):
            if isinstance(message, AIMessage):
                if message.tool_calls:
                    _restore_argument_texts(message, sent["tool_calls"])
                give_back(message, sent, self.provider)
        payload |= {"stream": True, "stream_options": {"include_usage": True}}
        return payload

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        tell = self.on_event or _ignore
        asking = Asking(self._explain, self.provider, self.patience, tell)

        async def receive(answer: Answer, deadline: float) -> None:
            await self._receive(answer, payload, tell, deadline)

        tell(call := ModelCall(self.purpose, messages, payload, self.provider))
        with call.under_way():
            message = await asking.ask(receive)
            result = self._result(message)
            call.answered(message, message.response_metadata.get(COST, 0.0))
        return result

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        result = await self._agenerate(messages, *args, **kwargs)
        yield _whole_chunk(result)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        """Ask once, for scripts: agents ask asynchronously, because only that can be stopped."""
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        answer = Answer(self.provider)
        try:
            asked = self._asked(payload)
            with self.root_client.post(PATH, **asked, stream_cls=Chunks) as stream:
                for chunk in stream:
                    answer.add(chunk)
        except FAILURES as error:
            if not answer.has_ended:
                raise self._explain(error, answer).error from error
        return self._result(answer.message())

    def _result(self, message: AIMessage) -> ChatResult:
        """Return the answer with its cost, which only this model knows."""
        if self.price and message.usage_metadata:
            message.response_metadata[COST] = cost_of(message.usage_metadata, self.price)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        yield _whole_chunk(self._generate(messages, *args, **kwargs))

    async def _receive(
        self, answer: Answer, payload: dict[str, Any], tell: Tell, deadline: float
    ) -> None:
        """Fill the answer. An error after its content is complete loses its usage at most."""
        clock = asyncio.get_running_loop().time
        first = min(clock() + self.patience.first_token_seconds, deadline)
        try:
            async with asyncio.timeout_at(first) as limit:
                asked = self._asked(payload)
                stream = await self.root_async_client.post(PATH, **asked, stream_cls=AsyncChunks)
                async with stream:
                    async for chunk in stream:
                        for delta in answer.add(chunk):
                            tell(delta)
                        self._extend(limit, answer, clock(), deadline)
        except IncompleteAnswer:
            raise
        except FAILURES:
            if not answer.has_ended:
                raise

    def _asked(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the request options of both clients: a stream of plain JSON."""
        options = KEY if self.key.get_secret_value() else NO_KEY
        return {"body": payload, "options": options, "cast_to": object, "stream": True}

    def _explain(self, error: Exception, answer: Answer) -> ModelFailure:
        return explain_failure(error, self.model_name, answer, self.key.get_secret_value())

    def _extend(self, limit: asyncio.Timeout, answer: Answer, now: float, deadline: float) -> None:
        """Extend the limit for the next chunk, but rarely, because this runs for each chunk."""
        if not answer.has_begun and not answer.has_ended:
            return
        seconds = LAST_WORD_SECONDS if answer.has_ended else self.patience.silence_seconds
        wanted, current = min(now + seconds, deadline), limit.when() or deadline
        if abs(wanted - current) > seconds * TOLERANCE:
            limit.reschedule(wanted)


def describe_tool(tool: Any) -> dict[str, Any]:
    """Return the tool's description for the model.

    Writing a schema takes milliseconds, so the result is cached. A tool server's schema is not
    changed: LangChain would expand each of its references, which a few lines can make endless.
    """
    if not isinstance(tool, BaseTool):
        return convert_to_openai_tool(tool)
    if isinstance(schema := tool.args_schema, dict):
        function = {
            "name": tool.name,
            "description": tool.description,
            "parameters": {"properties": {}, **schema},
        }
        return {"type": "function", "function": function}
    key = (tool.name, tool.description, schema)
    if key not in _DESCRIBED:
        _DESCRIBED[key] = convert_to_openai_tool(tool)
    return _DESCRIBED[key]


_DESCRIBED: dict[Any, dict[str, Any]] = {}


def _restore_argument_texts(message: AIMessage, sent: list[dict[str, Any]]) -> None:
    raw = message.additional_kwargs.get(RAW_ARGUMENTS, [])
    texts = argument_texts([call["args"] for call in message.tool_calls], raw)
    for call, text in zip(sent, texts, strict=False):
        call["function"]["arguments"] = text


def _ignore(event: ModelEvent) -> None:
    """Ignore the event."""


def _whole_chunk(result: ChatResult) -> ChatGenerationChunk:
    """Return the answer as one chunk: only a complete answer may be acted upon."""
    message = result.generations[0].message
    assert isinstance(message, AIMessage)  # noqa: S101  # _result() has put it there
    raw = message.additional_kwargs.get(RAW_ARGUMENTS, [])
    texts = argument_texts([call["args"] for call in message.tool_calls], raw)
    calls = [
        tool_call_chunk(name=call["name"], args=text, id=call["id"], index=index)
        for index, (call, text) in enumerate(zip(message.tool_calls, texts, strict=True))
    ]
    chunk = AIMessageChunk(
        content=message.content,
        id=message.id,
        tool_call_chunks=calls,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
        chunk_position="last",
    )
    return ChatGenerationChunk(message=chunk)
