"""The agent of a conversation, in code: its model, tools and middleware.

Written by `colloquy generate`, and yours: what you change is kept when it runs again.
Nothing of this is stored, so a change holds for all conversations at once.
"""

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.chat_models import init_chat_model
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph

MODEL = "openai:gpt-5.2"  # needs langchain-openai, and OPENAI_API_KEY
SYSTEM_PROMPT = "You are a helpful assistant."
TOOLS: list[BaseTool] = []
MIDDLEWARE: list[AgentMiddleware[Any, Any, Any]] = []


def build_agent(agent_id: str) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a new agent; `agent_id` is `conversation-<id>`."""
    return create_agent(
        init_chat_model(MODEL),
        TOOLS,
        system_prompt=SYSTEM_PROMPT,
        middleware=MIDDLEWARE,
        name=agent_id,
    )
