"""A title from the model after the first answer: once its turn has ended, to delay no one."""

import asyncio
import logging
from uuid import UUID

from langchain_core.messages import HumanMessage
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend.agents.factory import choose_agent, named_middleware
from backend.agents.middleware.registry import find_settings
from backend.agents.middleware.title import PURPOSE, TitleSettings, title_in, title_request
from backend.conversations import views
from backend.conversations.messages import last_answer
from backend.conversations.service import clean_title
from backend.domains.template import template_of
from backend.llm.chat_model import ColloquyChatModel
from backend.llm.events import ModelCall, ModelEvent
from backend.llm.provider import ModelProvider
from backend.schemas.conversations.turns import TurnStatus
from backend.turns.process.agent_loop import AgentLoop
from backend.turns.run.claim import Claim
from backend.turns.submit.enter import title_of
from backend.usage.ledger import record_usage
from backend.usage.spent import Spent
from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow
from db.session import Database

FIRST_QUESTIONS = 2  # the first may have had no answer
log = logging.getLogger(__name__)


def suggest_title(database: Database, models: ModelProvider, loop: AgentLoop, claim: Claim) -> None:
    """Let the model name the conversation, if its domain asks for that and it has no title yet.

    Return immediately. Errors are logged: the first line of the question stays the title.
    """
    asyncio.run_coroutine_threadsafe(_suggest(database, models, claim), loop.loop)


async def _suggest(database: Database, models: ModelProvider, claim: Claim) -> None:
    try:
        image = template_of(claim.image)
        agent = choose_agent(image, claim.turn.agent)
        settings: TitleSettings | None = find_settings(named_middleware(image, agent), "title")
        asked = [m for m in claim.stored.state["messages"] if m["role"] == "user"]
        if settings is None or len(asked) > FIRST_QUESTIONS:
            return
        model = models.chat_model(settings.model or claim.turn.model or agent.model or image.model)
        async with asyncio.timeout(settings.seconds):
            await _name(database, model.model_copy(update={"purpose": PURPOSE}), claim)
    except Exception as error:  # noqa: BLE001  # nobody waits for it
        log.warning("No title for %s: %s", claim.conversation_id, type(error).__name__)


async def _name(database: Database, model: ColloquyChatModel, claim: Claim) -> None:
    request = await asyncio.to_thread(_request, database, claim)
    if request is None:
        return
    calls: list[ModelCall] = []

    def listen(event: ModelEvent) -> None:
        if isinstance(event, ModelCall):
            calls.append(event)

    model = model.model_copy(update={"on_event": listen})
    answer = await model.ainvoke([HumanMessage(request)])
    await asyncio.to_thread(_save, database, claim, title_in(answer.text), calls)


def _request(database: Database, claim: Claim) -> str | None:
    """Return the request to the model; None unless this was the first answer, without a title."""
    with database.read() as session:
        answered = session.scalars(
            select(TurnRow.id)
            .where(TurnRow.conversation_id == claim.conversation_id)
            .where(TurnRow.status == TurnStatus.SUCCEEDED)
            .order_by(TurnRow.number)
            .limit(2)
        ).all()
        if answered != [claim.turn_id] or _automatic_title(session, claim.conversation_id) is None:
            return None
        answer = last_answer(session, claim.conversation_id, claim.turn_id, 0)
    return title_request(claim.turn.message, answer) if answer else None


def _save(database: Database, claim: Claim, title: str | None, calls: list[ModelCall]) -> None:
    """Rename the conversation unless someone already did; count what the title cost."""
    spent = Spent().plus(calls)
    with database.transaction() as session:
        automatic = _automatic_title(session, claim.conversation_id)
        if title and automatic:
            session.execute(
                update(ConversationRow)
                .where(ConversationRow.id == claim.conversation_id)
                .where(ConversationRow.title == automatic)
                .values(title=clean_title(title))
            )
        turn = session.get(TurnRow, claim.turn_id, with_for_update=True)
        if turn is not None:
            views.record_outside_turn(session, claim.conversation_id, calls)
            turn.usage = Spent.read(turn.usage).with_more(spent).dump()
            session.flush()
        # The cost counts even if the conversation has been deleted.
        budgets = claim.budgets
        record_usage(
            session, claim.scope.user_id, budgets.domain, spent, team=budgets.team, turns=0
        )


def _automatic_title(session: Session, conversation_id: UUID) -> str | None:
    """Return the title if it is still the first line of the first question."""
    row = session.execute(
        select(ConversationRow.title, TurnRow.message)
        .join(TurnRow, TurnRow.conversation_id == ConversationRow.id)
        .where(ConversationRow.id == conversation_id)
        .order_by(TurnRow.number)
        .limit(1)
    ).one_or_none()
    return row.title if row and row.title == title_of(row.message) else None
