"""LangGraph's saver on the host's tables: who uses one changes the line that makes it.

A thread is a conversation. Its checkpoints are in its agent state, which the rest of the kit reads;
complete messages become display messages in the same transaction.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    empty_checkpoint,
    get_checkpoint_id,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import ColumnElement, select, true
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from colloquy_kit.messages.state import load_messages
from colloquy_kit.runtime.packing import MESSAGES, SECTION, Packed
from colloquy_kit.store.conversations import delete_conversation, lock_conversation
from colloquy_kit.store.errors import NotFound
from colloquy_kit.store.messages import save_message
from colloquy_kit.store.states import LoadedState, load_agent_state, save_agent_state
from colloquy_kit.store.tables import Sessions, Tables
from colloquy_kit.types import JSON

THREAD = "thread_id"
NewThread = Callable[[Session, UUID, RunnableConfig], None]


class ConversationSaver(BaseCheckpointSaver[int]):
    """Saves a graph's checkpoints as agent states, and its messages as display messages.

    A thread id is a conversation's id, with or without `conversation-`; any other text stands for
    an id that is made of it. `whose`: the host's condition on its conversations; none: all, and
    the host checks before it runs the graph. `new_thread(session, conversation_id, config)` adds
    the conversation of an unknown thread; without it an unknown thread is NotFound. `keep`: so many
    checkpoints of a thread are kept; older ones are deleted, messages never. What is configured
    (`configurable`, metadata of the call) is not stored.
    """

    def __init__(
        self,
        tables: Tables[Any, Any, Any],
        sessions: Sessions,
        *,
        whose: ColumnElement[bool] | None = None,
        new_thread: NewThread | None = None,
        keep: int = 20,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._tables, self._sessions = tables, sessions
        self._whose = true() if whose is None else whose
        self._new_thread, self._keep = new_thread, max(keep, 1)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that is asked for, or the newest; None if there is none.

        A state that others have saved, the runtime or an import, is a checkpoint, too.
        """
        thread, space = _names(config)
        with self._sessions.transaction() as session:
            loaded = self._load(session, thread)
        if loaded is None:
            return None
        packed = Packed(loaded.state, space, self.serde)
        wanted = get_checkpoint_id(config) or max(packed.checkpoints, default=None)
        if wanted in packed.checkpoints:
            return _tuple_of(packed, thread, space, wanted)
        if wanted is None and not space and loaded.state[MESSAGES]:
            return _tuple_of_state(loaded.state, thread)
        return None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield a thread's checkpoints, the newest first; without a config those of all threads."""
        found = _newest_first(self._states(config), config, before, self.serde)
        asked = (filter or {}).items()
        matching = (one for one in found if all(one.metadata.get(k) == v for k, v in asked))
        yield from islice(matching, limit)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint, and its new messages for people, in one transaction."""
        thread, space = _names(config)
        with self._sessions.transaction() as session:
            number, loaded = self._lock(session, thread, config)
            known = {message.get("id") for message in loaded.state[MESSAGES]}
            packed = Packed(loaded.state, space, self.serde)
            packed.put(checkpoint, metadata, get_checkpoint_id(config), new_versions)
            packed.prune(self._keep)
            self._save(session, number, loaded, thread)
            if not space:
                for message in _shown(checkpoint["channel_values"].get(MESSAGES)):
                    if message.id not in known:
                        save_message(session, self._tables, self._whose, number, message)
        return _config(thread, space, checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save what a task has written, so that it is not run again after a crash."""
        thread, space = _names(config)
        checkpoint_id = config["configurable"]["checkpoint_id"]
        with self._sessions.transaction() as session:
            number, loaded = self._lock(session, thread, config)
            packed = Packed(loaded.state, space, self.serde)
            kept = packed.writes.setdefault(checkpoint_id, {})
            for place, (channel, value) in enumerate(writes):
                place = WRITES_IDX_MAP.get(channel, place)
                if place < 0 or f"{task_id} {place}" not in kept:
                    written = [task_id, channel, packed.dump(value), task_path, place]
                    kept[f"{task_id} {place}"] = written
            self._save(session, number, loaded, thread)

    def delete_thread(self, thread_id: str) -> None:
        """Delete the conversation with its state and messages; nothing if there is none."""
        with self._sessions.transaction() as session:
            try:
                delete_conversation(session, self._tables, self._whose, number_of(thread_id))
            except NotFound:
                return

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As `get_tuple`."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As `list`."""

        def find() -> Sequence[CheckpointTuple]:
            return tuple(self.list(config, filter=filter, before=before, limit=limit))

        for found in await asyncio.to_thread(find):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """As `put`."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """As `put_writes`."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """As `delete_thread`."""
        await asyncio.to_thread(self.delete_thread, thread_id)

    def _load(self, session: Session, thread: str) -> LoadedState | None:
        try:
            return load_agent_state(session, self._tables, self._whose, number_of(thread))
        except NotFound:
            return None

    def _lock(
        self, session: Session, thread: str, config: RunnableConfig
    ) -> tuple[UUID, LoadedState]:
        """Return the thread's conversation, locked, and its state; add it if it is new."""
        number = number_of(thread)
        try:
            lock_conversation(session, self._tables, self._whose, number)
        except NotFound:
            if self._new_thread is None:
                raise
            with suppress(IntegrityError), session.begin_nested():  # LangGraph saves side by side
                self._new_thread(session, number, config)
                session.flush()
            lock_conversation(session, self._tables, self._whose, number)
        return number, load_agent_state(session, self._tables, self._whose, number)

    def _save(self, session: Session, number: UUID, loaded: LoadedState, thread: str) -> None:
        loaded.state[SECTION][THREAD] = thread
        save_agent_state(
            session, self._tables, self._whose, number, loaded.state, version=loaded.version
        )

    def _states(self, config: RunnableConfig | None) -> Sequence[tuple[str, JSON]]:
        with self._sessions.transaction() as session:
            if config is not None:
                thread, _ = _names(config)
                loaded = self._load(session, thread)
                return [(thread, loaded.state)] if loaded else []
            own, states = self._tables.conversation, self._tables.agent_state
            query = select(states.state_data).join(own, own.id == states.conversation_id)
            found = [
                state for state in session.scalars(query.where(self._whose)) if SECTION in state
            ]
        return [(state[SECTION][THREAD], state) for state in found]


