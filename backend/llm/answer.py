"""One model answer, read from its stream: shown piece by piece, accepted only as a whole."""

from collections.abc import Collection, Iterator
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCall

from backend.errors.models import IncompleteAnswer
from backend.llm.events import WAS_THINKING, Delta, Reset
from backend.llm.form.plain import find_called
from backend.llm.wire.calls import MAX_CALLS as MAX_CALLS
from backend.llm.wire.calls import Calls
from backend.llm.wire.deltas import (
    BROKEN,
    CUT_SHORT,
    MALFORMED,
    UNSHOWN,
    finish_reason_of,
    text_of,
    thinking_of,
    unshown_in,
    usage_in,
    usage_of,
)
from backend.llm.wire.kept import CALLS, FIELDS, FOR, KEPT, MAX_KEPT_CHARS, NOT_KEPT, Kept
from backend.llm.wire.sources import Sources
from backend.llm.wire.stream import End
from backend.llm.wire.think_tags import ThinkTags
from backend.types import JSON
from colloquy_kit.messages.arguments import MODEL_NAME, REASONING
from colloquy_kit.messages.clean import clean, clean_text

MAX_ANSWER_CHARS = 8_000_000
MAX_KINDS = 10  # of parts that are not shown


class Answer:
    """Assembles the chunks of one answer. A truncated answer is refused, never repaired.

    LangChain completes the JSON of a truncated call and runs the tool with half of its arguments;
    here an answer counts only if its stream ended properly. A call whose text is not strict JSON
    is marked, so that it is not run but answered with what is wrong. `provider` names the provider
    that the answer's provider-specific fields may be sent to again; `offered` are the names of the
    tools that it may call.
    """

    def __init__(self, provider: str = "", offered: Collection[str] = ()) -> None:
        self.message_id = str(uuid4())
        self.has_begun = False
        self.was_shown = False
        self._provider = provider
        self._size = 0
        self._choice: Any = None
        self._text = _Pieces()
        self._thinking = _Thinking()
        self._tags = ThinkTags()
        self._refused = False
        self._kept = Kept()
        self._offered = offered
        self._calls = Calls(self._kept)
        self._sources = Sources()
        self._unshown: set[str] = set()
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._usage: JSON | None = None

    @property
    def has_ended(self) -> bool:
        """Return whether the answer's content is complete; only its usage may follow."""
        return self._finish_reason is not None

    @property
    def usage(self) -> UsageMetadata | None:
        """Return its usage, as far as reported."""
        return usage_of(self._usage)

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to show or to run, nor a reason for that."""
        content = len(self._calls) or self._text.joined().strip() or self._unshown
        return not content and self._finish_reason not in CUT_SHORT

    @property
    def is_worth_another_try(self) -> bool:
        """Return whether a retry may help; a model that hit a limit would hit it again."""
        return self._finish_reason not in CUT_SHORT and self._size <= MAX_ANSWER_CHARS

    def add(self, chunk: Any) -> list[Delta | Reset]:
        """Add one chunk of the chat completions stream and return what a person may see of it.

        Raise ValueError for anything but a chunk, IncompleteAnswer for an endless answer.
        """
        try:
            shown = list(self._end() if chunk is End.DONE else self._read(chunk))
        except (AttributeError, TypeError, KeyError) as error:
            raise ValueError("the model's endpoint sent something that is not a chunk") from error
        self.was_shown = self.was_shown or bool(shown)
        if self._size > MAX_ANSWER_CHARS:
            raise IncompleteAnswer(
                f"The model's answer has more than {MAX_ANSWER_CHARS} characters; none of its tool "
                "calls were run. Ask for less."
            )
        return shown

    def message(self) -> AIMessage:
        """Return the whole answer. Raise IncompleteAnswer if it broke off or a call has no name."""
        if self._finish_reason in BROKEN:
            raise IncompleteAnswer
        if self._finish_reason == MALFORMED:
            raise IncompleteAnswer(
                "The model wrote a call that its provider could not read; nothing was run. "
                "Press Retry, or rephrase the message."
            )
        if self._calls and self._finish_reason in CUT_SHORT:
            raise IncompleteAnswer(
                f"The model's answer was cut ({self._finish_reason}) within a tool call; "
                "none of its tool calls were run. Press Retry."
            )
        if not self._calls.are_named:
            raise IncompleteAnswer("The model called a tool without a name; nothing was run.")
        calls = self._calls.read()
        for call in calls:
            call["name"] = find_called(call["name"], self._offered)
        return AIMessage(
            content=self._text.joined(),
            id=self.message_id,
            tool_calls=calls,
            additional_kwargs=self._extra(calls),
            response_metadata=self._metadata(),
            usage_metadata=self.usage,
        )

    def _read(self, chunk: Any) -> Iterator[Delta | Reset]:
        self._usage = usage_in(chunk) or self._usage
        self._sources.add(chunk)
        choice = self._own_choice(chunk.get("choices") or [])
        if choice is None:
            return
        self._model = chunk.get("model") or self._model
        yield from self._read_delta(self._delta_of(choice))
        if reason := finish_reason_of(choice):
            # Some servers end a cut answer once more, with "stop".
            if self._finish_reason not in CUT_SHORT:
                self._finish_reason = reason
            yield from self._show_rest()

    def _read_delta(self, delta: JSON) -> Iterator[Delta | Reset]:
        content = delta.get("content")
        if isinstance(content, list):
            self._sources.add_parts(content)
        self._sources.add(delta)
        if len(self._unshown) < MAX_KINDS:
            self._unshown |= unshown_in(delta)
        taken = self._kept.add(delta)
        thinking = thinking_of(delta)
        self._size += max(0, taken - len(thinking))  # repeated under another name
        split = self._tags.add(text_of(content) or self._refusal(delta) or "")
        if split.is_late:
            yield from self._withdraw_text()
        yield from self._show(thinking + split.thinking, split.text)
        for piece in delta.get("tool_calls") or ():
            self._count(self._calls.add(piece))
        if legacy := delta.get("function_call"):
            self._count(self._calls.add_legacy(legacy))

    def _delta_of(self, choice: JSON) -> JSON:
        """Return what a choice adds; in an answer that was not streamed, that is a message.

        Some streams repeat the whole message at the end.
        """
        delta: JSON | None = choice.get("delta")
        if delta is None and not self.has_begun:
            delta = choice.get("message")
        return delta or {}

    def _own_choice(self, choices: list[JSON]) -> JSON | None:
        """Return the answer's first choice; a second one would be mixed into it."""
        for choice in choices:
            index = choice.get("index") or 0
            if self._choice is None:
                self._choice = index
            if index == self._choice:
                return choice
        return None

    def _end(self) -> Iterator[Delta | Reset]:
        """Handle `[DONE]`. Without a finish reason before it, it ends a complete answer."""
        yield from self._show_rest()
        is_whole = self._calls.are_whole if self._calls else bool(self._text.joined().strip())
        if self._finish_reason is None and is_whole:
            self._finish_reason = "tool_calls" if self._calls else "stop"

    def _show_rest(self) -> Iterator[Delta | Reset]:
        split = self._tags.end()
        yield from self._show(split.thinking, split.text)

    def _show(self, thinking: str, text: str) -> Iterator[Delta | Reset]:
        if shown := self._keep(self._thinking, thinking):
            yield Delta(self.message_id, thinking=shown)
        if shown := self._keep(self._text, text):
            yield Delta(self.message_id, text=shown)

    def _withdraw_text(self) -> Iterator[Delta | Reset]:
        """Withdraw the text so far, and show the thinking before it again: a reset voids both."""
        text, self._text = self._text.joined(), _Pieces()
        if text:
            self._size -= len(text)
            yield Reset(self.message_id, WAS_THINKING)
            if thinking := self._thinking.joined():
                yield Delta(self.message_id, thinking=thinking)

    def _keep(self, pieces: "_Pieces", piece: str) -> str:
        if not piece:
            return ""
        self._count(len(piece))
        return pieces.add(piece)

    def _count(self, chars: int) -> None:
        self.has_begun = True
        self._size += chars

    def _refusal(self, delta: JSON) -> str | None:
        refusal: str | None = delta.get("refusal")
        self._refused = self._refused or bool(refusal)
        return refusal

    def _extra(self, calls: list[ToolCall]) -> dict[str, Any]:
        thinking = self._thinking.joined()
        extra: dict[str, Any] = {REASONING: thinking} if thinking else {}
        if self._refused:
            extra["refusal"] = True
        kept = self._kept.of_message(thinking, self._tags.raw, has_calls=bool(calls))
        if self._kept.is_too_much:
            kept.pop(FIELDS)
        else:
            kept[CALLS] = clean(self._calls.kept())
        kept = {name: value for name, value in kept.items() if value}
        if kept and self._provider:
            extra[KEPT] = {FOR: self._provider, **kept}
        return extra | self._calls.marks()

    def _metadata(self) -> dict[str, Any]:
        metadata = {"finish_reason": self._finish_reason, MODEL_NAME: self._model}
        if self._kept.is_too_much:
            metadata[NOT_KEPT] = f"{self._kept.size:,} of {MAX_KEPT_CHARS:,}"
        known = {key: clean_text(value) for key, value in metadata.items() if value}
        unshown = {UNSHOWN: sorted(self._unshown)[:MAX_KINDS]} if self._unshown else {}
        return {**known, **unshown, **self._sources.told()}


class _Pieces:
    """Text in pieces; a surrogate split across two chunks waits for its other half."""

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


class _Thinking(_Pieces):
    """Thinking in pieces; blanks wait for what follows, because some models only send blanks."""

    def __init__(self) -> None:
        super().__init__()
        self._blanks: list[str] = []

    def add(self, piece: str) -> str:
        if not self._pieces and piece.isspace():
            self._blanks.append(piece)
            return ""
        blanks, self._blanks = self._blanks, []
        return super().add("".join([*blanks, piece]))
