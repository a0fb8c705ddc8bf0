"""LangGraph's checkpoints inside an agent state. Pure.

The newest checkpoint's messages are the state's `messages`, for every other reader of the state.
All checkpoints refer to them by their place; what else they hold is kept as LangGraph writes it.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol

from colloquy_kit.errors import CorruptState
from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.state import dump_message, load_messages
from colloquy_kit.types import JSON

SECTION = "langgraph"
MESSAGES = "messages"


class Packed:
    """The checkpoints of one namespace of a state, newest last; changes go into `state`."""

    def __init__(self, state: JSON, space: str, serde: SerializerProtocol) -> None:
        self.state, self._serde, self._is_root = state, serde, space == ""
        self._dumped: dict[int, JSON] = {}  # by the message's id(), while it is put
        own = state.setdefault(SECTION, {}).setdefault("spaces", {}).setdefault(space, {})
        self.checkpoints: dict[str, JSON] = own.setdefault("checkpoints", {})
        self.writes: dict[str, dict[str, Any]] = own.setdefault("writes", {})
        self.values: dict[str, JSON] = own.setdefault("values", {})

    def put(
        self,
        checkpoint: Mapping[str, Any],
        metadata: Mapping[str, Any],
        parent: str | None,
        new_versions: Mapping[str, Any],
    ) -> None:
        """Add a checkpoint with the values of its changed channels."""
        values = dict(checkpoint["channel_values"])
        if self._is_root:
            self._show(values)
        for channel, version in new_versions.items():
            if channel in values:
                packed = self._pack(values[channel])
                self.values.setdefault(channel, {})[str(version)] = packed
        bare = {key: value for key, value in checkpoint.items() if key != "channel_values"}
        self.checkpoints[checkpoint["id"]] = {
            "checkpoint": self.dump(bare),
            "metadata": self.dump(dict(metadata)),
            "parent": parent,
            "versions": {
                channel: str(version) for channel, version in checkpoint["channel_versions"].items()
            },
        }

    def get(self, checkpoint_id: str) -> tuple[JSON, JSON, str | None]:
        """Return a checkpoint with its values, its metadata, and the id of its parent."""
        kept = self.checkpoints[checkpoint_id]
        checkpoint = self.load(kept["checkpoint"])
        checkpoint["channel_values"] = {
            channel: self._unpack(self.values[channel][version])
            for channel, version in kept["versions"].items()
            if version in self.values.get(channel, {})
        }
        return checkpoint, self.load(kept["metadata"]), kept["parent"]

    def prune(self, keep: int) -> None:
        """Keep the newest checkpoints, and the values to which they refer."""
        ids = sorted(self.checkpoints)
        for old in ids[:-keep]:
            del self.checkpoints[old]
        for old in [one for one in self.writes if one < ids[-keep:][0]]:
            del self.writes[old]
        used = {pair for kept in self.checkpoints.values() for pair in kept["versions"].items()}
        for channel, versions in self.values.items():
            for version in [one for one in versions if (channel, one) not in used]:
                del versions[version]

    def dump(self, value: Any) -> list[str]:
        """Return a value as LangGraph writes it, as text."""
        kind, written = self._serde.dumps_typed(value)
        return [kind, b64encode(written).decode()]

    def load(self, dumped: Sequence[str]) -> Any:
        """Return the value that was dumped."""
        return self._serde.loads_typed((dumped[0], b64decode(dumped[1])))

    def _show(self, values: Mapping[str, Any]) -> None:
        """Set what other readers of the state see: its messages, and channels that are JSON."""
        messages: Any = values.get(MESSAGES)
        if _are_messages(messages):
            self._dumped = {id(one): clean(dump_message(one)) for one in messages}
            self._set_messages([self._dumped[id(one)] for one in messages])
        plain = {
            channel: value
            for channel, value in values.items()
            if channel not in (MESSAGES, SECTION, "version") and _is_plain(channel, value)
        }
        self.state.update(plain)

    def _set_messages(self, messages: list[JSON]) -> None:
        before = self.state[MESSAGES]
        if messages[: len(before)] != before:  # a policy has shortened them: places have moved
            for space in self.state[SECTION]["spaces"].values():
                for versions in space["values"].values():
                    for version, packed in versions.items():
                        if MESSAGES in packed:
                            versions[version] = {MESSAGES: _renumber(packed, before, messages)}
        self.state[MESSAGES] = messages

    def _pack(self, value: Any) -> JSON:
        if not _are_messages(value):
            return {"value": self.dump(value)}
        shown = self.state[MESSAGES]
        places = _places(shown)
        return {MESSAGES: [self._pack_message(message, shown, places) for message in value]}

    def _pack_message(
        self, message: BaseMessage, shown: Sequence[JSON], places: Mapping[Any, int]
    ) -> Any:
        """Return a message's place, or the message as JSON, or as LangGraph writes it.

        The last is for what JSON would lose, such as a tool's artifact.
        """
        dumped = self._dumped.get(id(message)) or clean(dump_message(message))
        try:
            is_whole = load_messages([dumped]) == [message]
        except CorruptState:
            is_whole = False
        return _place(dumped, shown, places) if is_whole else self.dump(message)

    def _unpack(self, packed: JSON) -> Any:
        if MESSAGES not in packed:
            return self.load(packed["value"])
        return [self._unpack_message(one) for one in packed[MESSAGES]]

    def _unpack_message(self, packed: Any) -> BaseMessage:
        if isinstance(packed, list):
            message: BaseMessage = self.load(packed)
            return message
        return load_messages([self.state[MESSAGES][packed] if isinstance(packed, int) else packed])[
            0
        ]


def _are_messages(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, BaseMessage) for one in value)


def _is_plain(channel: str, value: Any) -> bool:
    is_internal = channel.startswith("__") or ":" in channel
    is_json = isinstance(value, dict | list | str | int | float) and clean(value) == value
    return is_json and not is_internal


def _places(messages: Sequence[JSON]) -> Mapping[Any, int]:
    return {message.get("id"): place for place, message in enumerate(messages)}


def _place(message: JSON, shown: Sequence[JSON], places: Mapping[Any, int]) -> int | JSON:
    place = places.get(message.get("id"))
    return place if place is not None and shown[place] == message else message


def _renumber(packed: JSON, before: Sequence[JSON], after: Sequence[JSON]) -> list[Any]:
    places = _places(after)
    whole = (before[one] if isinstance(one, int) else one for one in packed[MESSAGES])
    return [one if isinstance(one, list) else _place(one, after, places) for one in whole]
