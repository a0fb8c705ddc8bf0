"""One running agent: follows its graph, saves each complete message, tells its subscribers."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from threading import Event as Signal
from threading import RLock
from time import monotonic
from typing import Any, Protocol
from uuid import UUID, uuid4

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Interrupt

from colloquy_kit.errors import KitError
from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.display import thinking_of
from colloquy_kit.messages.repair import repair
from colloquy_kit.messages.state import add_partial, is_answered, load_messages, pending_calls
from colloquy_kit.runtime.events import (
    Delta,
    Event,
    MessageSaved,
    Status,
    StatusChanged,
    Subscription,
)
from colloquy_kit.runtime.growing import (
    GrowingState,
    as_messages,
    codecs_of,
    each_update,
    reducers_of,
)
from colloquy_kit.runtime.restore import MODEL_NODE, TOOLS_NODE, new_checkpointer, restore
from colloquy_kit.store.errors import NotFound, StaleVersion
from colloquy_kit.store.states import LoadedState
from colloquy_kit.store.steps import SavedStep
from colloquy_kit.types import JSON

INTERRUPT = "interrupt"  # the key of the state that says what the agent waits for
INTERRUPTED = "__interrupt__"  # LangGraph's name for the update that brings interrupts
CHECKPOINTS = "langgraph"  # what the saver keeps beside a state; void once the state goes on
UNKNOWN_EFFECT = (
    "The agent was ended before this call returned, so it is unknown whether it took effect."
    " Check before you repeat it."
)
NOT_ANSWERED = "This call was not run: it waited for an answer, and another message came."
STOP_SECONDS = 10
CANCEL_SECONDS = 1
logger = logging.getLogger(__name__)

Graph = CompiledStateGraph[Any, Any, Any, Any]


class NotPossible(KitError):
    """The agent cannot do this now."""


class Callbacks(Protocol):
    """How a running agent reads and writes its conversation: functions of the host's module."""

    def load_state(self, conversation_id: UUID) -> LoadedState:
        """Return the state with which the agent begins."""

    def save_step(
        self,
        conversation_id: UUID,
        messages: Sequence[BaseMessage],
        state: JSON,
        version: int,
    ) -> SavedStep[Any]:
        """Save new messages and the state in one transaction, if the state is at this version."""


@dataclass(frozen=True)
class AutoSave:
    """When the state is saved, besides with each complete message: that is always saved at once.

    `seconds`: what middleware has changed meanwhile, and what could not be saved before.
    """

    seconds: float = 30
    when_idle: bool = True
    at_shutdown: bool = True