def number_of(thread_id: str) -> UUID:
    """Return the id of a thread's conversation."""
    try:
        return UUID(thread_id.removeprefix("conversation-"))
    except ValueError:
        return uuid5(NAMESPACE_OID, thread_id)


def _names(config: RunnableConfig) -> tuple[str, str]:
    configured = config["configurable"]
    return str(configured["thread_id"]), configured.get("checkpoint_ns") or ""


def _config(thread: str, space: str, checkpoint_id: str) -> RunnableConfig:
    named = {"thread_id": thread, "checkpoint_ns": space, "checkpoint_id": checkpoint_id}
    return {"configurable": named}


def _newest_first(
    states: Sequence[tuple[str, JSON]],
    config: RunnableConfig | None,
    before: RunnableConfig | None,
    serde: SerializerProtocol,
) -> list[CheckpointTuple]:
    """Return the checkpoints that a config names: of one namespace, one of them, or all."""
    wanted = get_checkpoint_id(config) if config else None
    end = get_checkpoint_id(before) if before else None
    named = (config or {}).get("configurable", {}).get("checkpoint_ns")
    found: list[CheckpointTuple] = []
    for thread, state in states:
        spaces = list(state.get(SECTION, {}).get("spaces", {}))
        for space in spaces if named is None else [named]:
            packed = Packed(state, space, serde)
            found += [
                _tuple_of(packed, thread, space, one)
                for one in packed.checkpoints
                if (wanted is None or one == wanted) and (end is None or one < end)
            ]
    return sorted(found, key=lambda one: one.checkpoint["id"], reverse=True)


def _tuple_of(packed: Packed, thread: str, space: str, checkpoint_id: str) -> CheckpointTuple:
    checkpoint, metadata, parent = packed.get(checkpoint_id)
    writes = packed.writes.get(checkpoint_id, {}).values()
    in_order = sorted(writes, key=lambda one: (one[3], one[0], one[4]))
    return CheckpointTuple(
        config=_config(thread, space, checkpoint_id),
        checkpoint=checkpoint,  # type: ignore[arg-type]  # as it was put
        metadata=metadata,  # type: ignore[arg-type]
        parent_config=_config(thread, space, parent) if parent else None,
        pending_writes=[
            (task, channel, packed.load(value)) for task, channel, value, *_ in in_order
        ],
    )


def _tuple_of_state(state: JSON, thread: str) -> CheckpointTuple:
    """Return a state without checkpoints as one: its messages, and no node has run yet."""
    checkpoint = empty_checkpoint()
    values = {key: value for key, value in state.items() if key not in ("version", SECTION)}
    checkpoint["channel_values"] = {**values, MESSAGES: load_messages(state[MESSAGES])}
    checkpoint["channel_versions"] = dict.fromkeys(checkpoint["channel_values"], 1)
    return CheckpointTuple(
        config=_config(thread, "", checkpoint["id"]),
        checkpoint=checkpoint,
        metadata={"source": "input", "step": -1, "parents": {}},
        parent_config=None,
        pending_writes=[],
    )


def _shown(messages: Any) -> Sequence[BaseMessage]:
    kinds = HumanMessage | AIMessage | ToolMessage
    return [one for one in messages or () if isinstance(one, kinds)]
