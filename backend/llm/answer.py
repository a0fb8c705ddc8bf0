"""One answer of a model, from its stream: shown piece by piece, accepted only as a whole."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCall, tool_call

from backend.errors import IncompleteAnswer
from backend.llm.arguments import (
    RAW_ARGUMENTS,
    REASONING,
    parse_arguments,
    write_arguments,
)
from backend.text import clean_text

CUT_SHORT = ("length", "content_filter")


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer as it arrives: of its text or of the thinking before it."""

    message_id: str
    text: str = ""
    thinking: str = ""


@dataclass
class _Call:
    call_id: str
    name: str
    pieces: list[str] = field(default_factory=list)


class Answer:
    """Gathers the chunks of one answer. A cut or malformed answer is refused, never repaired.

    LangChain completes the JSON of a call that was cut off and runs the tool with half of its
    arguments; here a call exists only when its stream ended properly and its text is strict JSON.
    """

    def __init__(self) -> None:
        self.message_id = str(uuid4())
        self._text = _Pieces()
        self._thinking = _Pieces()
        self._refused = False
        self._calls: list[_Call] = []
        self._by_index: dict[Any, _Call] = {}
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._usage: Any = None

    def add(self, chunk: Any) -> Iterator[Delta]:
        """Take one chunk of the chat completions stream and yield what a person may see of it."""
        if usage := getattr(chunk, "usage", None):
            self._usage = usage
        if not getattr(chunk, "choices", None):
            return
        choice = chunk.choices[0]
        if choice.finish_reason:
            self._finish_reason = choice.finish_reason
            self._model = chunk.model
        delta = choice.delta
        if delta is None:
            return
        thinking = getattr(delta, REASONING, None) or getattr(delta, "reasoning", None)
        if thinking and isinstance(thinking, str) and (shown := self._thinking.add(thinking)):
            yield Delta(self.message_id, thinking=shown)
        if (text := delta.content or self._refusal(delta)) and (shown := self._text.add(text)):
            yield Delta(self.message_id, text=shown)
        for piece in delta.tool_calls or ():
            self._add_call(piece)

    def message(self) -> AIMessage:
        """Return the whole answer; IncompleteAnswer if it broke off or a call cannot be read."""
        if self._finish_reason is None:
            raise IncompleteAnswer
        if self._calls and self._finish_reason in CUT_SHORT:
            raise IncompleteAnswer(
                f"The model's answer was cut ({self._finish_reason}) within a tool call; "
                "no tool of it was run. Press Retry."
            )
        texts = ["".join(call.pieces) for call in self._calls]
        return AIMessage(
            content=self._text.joined(),
            id=self.message_id,
            tool_calls=self._tool_calls(texts),
            additional_kwargs=self._extra(texts),
            response_metadata=self._metadata(),
            usage_metadata=_usage(self._usage),
        )

    def _refusal(self, delta: Any) -> str | None:
        refusal: str | None = getattr(delta, "refusal", None)
        self._refused = self._refused or bool(refusal)
        return refusal

    def _add_call(self, piece: Any) -> None:
        """Add to the call of the piece's index; another id at the same index is another call."""
        function = piece.function
        call = self._by_index.get(piece.index)
        if call is None or (piece.id and call.call_id and piece.id != call.call_id):
            call = _Call(piece.id or "", "")
            self._calls.append(call)
            self._by_index[piece.index] = call
        call.call_id = call.call_id or piece.id or ""
        if function is not None:
            call.name = call.name or function.name or ""
            call.pieces.append(function.arguments or "")

    def _tool_calls(self, texts: list[str]) -> list[ToolCall]:
        taken: set[str] = set()
        calls = []
        for call, text in zip(self._calls, texts, strict=True):
            call_id = clean_text(call.call_id)
            if not call_id or call_id in taken:
                call_id = f"call_{uuid4().hex}"
            taken.add(call_id)
            calls.append(_parse_call(call_id, clean_text(call.name), text))
        return calls

    def _extra(self, texts: list[str]) -> dict[str, Any]:
        extra: dict[str, Any] = {}
        if thinking := self._thinking.joined():
            extra[REASONING] = thinking
        if self._refused:
            extra["refusal"] = True
        written = [write_arguments(parse_arguments(text)) for text in texts]
        if written != texts:
            pairs = zip(texts, written, strict=True)
            extra[RAW_ARGUMENTS] = [None if raw == new else raw for raw, new in pairs]
        return extra

    def _metadata(self) -> dict[str, Any]:
        metadata = {"finish_reason": self._finish_reason, "model_name": self._model}
        return {key: clean_text(value) for key, value in metadata.items() if value}


class _Pieces:
    """Text in pieces; half of a character that two chunks share waits for its other half."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._half = ""

    def add(self, piece: str) -> str:
        piece = self._half + piece
        self._half = ""
        if "\ud800" <= piece[-1] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        shown = clean_text(piece)
        self._pieces.append(shown)
        return shown

    def joined(self) -> str:
        return "".join(self._pieces)


def _parse_call(call_id: str, name: str, text: str) -> ToolCall:
    if not name:
        raise IncompleteAnswer("The model called a tool without a name; nothing was run.")
    try:
        arguments = parse_arguments(text)
    except ValueError as error:
        raise IncompleteAnswer(
            f"The model's arguments for {name} are not valid JSON; no tool was run. Press Retry."
        ) from error
    return tool_call(name=name, args=arguments, id=call_id)


def _usage(usage: Any) -> UsageMetadata | None:
    if usage is None:
        return None
    tokens_in, tokens_out = usage.prompt_tokens or 0, usage.completion_tokens or 0
    total = getattr(usage, "total_tokens", None) or tokens_in + tokens_out
    used = UsageMetadata(input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=total)
    read = getattr(usage, "prompt_tokens_details", None)
    written = getattr(usage, "completion_tokens_details", None)
    if cached := getattr(read, "cached_tokens", None):
        used["input_token_details"] = {"cache_read": cached}
    if reasoning := getattr(written, "reasoning_tokens", None):
        used["output_token_details"] = {"reasoning": reasoning}
    return used
