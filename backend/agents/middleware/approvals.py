"""Asking people before a tool runs, for each call separately, by rules on tool names."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, Self

from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ToolCallRequest,
)
from langchain.agents.middleware.human_in_the_loop import Action, _answer_message
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.types import interrupt
from pydantic import Field, ValidationInfo, field_validator, model_validator

from backend.agents.answers import Answer, Answers, hash_arguments
from backend.agents.middleware.tool_guard import Handler, Result
from backend.agents.steps.events import ApprovalRequest
from backend.agents.steps.tool_calls import BatchPosition, find_misfits, place_of
from backend.agents.steps.tool_results import error_result, not_run, tidy, with_outcome
from backend.llm.chat_model import describe_tool
from backend.schemas.approvals import ASK_SETTINGS, DecisionType
from backend.schemas.bounds import Waiting
from backend.schemas.conversations.outcomes import CallOutcome
from backend.schemas.wire import Input, is_reading
from backend.text import listed
from backend.tools.mcp.tool import McpTool
from backend.tools.planning import PlanTool
from backend.types import JSON
from db.failpoints import failpoint

# Each call checks all rules on the loop that all turns share, and compiling a pattern takes time
# quadratic in its length; `fnmatch` caches 256.
MOST_RULES, LONGEST_PATTERN = 100, 200

DENIED = (
    "The rules of this conversation do not allow the tool {tool}, so it was not run. Do not call "
    "it again; do without it, or say what is missing."
)
EXPIRED = (
    "Nobody decided on this call within {seconds} seconds, so it was not run. Do not repeat it "
    "unless the user asks for it; go on without it and say so."
)
CHANGED = (
    "The arguments of this call are not those that a person has seen and decided on, so it was "
    "not run. Make the call again."
)


class ApprovalRule(Input):
    """What happens to calls of the tools whose names match the pattern, such as `mail_*`."""

    tools: str = Field(
        min_length=1,
        max_length=LONGEST_PATTERN,
        description="A tool's name or a pattern: `mail_*` matches all that begin with mail_.",
    )
    action: Literal["allow", "ask", "deny"] = Field(
        description="allow: it runs; ask: a person decides first; deny: it never runs."
    )
    decisions: list[DecisionType] = Field(
        default_factory=lambda: list(DecisionType),
        min_length=1,
        description="What the person may decide; absent: all of these.",
    )
    expires_seconds: Waiting | None = Field(
        None,
        description="Seconds after which an undecided call is not run: 86400 is a day."
        " Absent: it waits indefinitely.",
    )
    description: str | None = Field(
        None, max_length=2_000, description="What the person reads with the call."
    )

    @field_validator("decisions")
    @classmethod
    def _are_distinct(
        cls, decisions: list[DecisionType], info: ValidationInfo
    ) -> list[DecisionType]:
        if len(set(decisions)) < len(decisions) and not is_reading(info):
            raise ValueError("a decision is named twice; remove one")
        return decisions

    @model_validator(mode="after")
    def _uses_what_it_says(self, info: ValidationInfo) -> Self:
        given = [name for name in ASK_SETTINGS if name in self.model_fields_set]
        unused = [name for name in given if getattr(self, name) is not None]
        if self.action != "ask" and unused and not is_reading(info):
            raise ValueError(
                f"only the action ask uses {listed(unused)}; remove that, or set action to ask"
            )
        return self


class ApprovalsSettings(Input):
    """A person decides before a tool runs: approve, edit, reject or respond.

    The first rule that matches a tool's name counts; a tool without one is allowed.
    """

    rules: list[ApprovalRule] = Field(min_length=1, max_length=MOST_RULES)


class Approvals(HumanInTheLoopMiddleware[Any, Any, Any]):
    """LangChain's policy with one interrupt for each call; decisions come from our rows.

    A restored run has different interrupts from the one that asked, so decisions are found by the
    call's place. This policy is outside the tool guard: a call that waits has not begun.
    """

    # Everything happens around each call: the hook after the model would only add a node.
    after_model = AgentMiddleware.after_model
    aafter_model = AgentMiddleware.aafter_model

    def __init__(self, settings: ApprovalsSettings, answers: Answers) -> None:
        super().__init__({}, interrupt_mode="per_call")
        self._rules = settings.rules
        self._answers = answers

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Result:
        """Run the call, ask a person first, or say why neither is done.

        Nobody is asked about a call whose arguments its tool would refuse.
        """
        place, tool = place_of(request), request.tool
        is_new = not place.unreadable and place.key not in self._answers.by_call
        if is_new and isinstance(tool, McpTool) and self.asks(tool.name):
            try:
                await tool.check(request.tool_call["args"])
            except ToolException as error:
                return error_result(request, str(error))
        return await super().awrap_tool_call(request, handler)

    def asks(self, tool: str) -> bool:
        """Return whether a call of this tool waits for a person."""
        rule = self._rule_of(tool)
        is_asking = rule is not None and rule.action == "ask"
        return is_asking and tool not in self._answers.allowed_tools

    def _rule_of(self, tool: str) -> ApprovalRule | None:
        return next((rule for rule in self._rules if fnmatchcase(tool, rule.tools)), None)

    def _resolve_per_call(
        self, request: ToolCallRequest
    ) -> tuple[ToolCallRequest, Action | None] | ToolMessage:
        """Return the call to run and how it was edited, or the result if nothing is to run.

        A call that cannot run is passed on to inner policies, which say what is wrong with it.
        """
        name, place = request.tool_call["name"], place_of(request)
        rule = self._rule_of(name)
        if rule is not None and rule.action == "deny":
            return not_run(request, DENIED.format(tool=name), CallOutcome.DENIED)
        if place.unreadable:
            return request, None
        # A decision counts even while the tool's server is down.
        if answer := self._answers.by_call.get(place.key):
            return self._follow(request, answer, rule)
        if request.tool is None:
            return request, None
        if rule is not None and self.asks(name) and not _is_refused(request):
            interrupt(_question(request, request.tool, place, rule))
        return request, None

    def _follow(
        self, request: ToolCallRequest, answer: Answer, rule: ApprovalRule | None
    ) -> tuple[ToolCallRequest, Action | None] | ToolMessage:
        """Apply the decision, with exactly the arguments that were shown, or run nothing."""
        failpoint("approval.consumed")
        decision: Any = answer.decision
        if hash_arguments(request.tool_call["args"]) != answer.arguments_hash:
            return not_run(request, CHANGED, CallOutcome.CHANGED)
        if decision is None:
            told = EXPIRED.format(seconds=rule and rule.expires_seconds)
            return not_run(request, told, CallOutcome.EXPIRED)
        if decision["type"] == DecisionType.APPROVE:
            return request, None
        if decision["type"] == DecisionType.EDIT:
            edited: Action = decision["edited_action"]
            return self._apply_edit(request, edited), edited
        answered = tidy(_answer_message(request.tool_call, decision))
        is_rejected = decision["type"] == DecisionType.REJECT
        return with_outcome(answered, CallOutcome.REJECTED) if is_rejected else answered


def with_rule(named: Sequence[str | JSON], rule: JSON) -> list[str | JSON]:
    """Return the policies with an approval rule that precedes all others."""
    asking = [each for each in named if isinstance(each, dict) and "approvals" in each]
    rules = [rule, *(asking[0]["approvals"]["rules"] if asking else ())]
    rest = [each for each in named if each not in asking]
    return [{"approvals": {"rules": rules}}, *rest]


def _is_refused(request: ToolCallRequest) -> bool:
    """Return whether a built-in tool refuses the call, so that there is nothing to decide."""
    tool, arguments = request.tool, request.tool_call["args"]
    return bool(find_misfits(request)) or (isinstance(tool, PlanTool) and tool.refuses(arguments))


def _question(
    request: ToolCallRequest, tool: BaseTool, place: BatchPosition, rule: ApprovalRule
) -> ApprovalRequest:
    call = request.tool_call
    return ApprovalRequest(
        key=place.key,
        call_id=call["id"] or "",
        name=call["name"],
        arguments=call["args"],
        arguments_hash=hash_arguments(call["args"]),
        allowed_decisions=tuple(dict.fromkeys(rule.decisions)),
        description=rule.description or f"The agent asks whether it may run {call['name']}.",
        args_schema=_schema_of(tool),
        expires_seconds=rule.expires_seconds,
    )


def _schema_of(tool: BaseTool) -> JSON:
    """Return the arguments' schema as the model knows it; a built-in tool takes no others."""
    schema: JSON = describe_tool(tool)["function"]["parameters"]
    return schema if isinstance(tool, McpTool) else {**schema, "additionalProperties": False}
