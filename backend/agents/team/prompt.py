"""The sections added to the system prompts of a team's agents. Pure."""

import json
from collections.abc import Sequence
from uuid import UUID

from backend.schemas.domains.templates import AgentTemplate
from backend.types import JSON

MOST_PAYLOAD = 50_000  # characters
HOW_TO_ANSWER = """# How to answer
Answer with one JSON object and nothing else, or call `respond` with it:
{"taskComplete": true or false, "message": "what the user reads", "reasoning": "why, in short",
 "confidence": 0.0 to 1.0,
 "payloadChangeRequest": {"newElements": [{"key": …, "value": …}], "updateElements": […],
  "removeElements": [{"key": …}]},
 "nextStep": {"type": "Chat" | "Sub-Agent" | "Actions" | "Retry", …}}
- The task is done, or you can answer: taskComplete true, with the message.
- You need an answer of the user, or propose a plan that they should agree to first:
  taskComplete false, nextStep {"type": "Chat"}, with the message; of a plan also
  "proposesPlan": true.
- Another agent shall go on and answer the user itself: taskComplete true and the new payload
  element "invokeAgent": {"name": …, "message": "what it is to do"}.
- You need what another agent finds out: nextStep {"type": "Sub-Agent", "subAgent": {"name": …,
  "message": …, "terminateAfter": true if its answer ends the turn}}, or call `call_agent`.
- Several agents have to work together and the user has agreed: taskComplete true and the new
  payload element "taskGraph": {"workflowName": …, "reasoning": …, "tasks": [{"tempId": "t1",
  "name": …, "description": …, "agentName": …, "dependsOn": [tempIds], "input": {…}}]}. Inputs
  refer to results of earlier tasks as "@t1.output.text" or "@t1.output.rows". Tasks that do not
  depend on each other run at once. You get the results and sum them up.
- There is nothing for you to say: taskComplete true without a message."""
PAYLOAD_NOTE = """What this conversation has worked out so far. To change it, answer with JSON:
{"taskComplete": true, "message": "your answer", "payloadChangeRequest": {"newElements": [{"key": …,
"value": …}], "updateElements": […], "removeElements": [{"key": …}]}}."""


def manager_sections(
    agents: Sequence[AgentTemplate], conversation_id: UUID, message_id: str, *, is_first: bool
) -> list[str]:
    """Return a manager's sections: the agents, the conversation, and how to answer."""
    listed = "\n".join(_line(agent) for agent in agents) or "There are none; answer yourself."
    place = (
        f"Conversation: {conversation_id}\nLatest message: {message_id}\n"
        f"First message of the conversation: {'yes' if is_first else 'no'}"
    )
    return [f"# Agents\n{listed}", f"# Conversation\n{place}", HOW_TO_ANSWER]


def payload_section(payload: JSON) -> str:
    """Return the payload as an agent reads it; a long one is cut, with a note."""
    text = json.dumps(payload, ensure_ascii=False, indent=1) if payload else "{}"
    if len(text) > MOST_PAYLOAD:
        cut = f"[… the payload has {len(text):,} characters; the first {MOST_PAYLOAD:,} are here]"
        text = f"{text[:MOST_PAYLOAD]}\n{cut}"
    return f"# Payload\n{PAYLOAD_NOTE}\n{text}"


def _line(agent: AgentTemplate) -> str:
    tools = "all tools" if agent.tools is None else ", ".join(agent.tools) or "no tools"
    return f"- {agent.name}: {agent.description or 'no description'} (has {tools})"
