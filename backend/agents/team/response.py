"""The form of a manager's answer, and what follows from it. Pure."""

import json
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal
from uuid import uuid4

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import ToolCall, tool_call
from pydantic import ValidationError

from backend.agents.team.payload import (
    INVOKE_AGENT,
    TASK_GRAPH,
    Part,
    PayloadChange,
    PayloadConflict,
    changed_payload,
    without_followed,
)
from backend.fences import OPENING, fenced_parts
from backend.planning.references import find_references
from backend.types import JSON
from colloquy_kit.messages.clean import clean

RESPOND, RUN_PLAN, CALL_AGENT = "respond", "run_plan", "call_agent"
MOST_FENCES = 3  # of an answer that are read
KNOWN = frozenset(("taskComplete", "nextStep", "payloadChangeRequest"))
# What is written like a response, however badly.
_FORMAL = re.compile(
    rf"""\A\s*(?:{OPENING.pattern}\s*)?\{{\s*["'}}]|\b(?:{"|".join(sorted(KNOWN))})["']?\s*:"""
)

UNREADABLE = (
    "The answer could not be read. Answer with one JSON object in the form of # How to answer"
)
NO_NEXT_STEP = "Task not complete but no next step provided"
NO_CHAT_MESSAGE = "Chat type specified but no user message provided"


class SubAgent(Part):
    """Another agent that should do something; with `terminateAfter` its answer ends the turn."""

    name: str
    message: str = ""
    terminate_after: bool = False


class Action(Part):
    """A tool that should run."""

    name: str
    params: JSON = {}


class NextStep(Part):
    """What follows if the task is not complete."""

    type: Literal["Actions", "Sub-Agent", "Chat", "Retry"]
    actions: list[Action] = []
    sub_agent: SubAgent | None = None
    retry_instructions: str | None = None


class Response(Part):
    """A manager's answer. `proposes_plan`: the message is a plan that the user may agree to."""

    task_complete: bool = False
    message: str | None = None
    proposes_plan: bool = False
    reasoning: str | None = None
    confidence: float | None = None
    payload_change_request: PayloadChange | None = None
    next_step: NextStep | None = None


class Unusable(Exception):
    """A response that cannot be followed; its text is the hint for asking again."""


@dataclass(frozen=True)
class HandOver:
    """The agent that continues the turn, and its brief."""

    agent: str
    message: str = ""


@dataclass(frozen=True)
class Result:
    """What follows from a response: calls, a hand-over, a message, or nothing.

    `payload` is the whole payload from now on.
    """

    text: str
    payload: JSON
    calls: list[ToolCall] = field(default_factory=list)
    hand_over: HandOver | None = None
    observed: bool = False


def read_response(message: AIMessage) -> Response | None:
    """Return the response in a model's message, a call of `respond` or text; None if none.

    Raise Unusable for one that does not have the form.
    """
    given = next((call["args"] for call in message.tool_calls if call["name"] == RESPOND), None)
    if given is None:
        given = _object_in(message.text)
    if given is None:
        return None
    try:
        return Response.model_validate(given)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise Unusable(f"{UNREADABLE}: {where}: {fault['msg']}.") from error


def is_prose(text: str) -> bool:
    """Return whether a text says something, and nothing in it was meant as a response.

    A manager's prose is what the person reads, like a response of the type Chat.
    """
    return bool(text.strip()) and _FORMAL.search(text) is None


def follow(response: Response, payload: JSON, own_calls: list[ToolCall]) -> Result:
    """Return what follows from a response, besides the calls that the model made itself.

    Raise Unusable if nothing follows, or if its change does not fit the payload.
    """
    try:
        after = changed_payload(payload, response.payload_change_request)
    except PayloadConflict as error:
        raise Unusable(f"The payload was not changed: {error}.") from error
    text = (response.message or "").strip()
    if own_calls:
        return Result(text, after, own_calls)
    step = response.next_step
    if not response.task_complete:
        if step is None:
            raise Unusable(NO_NEXT_STEP)
        if step.type == "Retry":
            raise Unusable(step.retry_instructions or "Try again, as you asked for.")
        if step.type in ("Actions", "Sub-Agent"):
            return Result(text, after, _calls_of(step))
        if not text and not after.keys() & {TASK_GRAPH, INVOKE_AGENT}:
            raise Unusable(NO_CHAT_MESSAGE)
    return _end(text, after)


def _end(text: str, payload: JSON) -> Result:
    """Return the result by precedence: a plan, another agent, a message, or nothing."""
    carried = without_followed(payload)
    if graph := payload.get(TASK_GRAPH):
        if hand_over := _only_task(graph):
            return Result(text, carried, hand_over=hand_over)
        return Result(text, carried, [_call(RUN_PLAN, graph if isinstance(graph, dict) else {})])
    if wanted := payload.get(INVOKE_AGENT):
        return Result(text, carried, hand_over=_hand_over(wanted))
    return Result(text, carried, observed=not text)


def _calls_of(step: NextStep) -> list[ToolCall]:
    if step.type == "Actions":
        if not step.actions:
            raise Unusable("Actions type specified but no actions provided")
        return [_call(action.name, action.params) for action in step.actions]
    if step.sub_agent is None:
        raise Unusable("Sub-Agent type specified but no sub-agent provided")
    return [_call(CALL_AGENT, step.sub_agent.model_dump(by_alias=True))]


def _only_task(graph: Any) -> HandOver | None:
    """Return the hand-over that replaces a plan of a single task.

    Return None for one that needs other tasks: the plan is then refused, with the reason.
    """
    tasks = graph.get("tasks") if isinstance(graph, dict) else None
    if not isinstance(tasks, list) or len(tasks) != 1 or not isinstance(tasks[0], dict):
        return None
    task = tasks[0]
    if task.get("dependsOn") or find_references([task.get("description"), task.get("input")]):
        return None
    parts = [str(task.get("description") or task.get("name") or "")]
    if task.get("input"):
        parts.append(f"Input:\n{json.dumps(task['input'], ensure_ascii=False)}")
    return HandOver(str(task.get("agentName") or ""), "\n\n".join(filter(None, parts)))


def _hand_over(wanted: Any) -> HandOver:
    if isinstance(wanted, str):
        return HandOver(wanted)
    if not isinstance(wanted, dict):
        raise Unusable("invokeAgent must be {name, message}")
    name = wanted.get("name") or wanted.get("agentName")
    message = wanted.get("message") or wanted.get("reasoning") or ""
    return HandOver(str(name or ""), str(message))


def _call(name: str, arguments: JSON) -> ToolCall:
    return tool_call(name=name, args=arguments, id=f"call_{uuid4().hex[:24]}")


def _object_in(text: str) -> JSON | None:
    """Return the JSON object in a text, alone or in a fence."""
    stripped = text.strip()
    for candidate in (stripped, *islice(fenced_parts(stripped), MOST_FENCES)):
        if not candidate.startswith("{"):
            continue
        try:
            given = json.loads(candidate, strict=False)  # with line ends in texts
        except (ValueError, RecursionError):
            continue
        if isinstance(given, dict) and given.keys() & KNOWN:
            cleaned: JSON = clean(given)  # as the arguments of native calls are
            return cleaned
    return None
