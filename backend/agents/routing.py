"""Deciding which agent has a turn: by a continuity check, and by handing over."""

import asyncio
from collections.abc import Sequence
from uuid import uuid4

from backend.agents.factory import AgentRecipe
from backend.agents.steps.events import TurnRouted
from backend.agents.team.addressing import find_candidate
from backend.agents.team.continuity import (
    PURPOSE,
    Continuity,
    continuity_request,
    read_continuity,
)
from backend.agents.team.marks import response_in
from backend.domains.team import agent_for
from backend.errors.base import AppError, InvalidInput
from backend.errors.turns import ResponseRefused
from backend.llm.asking import Tell
from backend.llm.events import Delta, ModelEvent, Reset, Waiting
from backend.llm.patience import Patience
from backend.schemas.conversations.turns import Route, RouteReason
from backend.schemas.domains.templates import AgentTemplate, ManagerTemplate
from backend.types import JSON
from colloquy_kit.messages.state import BRIEF, user_message


async def decide_route(
    recipe: AgentRecipe, manager: ManagerTemplate, state: JSON, tell: Tell
) -> TurnRouted:
    """Return the agent for a turn whose message names none.

    It is the agent that spoke last if a model says that the message continues with it, otherwise
    the manager. `tell` receives the events of that question to the model, not its text.
    """
    messages = state["messages"]
    name = find_candidate(recipe.image, recipe.role, state)
    if name is None:
        return TurnRouted(manager.name, Route(reason=RouteReason.MANAGER), state)
    candidate = agent_for(recipe.image, recipe.role, name)
    continuity = await _ask(recipe, manager, candidate, messages, tell)
    is_same = continuity.answer == "YES"
    route = Route(
        reason=RouteReason.CONTINUES if is_same else RouteReason.MANAGER,
        answer=continuity.answer,
        candidate=name,
        detail=continuity.reason or None,
    )
    return TurnRouted(name if is_same else manager.name, route, state)


def find_hand_over(recipe: AgentRecipe, state: JSON) -> TurnRouted | None:
    """Return the agent that the state's last message hands the turn over to, if any.

    Raise ResponseRefused for an agent that the user may not use.
    """
    last = state["messages"][-1] if state["messages"] else {}
    wanted = response_in(last).get("handOver")
    if recipe.image.manager is None or not wanted:
        return None
    try:
        agent = agent_for(recipe.image, recipe.role, wanted["agent"])
    except InvalidInput as error:
        raise ResponseRefused(f"The turn could not be handed over. {error.detail}") from error
    by = last.get("name") or recipe.agent_name
    brief = user_message(wanted["message"] or "Go on with this.", str(uuid4()))
    brief |= {"name": by, "additional_kwargs": {BRIEF: True}}
    after = {**state, "messages": [*state["messages"], brief]}
    route = Route(
        reason=RouteReason.HANDED_OVER, candidate=by, detail=wanted["message"][:300] or None
    )
    return TurnRouted(agent.name, route, after)


async def _ask(
    recipe: AgentRecipe,
    manager: ManagerTemplate,
    candidate: AgentTemplate,
    messages: Sequence[JSON],
    tell: Tell,
) -> Continuity:
    """Ask the model; a failure or timeout is UNSURE, with the reason."""

    def listen(event: ModelEvent) -> None:
        if not isinstance(event, Delta | Reset | Waiting):
            tell(event)

    try:
        name = manager.continuity_model or manager.model or recipe.image.model
        model = recipe.models.chat_model(name)
        options = {"on_event": listen, "purpose": PURPOSE, "patience": Patience(tries=1, resets=0)}
        async with asyncio.timeout(manager.continuity_seconds):
            answer = await model.model_copy(update=options).ainvoke(
                continuity_request(candidate, messages)
            )
    except TimeoutError:
        return Continuity("UNSURE", "The question took too long.")
    except AppError as error:
        return Continuity("UNSURE", f"The question failed: {error.detail}"[:300])
    return read_continuity(answer.text)
