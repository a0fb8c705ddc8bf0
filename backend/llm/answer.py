"""One answer of a model, from its stream: shown piece by piece, accepted only as a whole."""

import json
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
    UNREADABLE,
    parse_arguments,
    write_arguments,
)
from backend.llm.events import Delta
from backend.schemas.wire import JSON
from backend.text import clean_text

CUT_SHORT = ("length", "content_filter")
BROKEN = (None, "error")
THOUGHTS = ("thinking", "reasoning")
THOUGHT_KEYS = ("thinking", "reasoning", "text", "summary")
MAX_ANSWER_CHARS = 8_000_000
MAX_CALLS = 1_000
MAX_UNREADABLE_CHARS = 2_000


@dataclass
class _Call:
    """A call as it arrives, and then what became of its arguments: read, or why they cannot be."""

    call_id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    arguments: JSON = field(default_factory=dict)
    raw: str | None = None
    unreadable: str | None = None

    def read(self) -> None:
        """Read the arguments. Those that are no JSON object leave one that a provider accepts."""
        text = "".join(self.pieces)
        try:
            self.arguments = parse_arguments(text)
        except ValueError as error:
            self.arguments = {UNREADABLE: clean_text(text[:MAX_UNREADABLE_CHARS])}
            self.unreadable = clean_text(str(error))[:MAX_UNREADABLE_CHARS]
        else:
            self.raw = None if write_arguments(self.arguments) == text else text


class Answer:
    """Gathers the chunks of one answer. A cut answer is refused, never repaired.

    LangChain completes the JSON of a call that was cut off and runs the tool with half of its
    arguments; here an answer counts only when its stream ended properly. A call of it whose text
    is not strict JSON is marked, so that it is not run but answered with what is wrong.
    """

    def __init__(self) -> None:
        self.message_id = str(uuid4())
        self.has_begun = False
        self.was_shown = False
        self._size = 0
        self._choice: Any = None
        self._text = _Pieces()
        self._thinking = _Pieces()
        self._refused = False
        self._calls: list[_Call] = []
        self._by_index: dict[Any, _Call] = {}
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._usage: JSON | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the model has said its last word; what follows is its usage, if anything."""
        return self._finish_reason is not None

    @property
    def usage(self) -> UsageMetadata | None:
        """What it has used, as far as it has said so."""
        return _usage(self._usage)

    @property
    def is_empty(self) -> bool:
        """Whether there is neither text nor call, nor a reason for that."""
        said = self._calls or self._text.joined().strip()
        return not said and self._finish_reason not in CUT_SHORT

    @property
    def is_worth_another_try(self) -> bool:
        """Whether the model may do better; one that ran into a limit would do so again."""
        return self._finish_reason not in CUT_SHORT and self._size <= MAX_ANSWER_CHARS

    def add(self, chunk: Any) -> list[Delta]:
        """Take one chunk of the chat completions stream and return what a person may see of it.

        Raises ValueError for what is no such chunk, IncompleteAnswer for an endless answer.
        """
        try:
            shown = list(self._read(chunk))
        except (AttributeError, TypeError, KeyError) as error:
            raise ValueError("the model's endpoint sent what is no chunk") from error
        self.was_shown = self.was_shown or bool(shown)
        if self._size > MAX_ANSWER_CHARS:
            raise IncompleteAnswer(
                f"The model's answer has more than {MAX_ANSWER_CHARS} characters; no tool of it "
                "was run. Ask for less."
            )
        return shown

    def message(self) -> AIMessage:
        """Return the whole answer; IncompleteAnswer if it broke off or calls what has no name."""
        if self._finish_reason in BROKEN:
            raise IncompleteAnswer
        if self._calls and self._finish_reason in CUT_SHORT:
            raise IncompleteAnswer(
                f"The model's answer was cut ({self._finish_reason}) within a tool call; "
                "no tool of it was run. Press Retry."
            )
        if not all(call.name for call in self._calls):
            raise IncompleteAnswer("The model called a tool without a name; nothing was run.")
        for call in self._calls:
            call.read()
        return AIMessage(
            content=self._text.joined(),
            id=self.message_id,
            tool_calls=self._tool_calls(),
            additional_kwargs=self._extra(),
            response_metadata=self._metadata(),
            usage_metadata=self.usage,
        )

    def _read(self, chunk: Any) -> Iterator[Delta]:
        if isinstance(usage := chunk.get("usage"), dict) and usage:
            self._usage = usage
        choice = self._own_choice(chunk.get("choices") or [])
        if choice is None:
            return
        if finish_reason := choice.get("finish_reason"):
            self._finish_reason = str(finish_reason)
            self._model = chunk.get("model")
        delta = choice.get("delta")
        if delta is None:
            return
        if shown := self._keep(self._thinking, _thinking_of(delta)):
            yield Delta(self.message_id, thinking=shown)
        text = _text_of(delta.get("content")) or self._refusal(delta) or ""
        if shown := self._keep(self._text, text):
            yield Delta(self.message_id, text=shown)
        for piece in delta.get("tool_calls") or ():
            self._add_call(piece)

    def _own_choice(self, choices: list[JSON]) -> JSON | None:
        """Return the choice that came first in this answer; a second one would be mixed into it."""
        for choice in choices:
            index = choice.get("index") or 0
            if self._choice is None:
                self._choice = index
            if index == self._choice:
                return choice
        return None

    def _keep(self, pieces: "_Pieces", piece: str) -> str:
        if not piece:
            return ""
        self.has_begun = True
        self._size += len(piece)
        return pieces.add(piece)

    def _refusal(self, delta: JSON) -> str | None:
        refusal: str | None = delta.get("refusal")
        self._refused = self._refused or bool(refusal)
        return refusal

    def _add_call(self, piece: JSON) -> None:
        """Add to the call of the piece's index; another id at the same index is another call."""
        index, call_id = piece.get("index"), piece.get("id") or ""
        call = self._by_index.get(index)
        if call is None or (call_id and call.call_id and call_id != call.call_id):
            call = _Call(call_id, "")
            self._calls.append(call)
            if len(self._calls) > MAX_CALLS:
                raise IncompleteAnswer(
                    f"The model's answer calls more than {MAX_CALLS} tools at once; none of them "
                    "was run. Ask for less."
                )
            self._by_index[index] = call
        call.call_id = call.call_id or call_id
        self.has_begun = True
        if function := piece.get("function"):
            call.name = call.name or function.get("name") or ""
            text = _arguments_of(function.get("arguments"))
            self._size += len(text)
            call.pieces.append(text)

    def _tool_calls(self) -> list[ToolCall]:
        taken: set[str] = set()
        calls = []
        for call in self._calls:
            call_id = clean_text(call.call_id)
            if not call_id or call_id in taken:
                call_id = f"call_{uuid4().hex}"
            taken.add(call_id)
            calls.append(tool_call(name=clean_text(call.name), args=call.arguments, id=call_id))
        return calls

    def _extra(self) -> dict[str, Any]:
        extra: dict[str, Any] = {}
        if thinking := self._thinking.joined():
            extra[REASONING] = thinking
        if self._refused:
            extra["refusal"] = True
        if any(call.raw for call in self._calls):
            extra[RAW_ARGUMENTS] = [call.raw for call in self._calls]
        if any(call.unreadable for call in self._calls):
            extra[UNREADABLE] = [call.unreadable for call in self._calls]
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