class RunningAgent:
    """The agent of one conversation in this process; its methods may be called from any thread.

    It is *idle*, *running*, *interrupted* (waits for answers), *failed* (`resume` tries again) or
    *closed*: ended, or its conversation was deleted or continued by another process.
    """

    def __init__(
        self,
        conversation_id: UUID,
        graph: Graph,
        callbacks: Callbacks,
        autosave: AutoSave,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        if MODEL_NODE not in graph.nodes:
            raise NotPossible(
                "The factory must return an agent of LangChain's create_agent. For another graph,"
                " give ConversationSaver to it as its checkpointer."
            )
        self.conversation_id = conversation_id
        self.agent_id = f"conversation-{conversation_id}"
        self.status: Status = "idle"
        self.used_at = monotonic()
        self._graph, self._callbacks, self._autosave, self._loop = graph, callbacks, autosave, loop
        ends = (name for name in graph.nodes if name.endswith(".after_model"))
        self._model_step_end = next(ends, MODEL_NODE)
        self._subscriptions: list[Subscription] = []
        self._task: asyncio.Task[None] | None = None
        self._rest = Signal()
        self._rest.set()
        self._error: Exception | None = None
        self._saving, self._guard = RLock(), RLock()  # always taken in this order
        self._is_open = False  # a model message that its middleware has not passed yet
        self._unsaved: list[BaseMessage] = []
        self._late: list[BaseMessage] = []
        self._partial = Delta("", "")
        self._version = 0
        self._load(callbacks.load_state(conversation_id))

    # What hosts call

    @property
    def is_unfinished(self) -> bool:
        """Return whether the last message still waits for the agent: `resume` continues."""
        return not is_answered(self._growing.state)

    @property
    def questions(self) -> Sequence[JSON]:
        """Return what an interrupted agent asks, to be answered in this order by `resume`."""
        return tuple((self._growing.state.get(INTERRUPT) or {}).get("questions", ()))

    def send(self, message: str | HumanMessage) -> None:
        """Save a person's message and begin to answer it. Returns once it is saved.

        Calls that have no result are answered for the model: their effect is unknown. Raise
        NotPossible while the agent runs, StaleVersion if another process has gone on, and whatever
        the database raises; the message is then not said.
        """
        said = HumanMessage(message) if isinstance(message, str) else message
        said = said if said.id else said.model_copy(update={"id": str(uuid4())})
        with self._saving, self._guard:
            self._check_free()
            before, unsaved = self._growing.state, list(self._unsaved)
            try:
                self._close_calls()
                self._growing.take_messages([said])
                self._unsaved.append(said)
                self.save()
            except BaseException:
                self._grow(before)
                self._unsaved = unsaved
                raise
            self._begin(())

    def resume(self, *answers: Any) -> None:
        """Continue what was cut off, or answer the questions of an interrupted agent, in order.

        Raise NotPossible while it runs, or if there is nothing to continue.
        """
        with self._saving, self._guard:
            self._check_free()
            asked = len(self.questions)
            if len(answers) != asked:
                raise NotPossible(f"The agent waits for {asked} answers, not for {len(answers)}.")
            if not self.is_unfinished:
                raise NotPossible("There is nothing to continue: the last message is an answer.")
            if not asked:
                self._close_calls()
                self.save()
            self._begin(answers)

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """End what it is doing; what is complete stays, and the text that has arrived."""
        if not self._rest.is_set():
            asyncio.run_coroutine_threadsafe(self._cancel(), self._loop)
            self._rest.wait(timeout)

    def wait(self, timeout: float | None = None) -> Status:
        """Wait until it no longer runs and return its status. Raise what made it fail."""
        if not self._rest.wait(timeout):
            raise TimeoutError
        if self._error is not None:
            raise self._error
        return self.status

    def subscribe(self) -> Subscription:
        """Return a subscription to all events from now on."""
        subscription = Subscription(self._leave)
        with self._guard:
            self._subscriptions.append(subscription)
            if self.status == "closed":
                subscription.close()
        return subscription

    def export_state(self) -> JSON:
        """Return the state as it is now, in its stored form."""
        return self._growing.state

    def save(self) -> None:
        """Save what has changed; nothing if nothing has. Raise StaleVersion, and the database's."""
        with self._saving:
            with self._guard:
                growing, unsaved = self._growing, list(self._unsaved)
                if self._is_open or not (unsaved or growing.is_changed):
                    return
                known = {message.id: message for message in growing.messages}
                messages = [known[one.id] for one in unsaved if one.id in known]
                state, growing.is_changed = growing.state, False
            try:
                saved = self._callbacks.save_step(
                    self.conversation_id, messages, state, self._version
                )
            except Exception as error:
                growing.is_changed = True
                if isinstance(error, StaleVersion | NotFound):
                    self._end(error)
                raise
            with self._guard:
                self._version = saved.version
                del self._unsaved[: len(unsaved)]
            for message in messages:
                rows = [row for row in saved.rows if row.metadata_.get("message_id") == message.id]
                self._tell(MessageSaved(message, rows))

    def refresh(self) -> None:
        """Take over what another process has saved meanwhile, unless something is unsaved here."""
        with self._saving, self._guard:
            if self.status in ("running", "closed") or self._unsaved or self._growing.is_changed:
                return
            loaded = self._callbacks.load_state(self.conversation_id)
            if loaded.version != self._version:
                self._load(loaded)

    def close(self) -> None:
        """End it: stop what it does, save, and end all subscriptions."""
        self.stop()
        if self.status != "closed":
            try:
                if self._autosave.at_shutdown:
                    self.save()
            finally:
                self._end(None)

    # How it runs

    def _load(self, loaded: LoadedState) -> None:
        self._grow(_without(loaded.state, CHECKPOINTS))
        self._version = loaded.version
        if self.status != "closed":
            self.status = "interrupted" if self.questions else "idle"

    def _grow(self, state: JSON) -> None:
        self._growing = GrowingState(state)
        self._growing.use(reducers_of(self._graph), codecs_of(self._graph))

    def _check_free(self) -> None:
        if self.status == "closed":
            raise NotPossible("The agent has ended. Start it again.") from self._error
        if self.status == "running":
            raise NotPossible("The agent is still at work. Wait for its answer, or stop it.")

    def _close_calls(self) -> None:
        """Give calls without a result one, and withdraw unanswered questions."""
        asked_at = (self._growing.state.get(INTERRUPT) or {}).get("at")
        note = NOT_ANSWERED if asked_at == MODEL_NODE else UNKNOWN_EFFECT
        state, added = repair(_without(self._growing.state, INTERRUPT), note)
        if state != self._growing.state:
            self._grow(state)
            self._growing.is_changed = True
            self._unsaved += load_messages(added)

    def _begin(self, answers: Sequence[Any]) -> None:
        self._error, self.used_at = None, monotonic()
        self._rest.clear()
        self._set_status("running")
        asyncio.run_coroutine_threadsafe(self._run(answers), self._loop)

    async def _cancel(self) -> None:
        """Cancel the run, again if need be: a request in the making may miss the first time."""
        task = self._task
        while task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=CANCEL_SECONDS)

    async def _run(self, answers: Sequence[Any]) -> None:
        self._task = asyncio.current_task()
        try:
            await self._drive(answers)
            await self._save_in_thread(if_wanted=self._autosave.when_idle)
            self._finish("interrupted" if self.questions else "idle")
        except asyncio.CancelledError:
            self._keep_partial()
            self._finish("interrupted" if self.questions else "idle")
        except Exception as error:  # the edge of a run: whatever fails is told
            logger.warning("an agent failed", extra={"agent_id": self.agent_id}, exc_info=error)
            self._finish("failed", error)

    def _finish(self, status: Status, error: Exception | None = None) -> None:
        with self._guard:  # who learns of it may begin again at once
            self._late, self._is_open, self._partial = [], False, Delta("", "")
            self._task, self.used_at = None, monotonic()
            if self.status != "closed":
                self._error = error
                self._set_status(status, error)
            self._rest.set()

    async def _drive(self, answers: Sequence[Any]) -> None:
        self._graph.checkpointer = new_checkpointer()
        config: RunnableConfig = {"configurable": {"thread_id": self.agent_id}}
        asked_at = (self._growing.state.get(INTERRUPT) or {}).get("at")
        # Questions about a message come from its middleware, which therefore passes it again.
        self._is_open = asked_at == MODEL_NODE
        end = MODEL_NODE if self._is_open else self._model_step_end
        start: Any = await restore(self._graph, config, self._growing.values, end)
        asked = await self._follow(start, config)
        if answers:
            given = _match(self.questions, answers, asked)
            with self._guard:
                self._growing.state = _without(self._growing.state, INTERRUPT)
            asked = await self._follow(Command(resume=given), config)
        if asked:
            questions = [clean(question.value) for question in asked]
            at = MODEL_NODE if self._is_open else TOOLS_NODE
            with self._guard:
                self._growing.state = {
                    **self._growing.state,
                    INTERRUPT: {"at": at, "questions": questions},
                }
                self._growing.is_changed, self._is_open = True, False
            await self._save_in_thread()

    async def _follow(self, start: Any, config: RunnableConfig) -> list[Interrupt]:
        """Run the graph; each message is saved before what follows from it begins."""
        asked: list[Interrupt] = []
        modes: Any = ["updates", "messages"]
        parts: Any = self._graph.astream(start, config, stream_mode=modes, durability="exit")
        async with aclosing(parts):
            async for mode, part in parts:
                if mode == "messages":
                    self._take_delta(*part)
                    continue
                asked += part.get(INTERRUPTED, ())
                for node, values in each_update(part):
                    if self._take(node, values):
                        await self._save_in_thread()
        return asked

    def _take(self, node: str, values: Any) -> bool:
        """Take what a node changed; return whether there is something to save."""
        messages = as_messages(values.get("messages"))
        with self._guard:
            growing = self._growing
            growing.take_keys(values)
            new = growing.unknown(messages)
            if node == TOOLS_NODE:
                # Nothing may come between calls and their results.
                self._late += [one for one in messages if not isinstance(one, ToolMessage)]
                messages = [one for one in messages if isinstance(one, ToolMessage)]
            growing.take_messages(messages)
            if self._late and not pending_calls(growing.state):
                late, self._late = self._late, []
                growing.take_messages(late)
            if node == MODEL_NODE:
                self._is_open, self._partial = True, Delta("", "")
            if node in (TOOLS_NODE, self._model_step_end):
                self._is_open = False
            self._unsaved += [one for one in new if isinstance(one, AIMessage | ToolMessage)]
            return bool(self._unsaved) and not self._is_open

    def _take_delta(self, message: Any, about: JSON) -> None:
        if not isinstance(message, AIMessageChunk) or about.get("langgraph_node") != MODEL_NODE:
            return
        dumped = {"content": message.content, "additional_kwargs": message.additional_kwargs}
        delta = Delta(message.id or "", str(message.text), thinking_of(dumped))
        if not (delta.text or delta.thinking):
            return
        so_far = self._partial if self._partial.message_id == delta.message_id else Delta("", "")
        self._partial = Delta(
            delta.message_id, so_far.text + delta.text, so_far.thinking + delta.thinking
        )
        self._tell(delta)

    def _keep_partial(self) -> None:
        """Keep the text of an answer that was stopped. Calls are never part of it."""
        partial = self._partial
        with self._guard:
            if self._is_open:  # complete, but not passed by its middleware: it is not kept
                return
            state, message = add_partial(
                self._growing.state, partial.text, partial.thinking, partial.message_id
            )
            if message is not None and partial.text.strip():
                self._grow(state)
                self._growing.is_changed = True
                self._unsaved += load_messages([message])

    async def _save_in_thread(self, *, if_wanted: bool = True) -> None:
        """Save without holding up the other agents; a stop waits until it is done."""
        if if_wanted:
            saving = asyncio.ensure_future(asyncio.to_thread(self.save))
            try:
                await asyncio.shield(saving)
            except asyncio.CancelledError:
                await saving
                raise

    # What it tells

    def _set_status(self, status: Status, error: Exception | None = None) -> None:
        self.status = status
        self._tell(StatusChanged(status, error, self.questions))

    def _tell(self, event: Event) -> None:
        with self._guard:
            subscriptions = list(self._subscriptions)
        for subscription in subscriptions:
            subscription.put(event)

    def _leave(self, subscription: Subscription) -> None:
        with self._guard:
            if subscription in self._subscriptions:
                self._subscriptions.remove(subscription)

    def _end(self, error: Exception | None) -> None:
        with self._guard:
            if self.status == "closed":
                return
            self._error = error
            self._set_status("closed", error)
            subscriptions = list(self._subscriptions)
        for subscription in subscriptions:
            subscription.close()


def _without(state: JSON, name: str) -> JSON:
    return {key: value for key, value in state.items() if key != name}


def _match(
    questions: Sequence[JSON], answers: Sequence[Any], asked: Sequence[Interrupt]
) -> dict[str, Any]:
    """Return the answers by the ids that the questions have now: these change with each run.

    Raise NotPossible if the agent asks something else, so that no answer meets another question.
    """
    given: dict[str, Any] = {}
    for question, answer in zip(questions, answers, strict=True):
        ids = (one.id for one in asked if one.id not in given and clean(one.value) == question)
        if (found := next(ids, None)) is None:
            raise NotPossible("The agent asks something else than before. Answer it again.")
        given[found] = answer
    return given
