"""How running agents read and save their conversations.

Written by `colloquy generate`, and yours: what you change is kept when it runs again.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any
from uuid import UUID

from colloquy_kit.runtime.running import RunningAgent
from colloquy_kit.runtime.runtime import Runtime
from colloquy_kit.store import states, steps
from colloquy_kit.store.states import LoadedState
from colloquy_kit.store.steps import SavedStep
from langchain_core.messages import BaseMessage
from sqlalchemy import true

${imports}


class Callbacks:
    """What the runtime calls, for conversations that `start_agent` has checked."""

    def load_state(self, conversation_id: UUID) -> LoadedState:
        """Return the state with which the agent begins."""
        with SESSIONS.transaction() as own:
            return states.load_agent_state(own, TABLES, true(), conversation_id)

    def save_step(
        self,
        conversation_id: UUID,
        messages: Sequence[BaseMessage],
        state: dict[str, Any],
        version: int,
    ) -> SavedStep[DisplayMessage]:
        """Save what people see and what the model reads, both or neither."""
        with SESSIONS.transaction() as own:
            return steps.save_step(
                own, TABLES, true(), conversation_id, messages, state, version=version
            )


@cache
def runtime() -> Runtime:
    """Return the agents of this process."""
    return Runtime(build_agent, Callbacks())


def start_agent(scope: Scope, conversation_id: UUID) -> RunningAgent:
    """Return the conversation's running agent. Raise NotFound for another's."""
    get_conversation(scope, conversation_id)
    return runtime().start(conversation_id)
