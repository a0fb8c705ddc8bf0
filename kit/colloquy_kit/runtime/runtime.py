"""The running agents of a process: `conversation-<id>`, started once, saved before they end."""

import asyncio
import atexit
import logging
import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from threading import Lock, Thread
from time import monotonic
from uuid import UUID

from colloquy_kit.runtime.running import AutoSave, Callbacks, Graph, NotPossible, RunningAgent

Factory = Callable[[str], Graph]  # takes the agent's id, `conversation-<id>`
logger = logging.getLogger(__name__)


@cache
def agents_loop() -> asyncio.AbstractEventLoop:
    """Return the loop of this process on which agents run, in a thread of its own."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="colloquy-agents", daemon=True).start()
    return loop


if hasattr(os, "register_at_fork"):  # a fork has no threads of its parent
    os.register_at_fork(after_in_child=agents_loop.cache_clear)


class Runtime:
    """The agents that run in this process.

    `factory` builds an agent in code: model, tools, middleware; a checkpointer it has is replaced.
    An agent that is idle for `keep_seconds` is saved and ended. Agents run on a loop in a thread of
    their own, or on `loop`, the host's: LangChain's clients of models hold connections that no
    second loop may use, so a host that asks models on a loop of its own gives that one.

    Which process may save is decided by the state's version: of two that run one conversation, the
    first to save goes on, and the other's agent is closed at its next save, before anything more
    happens.
    """

    def __init__(
        self,
        factory: Factory,
        callbacks: Callbacks,
        autosave: AutoSave | None = None,
        keep_seconds: float = 600,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._factory, self._callbacks = factory, callbacks
        self._autosave = autosave or AutoSave()
        self._keep_seconds = keep_seconds
        self._agents: dict[UUID, RunningAgent] = {}
        self._starting: dict[UUID, Lock] = {}
        self._lock = Lock()
        self._loop = loop
        self._saving: Future[None] | None = None
        self._is_closed = False

    def start(self, conversation_id: UUID) -> RunningAgent:
        """Return the conversation's running agent; build it and give it its state if none runs.

        Whether the caller may use the conversation is the host's to ask before. Raise NotFound.
        """
        with self._lock:
            loop = self._open_loop()
            starting = self._starting.setdefault(conversation_id, Lock())
        with starting:
            agent = self._agents.get(conversation_id)
            if agent is not None and agent.status != "closed":
                agent.refresh()
                return agent
            graph = self._factory(f"conversation-{conversation_id}")
            agent = RunningAgent(conversation_id, graph, self._callbacks, self._autosave, loop)
            self._agents[conversation_id] = agent
            return agent

    def find(self, conversation_id: UUID) -> RunningAgent | None:
        """Return the conversation's agent if one runs in this process."""
        agent = self._agents.get(conversation_id)
        return agent if agent is not None and agent.status != "closed" else None

    def close(self) -> None:
        """Save and end all agents; at the normal end of the process this happens by itself."""
        with self._lock:
            self._is_closed = True
        atexit.unregister(self.close)
        for agent in list(self._agents.values()):
            self._end(agent)
        if self._saving is not None:
            self._saving.cancel()

    def _open_loop(self) -> asyncio.AbstractEventLoop:
        if self._is_closed:
            raise NotPossible("The runtime is closed.")
        loop = self._loop or agents_loop()
        if self._saving is None:
            self._saving = asyncio.run_coroutine_threadsafe(self._keep_saving(), loop)
            atexit.register(self.close)
        return loop

    async def _keep_saving(self) -> None:
        while not self._is_closed:
            await asyncio.sleep(self._autosave.seconds)
            await asyncio.to_thread(self._save_all)

    def _save_all(self) -> None:
        for agent in list(self._agents.values()):
            is_used = agent.status == "running" or (
                monotonic() - agent.used_at < self._keep_seconds
            )
            if agent.status == "closed" or not is_used:
                self._end(agent)
                continue
            try:
                agent.save()
            except Exception:  # tried again after the same time
                logger.exception("an agent could not be saved", extra={"agent_id": agent.agent_id})

    def _end(self, agent: RunningAgent) -> None:
        try:
            agent.close()
        except Exception:  # the others are still to be saved
            logger.exception("an agent could not be saved", extra={"agent_id": agent.agent_id})
        if self._agents.get(agent.conversation_id) is agent:
            del self._agents[agent.conversation_id]
