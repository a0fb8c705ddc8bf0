"""Draws the latest turn of a session: its rows, what streams, the queue behind it, its end.

A fragment: the browser's live part (`live`) requests it when there are newer rows, and the rest of
the page stays unchanged. The turn keeps its place when it ends, so what is open there stays open.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import streamlit as st

from backend.schemas.conversations.sessions import DisplayMessage, Session
from backend.schemas.conversations.turns import Turn, TurnStatus
from colloquy_kit.messages.kinds import MessageType
from ui import navigation, state
from ui.client import ServiceUnavailable
from ui.features.approvals.decision import approve_all
from ui.features.approvals.view import all_words_hold, pending_calls
from ui.features.chat import composer, history
from ui.features.chat.live import component
from ui.features.chat.message_actions import Actions
from ui.features.chat.messages.blocks import split_current, to_blocks, to_groups
from ui.shared.states import waiting_words
from ui.shared.watch import timer


@dataclass
class Latest:
    """The stored end of a session: its unfinished turns, and the rows of the latest one.

    `all_rows`: the rows of the whole page.
    """

    turns: Sequence[Turn]
    rows: Sequence[DisplayMessage]
    all_rows: Sequence[DisplayMessage]

    @property
    def active(self) -> Turn | None:
        """The turn that runs, waits for a decision, or is next."""
        return self.turns[0] if self.turns else None

    @property
    def is_early(self) -> bool:
        """Whether the message of the next turn is not in the history yet: a worker puts it there.

        A turn that goes on with an earlier one's work has no message of its own.
        """
        turn = self.active
        if turn is None or turn.status is not TurnStatus.QUEUED:
            return False
        said = [row for row in self.all_rows if row.message_type is MessageType.USER]
        is_seen = any(row.turn_id == turn.id for row in said)
        return not (is_seen or (said and said[-1].content.get("text") == turn.message))

    @property
    def queue(self) -> Sequence[Turn]:
        """The turns whose messages wait below the history."""
        return self.turns if self.is_early else self.turns[1:]

    @property
    def waits_for(self) -> list[DisplayMessage]:
        """The approvals that must be decided before the turn goes on."""
        if self.active is None or self.active.status is not TurnStatus.WAITING:
            return []
        return [block.asked or block.row for block in to_blocks(self.rows) if block.waits]


def show(session: Session, latest: Latest, actions: Actions) -> None:
    """Draw the turn, and redraw it whenever the browser reports newer rows."""
    drawn: list[bool] = []

    @st.fragment
    def draw() -> None:
        newer = _newer(session, latest) if drawn else latest
        if newer is None:
            st.rerun()
        drawn.append(True)
        _draw(session, newer, actions)

    draw()
    if held := all_words_hold(pending_calls(latest.waits_for), datetime.now(UTC)):
        timer.draw_again(held, "expiry")


def _newer(session: Session, latest: Latest) -> Latest | None:
    """Return what is stored now; None if the whole page must be redrawn.

    That is the case if other turns have changed, or if a person clicked something here.
    """
    if not component.take_request():
        return None
    client = state.client()
    try:
        turns = client.turns(session.id).items
        if not turns or _queue(turns) != _queue(latest.turns):
            return None
        current = {row.id for row in latest.rows}
        settled = [row for row in latest.all_rows if row.id not in current]
        rows = client.messages_after(session.id, settled[-1].position if settled else 0)
    except ServiceUnavailable:
        return None
    return Latest(turns, split_current(rows, turns[0].id)[1], [*settled, *rows])


def _queue(turns: Sequence[Turn]) -> list[object]:
    return [(turn.id, turn.status, turn.stop_requested) for turn in turns]


def _draw(session: Session, latest: Latest, actions: Actions) -> None:
    followed = state.memory().followed
    actions = replace(actions, team=actions.team.with_turns(latest.turns))
    if latest.active is not None:
        followed.add(latest.active.id)
    # Its steps fold only once it is in the history: nothing may close while it is being read.
    folds = all(row.turn_id not in followed for row in latest.rows)
    # Always three containers, so that the streaming part never moves among its neighbours.
    with st.container():
        history.draw(to_groups(latest.rows), session.id, actions, folds=folds)
        if waits := latest.waits_for:
            _what_it_waits_for(waits, latest)
    component.show(
        session.id,
        actions.team,
        latest.turns,
        latest.all_rows,
        latest.rows,
        is_early=latest.is_early,
    )
    with st.container():
        if latest.active is None:
            if session.parent_id is None:  # only its plan gives work to a task
                composer.offer_retry(latest.rows)
                composer.offer_to_proceed(latest.rows)
        else:
            composer.show_queue(latest.queue)


def _what_it_waits_for(waits: Sequence[DisplayMessage], latest: Latest) -> None:
    """Show what the turn waits for, possibly for days."""
    calls = pending_calls(waits)
    words = waiting_words(len(calls), is_reader=navigation.is_read_only())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/approval: {words}", width="content")
        if len(calls) > 1 and not navigation.is_read_only() and latest.active is not None:
            st.button(
                f"Approve all {len(calls)}",
                key=f"approve-all-{latest.active.id}",
                icon=":material/done_all:",
                on_click=approve_all,
                args=(calls,),
            )
