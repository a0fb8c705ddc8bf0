"""What a session's head says of reviews: to its owner who read it, to a reviewer until when."""

import streamlit as st

from backend.schemas.conversations.reviews import Review
from backend.schemas.conversations.sessions import Session
from backend.schemas.people.rights import SessionRights
from ui import state
from ui.client import ClientError
from ui.features.reviews import calls
from ui.shared import banners
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

REVIEWING = "This is somebody else's session. Its owner sees that you read it, and why."


def show(session: Session) -> None:
    """Draw that the person reviews this session, or who reviewed it where it is theirs."""
    if session.review_ends_at is not None:
        until = f"In review until {reader.moment(session.review_ends_at)}"
        st.badge(until, icon=":material/visibility:", color="orange", help=REVIEWING)
    elif session.review_count and session.rights is SessionRights.OWN:
        _viewed(session)


def _viewed(session: Session) -> None:
    count = session.review_count
    box = st.popover(
        "Viewed once" if count == 1 else f"Viewed {reader.number(count)} times",
        icon=":material/visibility:",
        type="tertiary",
        key=f"viewed-{session.id}",
        on_change="rerun",
        help="Who read this session as a reviewer, when and why",
    )
    if not box.open:
        return
    with box:
        try:
            reviews = calls.list_reviews(state.client(), session.id)
        except ClientError as problem:
            banners.error(problem)
            return
        for review in reviews:
            st.markdown(_line(review))
        if len(reviews) < count:
            st.caption(f"The latest {reader.number(len(reviews))} are shown.")


def _line(review: Review) -> str:
    who, when = plain(review.reviewer_name, 80), reader.day_and_time(review.begun_at)
    why = f"  \n:small[:gray[{plain(review.reason, 500)}]]" if review.reason else ""
    return f"Viewed by **{who}** on {when}{why}"
