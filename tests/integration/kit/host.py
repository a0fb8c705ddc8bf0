"""A host application as small as it can be: three classes, its rule, its agent. Also a program.

`python -m tests.integration.kit.host DATABASE_URL MODEL_URL FOLDER CONVERSATION_ID TEXT [leave]`
says the text to the conversation's agent and waits for the end of its answer, or leaves as it
begins.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from sqlalchemy import ForeignKey, create_engine, true
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker

from colloquy_kit.runtime.events import Delta
from colloquy_kit.runtime.running import AutoSave
from colloquy_kit.runtime.runtime import Runtime
from colloquy_kit.store import conversations, states, steps
from colloquy_kit.store.tables import Sessions, Tables
from colloquy_kit.tables.mixins import AgentStateMixin, ConversationMixin, DisplayMessageMixin

ALWAYS = true()


class Base(DeclarativeBase):
    pass


class Conversation(ConversationMixin, Base):
    __tablename__ = "kit_conversations"
    user_id: Mapped[int]


class AgentState(AgentStateMixin, Base):
    __tablename__ = "kit_agent_states"
    conversation_id: Mapped[UUID] = mapped_column(ForeignKey(Conversation.id), unique=True)


class DisplayMessage(DisplayMessageMixin, Base):
    __tablename__ = "kit_display_messages"
    conversation_id: Mapped[UUID] = mapped_column(ForeignKey(Conversation.id))


TABLES = Tables(Conversation, AgentState, DisplayMessage)


class Host:
    """The host's functions over one database."""

    def __init__(self, url: str) -> None:
        self.engine = create_engine(url)
        Base.metadata.create_all(self.engine)
        self.sessions = Sessions()
        self.sessions.bind(sessionmaker(self.engine))

    def new(self, user_id: int = 1, **values: Any) -> UUID:
        with self.sessions.transaction() as session:
            owner = {"user_id": user_id}
            return conversations.create_conversation(session, TABLES, values, owner=owner).id

    def run(self, function: Any, *arguments: Any, user_id: int | None = None, **named: Any) -> Any:
        """Call a function of the store, for a user or for everyone."""
        whose = ALWAYS if user_id is None else Conversation.user_id == user_id
        with self.sessions.transaction() as session:
            return function(session, TABLES, whose, *arguments, **named)

    def load_state(self, conversation_id: UUID) -> states.LoadedState:
        return self.run(states.load_agent_state, conversation_id)

    def save_step(
        self, conversation_id: UUID, messages: Sequence[BaseMessage], state: Any, version: int
    ) -> steps.SavedStep[DisplayMessage]:
        return self.run(steps.save_step, conversation_id, messages, state, version=version)

    def runtime(self, model_url: str, folder: Path, **options: Any) -> Runtime:
        """Return a runtime of agents with the tools, unless the options name others."""
        autosave = options.pop("autosave", AutoSave(seconds=60))
        callbacks = options.pop("callbacks", self)
        named = {name: options.pop(name) for name in ("loop", "keep_seconds") if name in options}
        options = {"tools": tools(folder), **options}
        model = ChatOpenAI(base_url=model_url, api_key="secret", model="m", max_retries=0)
        return Runtime(lambda _: create_agent(model, **options), callbacks, autosave, **named)


def tools(folder: Path) -> list[BaseTool]:
    """Return tools that leave a line in `calls` for each call that began."""

    def began(what: str) -> None:
        with (folder / "calls").open("a") as calls:
            calls.write(f"{what}\n")

    @tool
    def note(text: str) -> str:
        """Write a note."""
        began(text)
        return f"noted {text}"

    @tool
    def hang() -> str:
        """Take for ever."""
        began("hang")
        while not (folder / "let go").exists():
            time.sleep(0.05)
        return "let go"

    return [note, hang]


if __name__ == "__main__":
    database_url, model_url, folder, conversation_id, text, *leave = sys.argv[1:]
    agent = Host(database_url).runtime(model_url, Path(folder)).start(UUID(conversation_id))
    events = agent.subscribe()
    agent.send(text)
    if leave:
        next(event for event in events if isinstance(event, Delta))
    else:
        agent.wait()
