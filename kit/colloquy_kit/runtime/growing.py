"""An agent state as it grows: LangGraph's updates are applied to the stored form."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, get_args, get_type_hints
from uuid import uuid4

from langchain_core.messages import BaseMessage
from langgraph.channels import BinaryOperatorAggregate
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph

from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.state import dump_message, load_values
from colloquy_kit.types import JSON

NOT_KEPT = ("messages", "jump_to")

Reducers = Mapping[str, Callable[[Any, Any], Any]]
logger = logging.getLogger(__name__)


class Codec(NamedTuple):
    """How a middleware's value is converted to JSON and back.

    It stands in the middleware's `state_schema`: `Annotated[NotRequired[set[str]], Codec(sorted,
    set)]`. If `load` raises, as for a value of an older shape, the middleware does not get it.
    """

    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]


Codecs = Mapping[str, Codec]


def reducers_of(graph: CompiledStateGraph[Any, Any, Any, Any]) -> Reducers:
    """Return, by key, how the changes by several calls of a batch are merged."""
    channels = graph.channels.items()
    return {k: c.operator for k, c in channels if isinstance(c, BinaryOperatorAggregate)}


def codecs_of(graph: CompiledStateGraph[Any, Any, Any, Any]) -> Codecs:
    """Return, by key, the codecs that the schemas of the agent's middleware name."""
    hints = get_type_hints(graph.builder.state_schema, include_extras=True)
    found = {key: _codec(hint) for key, hint in hints.items()}
    return {key: codec for key, codec in found.items() if codec is not None}


def _codec(hint: Any) -> Codec | None:
    """Return the codec of an annotation, also inside of NotRequired."""
    for part in get_args(hint):
        if isinstance(part, Codec):
            return part
        if (inner := _codec(part)) is not None:
            return inner
    return None


class GrowingState:
    """The agent state as it grows. Unchanged messages stay the same JSON objects.

    Keys that no part of the agent knows stay as they were stored.
    """

    def __init__(self, state: JSON) -> None:
        self.state = with_own_ids(state)
        self.values = load_values(self.state)
        self.messages: list[BaseMessage] = self.values["messages"]
        self.is_changed = False
        self._dumped: dict[int, JSON] = {
            id(message): dumped
            for message, dumped in zip(self.messages, self.state["messages"], strict=True)
        }
        self._reducers: Reducers = {}
        self._codecs: Codecs = {}

    def use(self, reducers: Reducers, codecs: Codecs) -> None:
        """Set how the agent's middleware merges and stores its values; load the stored ones."""
        self._reducers, self._codecs = reducers, codecs
        for key in codecs.keys() & self.values.keys():
            try:
                self.values[key] = codecs[key].load(self.values[key])
            except Exception:  # noqa: BLE001  # an older shape: kept as stored, not loaded
                logger.warning("a middleware cannot read its value", extra={"key": key})
                del self.values[key]

    def take_keys(self, values: Mapping[str, Any]) -> JSON:
        """Take changed keys other than messages, and return them in their stored form."""
        changed = {key: value for key, value in values.items() if key not in NOT_KEPT}
        for key, value in changed.items():
            join = self._reducers.get(key)
            self.values[key] = join(self.values.get(key), value) if join else value
        kept = {key: self._store(key) for key in changed}
        if kept:
            self.state = {**self.state, **kept}
            self.is_changed = True
        return kept

    def take_messages(self, messages: list[BaseMessage]) -> None:
        """Take new, changed and removed messages."""
        if not messages:
            return
        merged: Any = add_messages(self.messages, messages)  # type: ignore[arg-type]  # wider
        self.messages = self.values["messages"] = merged
        self._dumped = {id(message): self.dump(message) for message in merged}
        self.state = {**self.state, "messages": list(self._dumped.values())}
        self.is_changed = True

    def dump(self, message: BaseMessage) -> JSON:
        """Return the message in its stored form: the same object each time."""
        if id(message) not in self._dumped:
            self._dumped[id(message)] = clean(dump_message(message))
        return self._dumped[id(message)]

    def unknown(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        """Return those that are not in the state yet: middleware may return messages it kept."""
        known = {message.id for message in self.messages} if messages else set()
        return [message for message in messages if message.id is None or message.id not in known]

    def _store(self, key: str) -> Any:
        """Return a value in its stored form; what is not JSON needs a codec to come back equal."""
        value, codec = self.values[key], self._codecs.get(key)
        stored = clean(codec.dump(value) if codec else value)
        if codec is None and stored != value:
            logger.warning("a value is stored in another form: it has no codec", extra={"key": key})
        return stored


def each_update(update: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Yield LangGraph's update as pairs of node and values, also where a node gave several."""
    for node, given in update.items():
        for values in given if isinstance(given, list) else [given]:
            yield node, values if isinstance(values, Mapping) else {}


def as_messages(given: Any) -> list[BaseMessage]:
    """Return the messages of an update, which may be none or a single one."""
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def with_own_ids(state: JSON) -> JSON:
    """Give messages with a missing or repeated id a new one, because LangGraph merges by id."""
    seen: set[str] = set()
    messages = []
    for message in state["messages"]:
        if not message.get("id") or message["id"] in seen:
            message = {**message, "id": str(uuid4())}
        seen.add(message["id"])
        messages.append(message)
    return {**state, "messages": messages}
