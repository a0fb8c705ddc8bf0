"""Assembling the tool calls of one answer from pieces, in all forms that endpoints use."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from langchain_core.messages.tool import ToolCall, tool_call

from backend.errors.models import IncompleteAnswer
from backend.llm.wire.kept import Kept
from backend.llm.wire.merging import Pieces
from backend.types import JSON
from colloquy_kit.messages.arguments import (
    RAW_ARGUMENTS,
    UNREADABLE,
    parse_arguments,
    write_arguments,
)
from colloquy_kit.messages.clean import clean_text

MAX_CALLS = 1_000
MAX_NAME_CHARS = 1_000
MAX_UNREADABLE_CHARS = 2_000
MAX_WHOLE_PIECES = 8  # endpoints that send calls whole use one or two pieces for each
LEGACY = "function_call"


@dataclass
class _Call:
    """A call as it arrives, then its parsed arguments or why they are unreadable."""

    call_id: str
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    kept: Pieces = field(default_factory=Pieces)
    arguments: JSON = field(default_factory=dict)
    raw: str | None = None
    unreadable: str | None = None

    @property
    def is_whole(self) -> bool:
        """Return whether its arguments are one JSON object or empty."""
        try:
            parse_arguments("".join(self.pieces))
        except ValueError:
            return False
        return True

    def add_name(self, name: str) -> None:
        """Add a name: some endpoints repeat it with each piece, some split it.

        Raise IncompleteAnswer for one without end.
        """
        if name != self.name and not any(self.pieces):
            self.name += name
        if len(self.name) > MAX_NAME_CHARS:
            raise IncompleteAnswer(
                f"The model called a tool by a name of more than {MAX_NAME_CHARS:,} characters; "
                "nothing was run. Press Retry."
            )

    def read(self) -> None:
        """Parse the arguments; replace anything but a JSON object by one that providers accept."""
        text = "".join(self.pieces)
        try:
            self.arguments = parse_arguments(text)
        except ValueError as error:
            self.arguments = {UNREADABLE: clean_text(text[:MAX_UNREADABLE_CHARS])}
            self.unreadable = clean_text(str(error))[:MAX_UNREADABLE_CHARS]
        else:
            self.raw = None if write_arguments(self.arguments) == text else text


class Calls:
    """Assembles the calls of an answer; fields that endpoints add to them go to `kept`."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._calls: list[_Call] = []
        self._by_index: dict[Any, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._ids: list[str] = []

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def are_whole(self) -> bool:
        """Return whether each call has a name and readable arguments."""
        return all(call.name and call.is_whole for call in self._calls)

    @property
    def are_named(self) -> bool:
        """Return whether each call has a name."""
        return all(call.name for call in self._calls)

    def add(self, piece: JSON) -> int:
        """Add a piece of a call; return how many characters it has."""
        index, call_id = piece.get("index"), _id_of(piece)
        function = piece.get("function") or {}
        name, text = function.get("name") or "", _arguments_of(function.get("arguments"))
        call = self._find(index, call_id, name)
        if call is None or _is_another(call, call_id, name, text):
            call = self._begin(index, call_id)
        call.call_id = call.call_id or call_id
        self._by_id.setdefault(call_id, call)
        call.add_name(name)
        call.pieces.append(text)
        self._kept.add_to_call(call.kept, piece)
        return len(name) + len(text)

    def add_legacy(self, function: JSON) -> int:
        """Add a piece of a call in OpenAI's older form, with one call per answer."""
        return self.add({"index": LEGACY, "function": function})

    def read(self) -> list[ToolCall]:
        """Parse the arguments of all calls; return the calls, each with its own id."""
        calls = []
        self._ids = []
        for call in self._calls:
            call.read()
            call_id = clean_text(call.call_id)
            if not call_id or call_id in self._ids:
                call_id = f"call_{uuid4().hex}"
            self._ids.append(call_id)
            calls.append(tool_call(name=clean_text(call.name), args=call.arguments, id=call_id))
        return calls

    def marks(self) -> dict[str, Any]:
        """Return the message's marks about its calls: their texts, and which are unreadable."""
        marks: dict[str, Any] = {}
        if any(call.raw for call in self._calls):
            marks[RAW_ARGUMENTS] = [call.raw for call in self._calls]
        if any(call.unreadable for call in self._calls):
            marks[UNREADABLE] = [call.unreadable for call in self._calls]
        return marks

    def kept(self) -> Mapping[str, JSON]:
        """Return the kept fields of each call that was read, by its id."""
        calls = zip(self._ids, self._calls, strict=True)
        return {call_id: kept for call_id, call in calls if (kept := call.kept.joined())}

    def _find(self, index: Any, call_id: str, name: str) -> _Call | None:
        """Return the call that a piece may continue; some endpoints number only first pieces."""
        call = self._by_index.get(index)
        if call_id and (index is None or (call is None and not name)):
            call = self._by_id.get(call_id, call)
        if call is None and index is None and not name and self._calls:
            call = self._calls[-1]
        return call

    def _begin(self, index: Any, call_id: str) -> _Call:
        if len(self._calls) == MAX_CALLS:
            raise IncompleteAnswer(
                f"The model's answer calls more than {MAX_CALLS} tools; none of them was run. "
                "Ask for less."
            )
        call = _Call(call_id)
        self._calls.append(call)
        self._by_index[index] = call
        return call


def _is_another(call: _Call, call_id: str, name: str, text: str) -> bool:
    """Return whether a piece at a call's index begins another call.

    Some endpoints give all calls one index, some give each piece of a call another id, and some
    send no ids at all.
    """
    if name and call_id and call.call_id:
        return call_id != call.call_id
    begins = bool(name and text) or bool(call_id and call.call_id and call_id != call.call_id)
    few = 0 < len(call.pieces) <= MAX_WHOLE_PIECES
    return begins and few and any(call.pieces) and call.is_whole


def _id_of(piece: JSON) -> str:
    """Return the id of a piece's call, empty if it has none; some endpoints number their calls."""
    given = piece.get("id")
    return "" if given is None else str(given)


def _arguments_of(arguments: Any) -> str:
    """Return the text of a piece of arguments; some endpoints send them as an object, whole."""
    if isinstance(arguments, dict):
        return json.dumps(arguments)
    if arguments is not None and not isinstance(arguments, str):
        raise TypeError("arguments are neither text nor an object")
    return arguments or ""
