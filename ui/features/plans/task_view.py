"""One task: its input, progress, and result or failure, and the decisions a person can make."""

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from backend.markdown.cells import find_targets
from backend.schemas.tasks import Task, TaskDecision
from ui import navigation, state
from ui.client import ClientError
from ui.features.artifacts.known import SessionArtifacts, load
from ui.features.plans import calls
from ui.features.plans.words import answer_text, made_artifacts, task_words
from ui.shared.formats import reader
from ui.shared.once import once
from ui.shared.text import long_text
from ui.shared.text.json_text import lay_out
from ui.shared.text.markdown import Piece, plain

MOST_NAMED = 3
INBOX_ICON = ":material/inbox:"
Choice = Literal["retry", "skip", "stop"]
CHOICES: tuple[tuple[Choice, str, str, str], ...] = (
    ("retry", "Retry", ":material/replay:", "Try this task once more"),
    ("skip", "Skip", ":material/skip_next:", "Continue without it and the tasks that depend on it"),
    ("stop", "Stop", ":material/stop_circle:", "Stop the whole plan"),
)


def show(task: Task, key: str, before: Sequence[str] = ()) -> None:
    """Draw a task's progress, its answer, and the link to its session.

    `before`: the names of the tasks that it depends on.
    """
    st.caption(plain(task_words(task)))
    if task.description:
        st.markdown(plain(task.description, 1000))
    if before:
        st.caption(plain(f"After {', '.join(before)}"))
    if task.error is not None:
        st.error(failure_words(task), icon=":material/error:")
    _answer(task, key)
    with st.container(horizontal=True, vertical_alignment="center"):
        if task.session_id is not None:
            open_link(task, read_only=navigation.is_read_only())
        if task.usage is not None:
            total = task.usage.input_tokens + task.usage.output_tokens
            st.caption(f"{reader.number(total)} tokens", width="content")
    if task.input:
        with st.expander("Input", type="compact", icon=":material/input:", key=f"in-{key}"):
            long_text.code(lay_out(task.input), f"task-in-{key}", "json")


def show_question(task: Task, key: str) -> None:
    """Draw a failed task's question: why it failed, and the choices."""
    with st.container(border=True, gap="xsmall", key=key):
        st.markdown(f":orange[:material/help:] **{plain(task.name, 120)}** has failed.")
        st.caption(failure_words(task))
        if navigation.is_read_only():
            st.caption("The owner decides how to continue.")
            return
        with st.container(horizontal=True):
            for choice, label, icon, help in CHOICES:
                st.button(
                    label,
                    key=f"{choice}-{key}",
                    icon=icon,
                    help=help,
                    on_click=_decide,
                    args=(task, choice),
                )


def show_way_to_inbox(tasks: Sequence[Task], key: str) -> None:
    """Draw which tasks wait for a decision on a tool call, with a link to the inbox."""
    names = ", ".join(f"**{plain(task.name, 80)}**" for task in tasks[:MOST_NAMED])
    more = f" and {len(tasks) - MOST_NAMED} more" if len(tasks) > MOST_NAMED else ""
    verb = "waits" if len(tasks) == 1 else "wait"
    with st.container(horizontal=True, vertical_alignment="center", key=key):
        st.caption(
            f":material/approval: {names}{more} {verb} for a decision on a tool call.",
            width="content",
        )
        if not navigation.is_read_only():
            st.page_link(navigation.INBOX_PAGE, label="Decide in the Inbox", icon=INBOX_ICON)


def failure_words(task: Task) -> str:
    """Return why a task has failed, as Markdown."""
    if task.error is None:
        return "No reason was given."
    return f"**{plain(task.error.title)}.** {plain(task.error.detail, 1000)}"


def open_link(task: Task, label: str = "Open", *, read_only: bool) -> None:
    """Draw the link to a task's session, where its owner decides on its tool calls."""
    st.page_link(
        navigation.CHAT_PAGE,
        label=label,
        icon=":material/open_in_full:",
        query_params={"session": str(task.session_id)} | ({"view": "read"} if read_only else {}),
    )


def _answer(task: Task, key: str) -> None:
    if task.output is None:
        return
    text = answer_text(task.output)
    made = made_artifacts(task.output)
    is_linking = made or (text and find_targets(text))
    known = SessionArtifacts(task.parent_id, load(task.parent_id) if is_linking else {})
    for title, target in made:
        href = target.href(task.parent_id)
        st.markdown(f":material/inventory: [{plain(title, 120)}]({href})")
    if text is None:
        long_text.code(lay_out(task.output), f"out-{key}", "json")
        return

    def draw(piece: Piece) -> None:
        long_text.draw_piece(known.write(piece))

    long_text.answer(text, f"answer-{key}", draw)


def _decide(task: Task, choice: Choice) -> None:
    """Send the decision, in a callback; the second click of a double click does nothing."""
    what = ("task", task.id, task.tries)
    try:
        once(what, calls.decide, state.client(), task.id, TaskDecision(decision=choice))
    except ClientError as problem:
        state.flash(problem)