def _text_of(content: Any) -> str:
    """Return the text of a delta; some endpoints send it in blocks."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError("content is neither text nor blocks")
    return content or ""


def _thinking_of(delta: JSON) -> str:
    """Return the thinking of a delta: a text beside the content, or blocks there or within it."""
    said = delta.get(REASONING) or delta.get("reasoning")
    if isinstance(said, str) and said:
        return said
    places = (delta.get("content"), delta.get("reasoning_details"))
    blocks = [block for given in places if isinstance(given, list) for block in given]
    return "".join(_thought(block) for block in blocks if isinstance(block, dict))


def _thought(block: JSON) -> str:
    """Return what a block of thinking says; endpoints differ in where they put it."""
    if not str(block.get("type")).startswith(THOUGHTS):
        return ""
    said = next((said for key in THOUGHT_KEYS if (said := block.get(key))), "")
    if isinstance(said, list):
        return "".join(str(part.get("text") or "") for part in said if isinstance(part, dict))
    return said if isinstance(said, str) else ""


def _arguments_of(arguments: Any) -> str:
    """Return the text of a piece of arguments; some endpoints send them as an object, whole."""
    return json.dumps(arguments) if isinstance(arguments, dict) else arguments or ""


def _usage(usage: JSON | None) -> UsageMetadata | None:
    if usage is None:
        return None
    tokens_in, tokens_out = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    total = usage.get("total_tokens") or tokens_in + tokens_out
    used = UsageMetadata(input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=total)
    read, written = (usage.get(f"{part}_tokens_details") or {} for part in ("prompt", "completion"))
    if cached := read.get("cached_tokens"):
        used["input_token_details"] = {"cache_read": cached}
    if reasoning := written.get("reasoning_tokens"):
        used["output_token_details"] = {"reasoning": reasoning}
    return used
