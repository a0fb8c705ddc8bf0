"""Reading the answers of a team's agents, and asking again if they cannot be followed."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NotRequired, cast

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.runtime import Runtime
from pydantic import ValidationError

from backend.agents.team.payload import PAYLOAD, SPECIALIST
from backend.agents.team.response import (
    CALL_AGENT,
    RESPOND,
    UNREADABLE,
    Response,
    Result,
    Unusable,
    follow,
    is_prose,
    read_response,
)
from backend.conversations.display import RESPONSE
from backend.errors.turns import ResponseRefused
from backend.planning.checks import find_agent, unknown_agent
from backend.tools.planning import CallAgent
from backend.types import JSON
from colloquy_kit.messages.arguments import RAW_ARGUMENTS

MOST_RETRIES = 3
OBSERVED = "(Nothing to add.)"

Handler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]


class TeamState(AgentState[Any]):
    """The state of an agent of a team."""

    payload: NotRequired[JSON]
    specialist: NotRequired[str]


class Responses(AgentMiddleware[Any, Any]):
    """Wraps each model call of an agent of a team.

    Agents may answer in the form of a response; what a manager writes in that form must be one
    that can be followed. What follows is kept: a plain answer or tool calls, and the new payload.
    `agents` are those that may take over the turn.
    """

    state_schema = TeamState

    def __init__(self, agent: str, agents: Sequence[str], *, is_manager: bool) -> None:
        super().__init__()
        self._agent = agent
        self._agents = agents
        self._is_manager = is_manager
        self.tools: list[BaseTool] = [_respond_tool()] if is_manager else []
        self._changed: JSON | None = None

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Handler
    ) -> ModelResponse[Any]:
        """Ask, and retry with the reason. Raise ResponseRefused when that does not help."""
        if (last := _last_word(request.messages)) is not None:
            return ModelResponse([AIMessage(last, name=self._agent)])
        payload = cast(JSON, request.state.get(PAYLOAD) or {})
        hint = ""
        asked = request
        for _ in range(MOST_RETRIES + 1):
            response = await handler(asked)
            answer = cast(AIMessage, response.result[0])
            try:
                return ModelResponse([self._followed(answer, payload)])
            except Unusable as error:
                hint = str(error)
            again = [*asked.messages, AIMessage(_as_text(answer)), HumanMessage(hint)]
            asked = asked.override(messages=again)
        raise ResponseRefused(
            f"{self._agent} gave no usable answer in {MOST_RETRIES + 1} tries."
            f" The last reason: {hint}"
        )

    async def aafter_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Apply the payload that the newest answer asks for; note which specialist spoke."""
        changed, self._changed = self._changed, None
        applied: JSON = {} if changed is None else {PAYLOAD: changed}
        return applied if self._is_manager else {**applied, SPECIALIST: self._agent}

    def _followed(self, answer: AIMessage, payload: JSON) -> AIMessage:
        """Return the message that is kept. Raise Unusable."""
        response = read_response(answer)
        calls = [call for call in answer.tool_calls if call["name"] != RESPOND]
        if response is None:
            says_enough = bool(calls) or is_prose(answer.text)
            if self._is_manager and (answer.invalid_tool_calls or not says_enough):
                raise Unusable(f"{UNREADABLE}.")
            return answer.model_copy(update={"name": self._agent})
        result = follow(response, payload, calls)
        to = result.hand_over
        if to and find_agent(to.agent, self._agents) is None:
            raise Unusable(unknown_agent(to.agent, self._agents))
        return self._kept(answer, response, result, payload)

    def _kept(
        self, answer: AIMessage, response: Response, result: Result, before: JSON
    ) -> AIMessage:
        mark: JSON = response.model_dump(include={"reasoning", "confidence"}, exclude_none=True)
        text = result.text
        if result.hand_over:
            to = result.hand_over
            mark["handOver"] = {"agent": to.agent, "message": to.message}
            text = text or f"{to.agent} goes on with this."
        if response.proposes_plan:
            mark["proposesPlan"] = True
        if result.observed:
            mark["observed"] = True
            text = OBSERVED
        self._changed = result.payload if result.payload != before else None
        extra = {k: v for k, v in answer.additional_kwargs.items() if k != RAW_ARGUMENTS}
        kept = {
            "name": self._agent,
            "content": text,
            "tool_calls": result.calls,
            "invalid_tool_calls": [],
            "additional_kwargs": {**extra, RESPONSE: mark} if mark else extra,
        }
        return answer.model_copy(update=kept)


def _last_word(messages: list[AnyMessage]) -> str | None:
    """Return the answer of the sub-agent called last, if its answer ends the turn.

    Where it said nothing, the manager goes on with whatever else the result has.
    """
    if not messages or not isinstance(messages[-1], ToolMessage):
        return None
    caller = next((m for m in reversed(messages) if not isinstance(m, ToolMessage)), None)
    if not isinstance(caller, AIMessage) or len(caller.tool_calls) != 1:
        return None
    call, result = caller.tool_calls[0], messages[-1]
    if call["name"] != CALL_AGENT or result.status == "error" or not _ends_turn(call["args"]):
        return None
    return _answer_in(result.text)


def _ends_turn(arguments: JSON) -> bool:
    """Return whether the called agent's answer ends the turn, as the tool reads its arguments."""
    try:
        return CallAgent.model_validate(arguments).terminateAfter
    except ValidationError:
        return False


def _answer_in(result: str) -> str | None:
    """Return the answer's text in the result of a sub-agent's call; None if it is empty."""
    try:
        given = json.loads(result)
    except ValueError:
        return result
    text = given.get("text") if isinstance(given, dict) else None
    if not isinstance(text, str):
        return result
    return text if text.strip() else None


def _as_text(answer: AIMessage) -> str:
    """Return the answer as text without calls."""
    given = next((call["args"] for call in answer.tool_calls if call["name"] == RESPOND), None)
    return answer.text or json.dumps(given or {}, ensure_ascii=False)


def _respond_tool() -> BaseTool:
    """Return the tool whose call is a response; the call itself never runs."""

    async def respond(**_: Any) -> str:
        return ""

    return StructuredTool.from_function(
        coroutine=respond,
        name=RESPOND,
        description="Answer: what the user reads, what changes of the payload, what is next.",
        args_schema=Response.model_json_schema(),
    )
