"""Follows the active turn of a session and draws it as it comes, until it ends."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from backend.schemas.sessions import ContentType, DisplayMessage, Turn, TurnStatus
from ui import state
from ui.client import ClientError
from ui.features.approvals.call import expiry_words, pending_calls
from ui.features.approvals.decision import approve_all
from ui.features.chat import renderers
from ui.features.chat.blocks import Block
from ui.features.chat.events import Follower
from ui.features.chat.history import speaker
from ui.features.chat.live_turn import DRAWN_CHARS, THINKING_CHARS, LiveTurn, PartialMessage
from ui.features.chat.renderers import Place
from ui.shared import watch
from ui.shared.states import running_words, waiting_words
from ui.shared.text.long_text import draw_piece
from ui.shared.text.markdown import plain, split_finished

# A write at least each second lets Streamlit notice a closed tab, and frees this thread.
WAIT_SECONDS = 1.0
JOIN_SECONDS = 0.06
CHECK_SECONDS = 10.0
SILENT_SECONDS = 2.0
WAITING_SECONDS = 2.0
ONE_ELEMENT = (ContentType.THINKING, ContentType.TOOL_CALL)


def follow(turn: Turn, rows: Sequence[DisplayMessage], queued: Sequence[Turn]) -> None:
    """Draw the turn while it runs; then draw the page again from what is stored."""
    live = LiveTurn(turn, rows)
    known = {one.id for one in queued} | {turn.id}
    with speaker(is_user=False, agent=turn.agent):
        stage = TurnView(st.container(), turn.session_id)
        notice, status = Caption(), Caption()
    stage.draw(live)
    if live.waits_for:
        _wait_for_people(live)
        return
    checked = heard = time.monotonic()
    with Follower(state.client(), turn.session_id) as follower:
        while not (live.is_finished or follower.has_ended or live.waits_for):
            events = follower.take(WAIT_SECONDS, JOIN_SECONDS)
            live.apply(events)
            if events:
                heard = time.monotonic()
            stage.draw(live)
            notice.show(f":material/info: {plain(live.notice)}" if live.notice else "")
            status.show(_status_line(live))
            now = time.monotonic()
            is_silent = now - max(heard, checked) > SILENT_SECONDS
            if live.queued_ids - known or is_silent or now - checked > CHECK_SECONDS:
                known |= live.queued_ids
                checked = now
                if _has_moved_on(live, queued):
                    break
    st.rerun()


def _wait_for_people(live: LiveTurn) -> None:
    """Say what the turn waits for. This may last for days, so nothing is held meanwhile."""
    calls = pending_calls(live.waits_for)
    words = waiting_words(len(calls), is_reader=state.is_read_only())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/approval: {words}", width="content")
        if len(calls) > 1 and not state.is_read_only():
            st.button(
                f"Approve all {len(calls)}",
                key=f"approve-all-{live.turn.id}",
                icon=":material/done_all:",
                on_click=approve_all,
                args=(calls,),
            )
    watch.keep_fresh(lambda: _decided_meanwhile(live), WAITING_SECONDS)


class Caption:
    """A line that is sent to the browser when it says something else, and each second."""

    def __init__(self) -> None:
        self._place = st.empty()
        self._shown = ""
        self._sent_at = 0.0

    def show(self, text: str) -> None:
        """Say this; nothing takes the line away."""
        now = time.monotonic()
        if text == self._shown and now - self._sent_at < WAIT_SECONDS:
            return
        self._shown, self._sent_at = text, now
        if text:
            self._place.caption(text)
        else:
            self._place.empty()


class TurnView:
    """The place where a turn is drawn: a slot for each block, and the drafts at the end."""

    def __init__(self, container: DeltaGenerator, session_id: UUID) -> None:
        self._container = container
        self._session_id = session_id
        self._slots: dict[UUID, DeltaGenerator] = {}
        self._drawn: dict[UUID, object] = {}
        self._drafts: dict[UUID, Draft] = {}
        self._draws = 0

    def draw(self, live: LiveTurn) -> None:
        """Draw what is new or has changed since the last time; clear what is outdated."""
        blocks = live.blocks
        for row_id in self._slots.keys() - {block.row.id for block in blocks}:
            self._slots.pop(row_id).empty()
        for block in blocks:
            if self._drawn.get(block.row.id) != block.signature:
                self._draw_block(block)
        for message_id in self._drafts.keys() - live.partial.keys():
            self._drafts.pop(message_id).clear()
        for message_id, partial in live.partial.items():
            if message_id not in self._drafts:
                is_other = partial.agent != live.turn.agent
                self._drafts[message_id] = Draft(self._container, partial, shows_agent=is_other)
            self._drafts[message_id].write(partial.text)

    def _draw_block(self, block: Block) -> None:
        if block.row.id not in self._slots:
            self._end_drafts()
            self._slots[block.row.id] = self._container.empty()
        slot = self._slots[block.row.id]
        self._drawn[block.row.id] = block.signature
        self._draws += 1
        # Steps of one timeline must be neighbours; only what is one element can be so.
        is_one = block.row.content_type in ONE_ELEMENT and not block.waits
        with slot if is_one else slot.container():
            renderers.draw(block, Place(self._session_id, f"live{self._draws}"))

    def _end_drafts(self) -> None:
        """Clear the drafts; those that go on are drawn again, after the new block."""
        for draft in self._drafts.values():
            draft.clear()
        self._drafts.clear()


class Draft:
    """A message that streams: finished paragraphs are written once, the last one again and again.

    The name of its agent stands above it where it differs from the turn's.
    """

    def __init__(
        self, container: DeltaGenerator, partial: PartialMessage, *, shows_agent: bool
    ) -> None:
        self._place = container.empty()
        self._body = self._place.container()
        if shows_agent:
            self._body.caption(plain(partial.agent))
        self._is_thinking = partial.content_type is ContentType.THINKING
        self._last = self._body.empty()
        self._finished = 0
        self._written = ""

    def write(self, text: str) -> None:
        """Show what there is so far; a very long text is shown whole once stored."""
        if text == self._written:
            return
        self._written = text
        if self._is_thinking:
            self._write_thinking(text)
        else:
            self._write_text(text if len(text) <= DRAWN_CHARS else f"{text[:DRAWN_CHARS]} …")

    def clear(self) -> None:
        """Take the draft off the page: what it said is stored now, or void."""
        self._place.empty()

    def _write_thinking(self, thinking: str) -> None:
        with self._last.expander(
            "Thinking", expanded=True, type="compact", icon=":material/psychology:"
        ):
            st.caption(plain(thinking, THINKING_CHARS))

    def _write_text(self, text: str) -> None:
        finished, last = split_finished(text)
        for piece in finished[self._finished :]:
            with self._last:
                draw_piece(piece)
            self._last = self._body.empty()
        self._finished = len(finished)
        if last is not None:
            with self._last:
                draw_piece(last)


def _status_line(live: LiveTurn) -> str:
    """What the turn does, for how long, at which step, and what is the matter with its worker."""
    turn = live.turn
    activity = f":shimmer[{plain(live.activity)}…]"
    if turn.status is TurnStatus.QUEUED:
        return activity
    since = turn.started_at or turn.created_at
    words = running_words(turn, live.step, time.time() - since.timestamp())
    return " · ".join([activity, *words])


def _decided_meanwhile(live: LiveTurn) -> object:
    """What changes when somebody decides elsewhere, or time runs out; None: not to be known."""
    client, session_id = state.client(), live.turn.session_id
    try:
        turns = client.turns(session_id).items
        rows = client.messages(session_id).items
    except ClientError:
        return None
    now = datetime.now(UTC)
    times = [expiry_words(call.expires_at, now) for call in pending_calls(rows)]
    return [turn.status for turn in turns], [row.status for row in rows], times


def _has_moved_on(live: LiveTurn, queued: Sequence[Turn]) -> bool:
    """Take what is stored, as events may be away; whether the queue differs from what was drawn."""
    client, session_id = state.client(), live.turn.session_id
    try:
        turns = client.turns(session_id).items
        rows = client.messages(session_id).items
    except ClientError:
        return False
    if [turn.id for turn in turns] != [live.turn.id, *(turn.id for turn in queued)]:
        return True
    live.store(turns[0], [row for row in rows if row.turn_id == live.turn.id])
    return False
