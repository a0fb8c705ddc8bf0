"""Thumbs under an answer, and a sentence beside them once one is chosen."""

from uuid import UUID

import streamlit as st

from backend.schemas.conversations.feedback import (
    MAX_COMMENT_CHARS,
    Feedback,
    NewFeedback,
    Rating,
)
from backend.schemas.usage import TurnFigures
from ui import state
from ui.client import Client, ClientError

THUMBS = (Rating.DOWN, Rating.UP)  # in Streamlit's order


def show(figures: TurnFigures, session_id: UUID) -> None:
    """Draw the thumbs of a finished turn; pressing the chosen one again takes it back."""
    turn_id, own = figures.turn_id, figures.feedback
    key = f"feedback-{turn_id}"
    st.session_state.setdefault(key, THUMBS.index(own.rating) if own else None)
    st.feedback("thumbs", key=key, on_change=_rate, args=(key, turn_id, session_id, own))
    if own is not None:
        _comment(own, turn_id, session_id)


def _comment(own: Feedback, turn_id: UUID, session_id: UUID) -> None:
    """Draw a popover for the sentence."""
    label = "Change comment" if own.comment else "Add a comment"
    key = f"comment-{turn_id}"
    box = st.popover(label, type="tertiary", key=f"comments-{turn_id}", on_change="rerun")
    if not box.open:
        return
    with box, st.form(f"comment-form-{turn_id}", border=False):
        st.text_area(
            "What was good?" if own.rating is Rating.UP else "What was wrong?",
            value=own.comment,
            key=key,
            max_chars=MAX_COMMENT_CHARS,
            help="Those who review sessions read this.",
        )
        st.form_submit_button(
            "Save comment", on_click=_say, args=(key, turn_id, session_id, own.rating)
        )


def _rate(key: str, turn_id: UUID, session_id: UUID, own: Feedback | None) -> None:
    chosen = st.session_state.get(key)
    try:
        if chosen is None:
            _take_back(state.client(), turn_id)
        else:
            comment = own.comment if own else ""
            _give(state.client(), turn_id, THUMBS[chosen], comment)
    except ClientError as problem:
        st.session_state.pop(key, None)  # it shows again what is stored
        state.flash(problem)
    _forget(session_id)


def _say(key: str, turn_id: UUID, session_id: UUID, rating: Rating) -> None:
    try:
        _give(state.client(), turn_id, rating, str(st.session_state.get(key) or ""))
    except ClientError as problem:
        state.flash(problem)
    else:
        st.session_state[f"comments-{turn_id}"] = False
        state.say("Thank you. Your comment was saved.")
    _forget(session_id)


def _forget(session_id: UUID) -> None:
    """Have the figures of the session's turns read again."""
    state.memory().turn_figures.pop(session_id, None)


def _give(client: Client, turn_id: UUID, rating: Rating, comment: str) -> None:
    body = NewFeedback(rating=rating, comment=comment).model_dump()
    client.send("POST", f"turns/{turn_id}/feedback", json=body)


def _take_back(client: Client, turn_id: UUID) -> None:
    client.send("DELETE", f"turns/{turn_id}/feedback")
