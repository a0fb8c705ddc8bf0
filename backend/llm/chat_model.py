"""The one path to models: ChatOpenAI that refuses truncated answers, keeps thinking and usage."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial
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
from openai import APIError, Omit
from pydantic import Field, SecretStr, model_validator

from backend.errors.models import FormRefused, IncompleteAnswer
from backend.llm.answer import Answer
from backend.llm.asking import Asking, Tell
from backend.llm.events import ANSWER, ModelCall, ModelEvent, Reshaped
from backend.llm.failures import FAILURES, ModelFailure, explain_failure
from backend.llm.form.plain import bound_description, use_plain_form
from backend.llm.form.repairs import choose_repairs, shape
from backend.llm.patience import Patience
from backend.llm.prices import COST, FindPrice, cost_of
from backend.llm.refusals import Refusal
from backend.llm.wire.kept import give_back, provider_of
from backend.llm.wire.stream import AsyncChunks, Chunks
from backend.types import JSON
from colloquy_kit.messages.arguments import MODEL_NAME, RAW_ARGUMENTS, argument_texts

# Posted by path and read as plain JSON: the SDK's typed method walks through each message, for
# 0.13 ms, and builds a model of each chunk, for 0.06 ms, while all other turns wait.
PATH = "/chat/completions"
KEY = {"security": {"bearer_auth": True}}  # never an admin key, which the SDK would prefer
NO_KEY = {**KEY, "headers": {"Authorization": Omit()}}
LAST_WORD_SECONDS = 3.0
TOLERANCE = 0.05
Permit = Callable[[str], Awaitable[None]]  # gets the model's name


class KnownForm:
    """The repairs of requests that an endpoint's model needs, as far as the process knows."""

    def __init__(self) -> None:
        self.repairs: frozenset[str] = frozenset()


class ColloquyChatModel(ChatOpenAI):
    """Chat completions over HTTP, always streamed, complete answers only.

    `on_event` gets each piece as it arrives; that costs a fraction of LangGraph's token stream,
    which builds, merges and filters a message object for each. It also gets the reason of each
    retry and, first of all, the request itself as it leaves, with its `purpose`. When retries are
    exhausted, an answer that broke off raises IncompleteAnswer, any other failure
    ModelUnavailable. `provider` names the provider, so that its own fields go to no other. `key` is
    the API key, empty if none is sent: the SDK wants one in any case. A request whose form the
    endpoint refuses is repaired and sent again; `form`, which copies of the model share, keeps
    what helped, and `on_event` gets what was changed. `permit` is asked before each request, and
    raises if it may not be sent.
    """

    on_event: Tell | None = Field(None, exclude=True)
    purpose: str = Field(ANSWER, exclude=True)
    patience: Patience = Patience()
    find_price: FindPrice | None = Field(None, exclude=True)
    provider: str = Field("", exclude=True)
    key: SecretStr = Field(SecretStr(""), exclude=True)
    form: KnownForm = Field(default_factory=KnownForm, exclude=True)
    permit: Permit | None = Field(None, exclude=True)

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
            use_plain_form(sent)
        payload |= {"stream": True, "stream_options": {"include_usage": True}}
        return payload

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self.permit is not None:
            await self.permit(self.model_name)
        plain = self._get_request_payload(messages, stop=stop, **kwargs)
        made_of = {id(sent): given for given, sent in zip(messages, plain["messages"], strict=True)}
        tell, repairs = self.on_event or _ignore, self.form.repairs
        while True:
            payload, changes = shape(plain, repairs)
            sources = [made_of.get(id(sent)) for sent in payload["messages"]]
            tell(call := ModelCall(self.purpose, sources, payload, self.provider))
            try:
                with call.under_way():
                    message = await self._ask(payload, repairs, tell)
                    result = self._result(message)
                    call.answered(message, message.response_metadata.get(COST, 0.0))
            except FormRefused as refused:
                repairs |= refused.repairs
                continue
            self.form.repairs |= repairs
            if changes:
                tell(Reshaped(self.model_name, tuple(changes)))
            return result

    async def _ask(self, payload: JSON, repairs: frozenset[str], tell: Tell) -> AIMessage:
        """Return the answer to a request. Raise FormRefused if repairs of its form may help."""

        def explain(error: Exception, answer: Answer) -> ModelFailure:
            if isinstance(error, APIError) and not answer.has_begun:
                refusal = Refusal.of(error, self.key.get_secret_value())
                if chosen := choose_repairs(refusal, payload, repairs):
                    raise FormRefused(chosen)
            return self._explain(error, answer)

        async def receive(answer: Answer, deadline: float) -> None:
            await self._receive(answer, payload, tell, deadline)

        begin = partial(Answer, self.provider, _names_of_tools(payload))
        return await Asking(explain, begin, self.patience, tell).ask(receive)

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
        plain = self._get_request_payload(messages, stop=stop, **kwargs)
        payload, _ = shape(plain, self.form.repairs)
        answer = Answer(self.provider, _names_of_tools(payload))
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
        """Return the answer with its cost and, if the endpoint did not say it, its model."""
        message.response_metadata.setdefault(MODEL_NAME, self.model_name)
        price = self.find_price(self.model_name) if self.find_price else None
        if price and message.usage_metadata:
            message.response_metadata[COST] = cost_of(message.usage_metadata, price)
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
        return {"type": "function", "function": bound_description(function)}
    key = (tool.name, tool.description, schema)
    if key not in _DESCRIBED:
        described = convert_to_openai_tool(tool)
        described["function"] = bound_description(described["function"])
        _DESCRIBED[key] = described
    return _DESCRIBED[key]


_DESCRIBED: dict[Any, dict[str, Any]] = {}


def _names_of_tools(payload: JSON) -> frozenset[str]:
    return frozenset(tool["function"]["name"] for tool in payload.get("tools") or ())


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
