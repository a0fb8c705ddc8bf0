"""The tasks of all sessions: first those that ask, run or wait, then those that have ended."""

from collections.abc import Sequence
from uuid import UUID

import streamlit as st

from backend.schemas.people.rights import Permission
from backend.schemas.tasks import Task, TaskPage, TaskStatus
from ui import navigation, state
from ui.client import ClientError
from ui.features.plans import calls, task_view
from ui.features.plans.words import LOOKS, look_of, task_words
from ui.shared import banners, pager
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

EVERYONE = "tasks-of-everyone"
STATUS = "tasks-status"
CURSORS = "tasks-cursors"
SECONDS = 4
PAGE_ROWS = 50
ACTIVE_ROWS = 20  # of each active status
ACTIVE = (TaskStatus.ASKING, TaskStatus.RUNNING, TaskStatus.PENDING)
KEPT_SECONDS, MAX_KEPT = 60, 500
EMPTY = (
    "No tasks yet. When a manager proposes a plan and you agree to it, its tasks appear here while"
    " they run and afterwards."
)


def page_cursors() -> list[str]:
    """Return the cursors of the pages that this tab has gone through."""
    cursors: list[str] = st.session_state.setdefault(CURSORS, [])
    return cursors


def show() -> None:
    """Draw the filter and the list, which is drawn again every few seconds."""
    status: TaskStatus | None = st.pills(
        "Status",
        list(LOOKS),
        key=STATUS,
        format_func=lambda one: f"{LOOKS[one].icon} {LOOKS[one].word.capitalize()}",
        on_change=page_cursors().clear,
    )
    may_review = Permission.REVIEW_SESSIONS in state.server().permissions
    everyone = may_review and bool(st.session_state.get(EVERYONE))
    _board(status, everyone=everyone)


@st.fragment(run_every=SECONDS)
def _board(status: TaskStatus | None, *, everyone: bool) -> None:
    banners.what_happened()
    cursor = page_cursors()[-1] if page_cursors() else None
    try:
        page = _load(status, cursor, PAGE_ROWS, everyone=everyone)
        is_first = status is None and cursor is None
        parts = ACTIVE if is_first else ()
        pages = [_load(part, None, ACTIVE_ROWS, everyone=everyone) for part in parts]
    except ClientError as problem:
        banners.error(problem)
        return
    active = [task for part in pages for task in part.items]
    if active:
        st.subheader("Active", anchor=False)
        _cards(active)
        if len(active) >= ACTIVE_ROWS:
            st.caption(f"Up to {ACTIVE_ROWS} of each status; choose a status to see all.")
    rest = [task for task in page.items if status or task.status not in ACTIVE]
    if rest:
        if active:
            st.subheader("Ended", anchor=False)
        _cards(rest)
    if not active and not rest:
        st.info(EMPTY if status is None else f"No task is {LOOKS[status].word}.")
    with st.container(horizontal=True, horizontal_alignment="right"):
        pager.by_cursor(page_cursors(), page.next_cursor, "tasks", ("Newer", "Older"))


def _load(status: TaskStatus | None, cursor: str | None, limit: int, *, everyone: bool) -> TaskPage:
    return calls.list_tasks(
        state.client(), status=status, cursor=cursor, everyone=everyone, limit=limit
    )


def _cards(tasks: Sequence[Task]) -> None:
    for task in tasks:
        with st.container(border=True, gap="xsmall", key=f"task-{task.id}"):
            _card(task)


def _card(task: Task) -> None:
    look = look_of(task)
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        st.markdown(f"**{plain(task.name, 120)}**", width="stretch")
        st.badge(look.word.capitalize(), icon=look.icon, color=look.colour)  # type: ignore[arg-type]  # a closed set
    words = task_words(task, with_status=False)
    if task.started_at is not None:
        words += f" · begun {reader.moment(task.started_at)}"
    st.caption(plain(words))
    if task.status is TaskStatus.ASKING:
        task_view.show_question(task, f"task-ask-{task.id}")
    elif task.waiting_for_approval:
        task_view.show_way_to_inbox([task], f"task-approve-{task.id}")
    elif task.error is not None:
        st.caption(task_view.failure_words(task))
    with st.container(horizontal=True):
        title, owner = _session_of(state.server().user, task.parent_id)
        is_own = owner in (None, state.server().user)
        _session_link(task, title, owner, is_own=is_own)
        if task.session_id is not None:
            task_view.open_link(task, "Open the task", read_only=not is_own)


def _session_link(task: Task, title: str, owner: str | None, *, is_own: bool) -> None:
    by = "" if is_own else f" · {plain(str(owner), 60)}"
    st.page_link(
        navigation.CHAT_PAGE,
        label=f"{plain(title, 80)}{by}",
        icon=":material/forum:",
        query_params={"session": str(task.parent_id)} | ({} if is_own else {"view": "read"}),
    )


# Cached per person: what one may see is not served to another.
@st.cache_data(ttl=KEPT_SECONDS, max_entries=MAX_KEPT, show_spinner=False)
def _session_of(user: str, session_id: UUID) -> tuple[str, str | None]:
    """Return a session's title and owner."""
    try:
        session = state.client().session(session_id)
    except ClientError:
        return "Its session", None
    return session.title or "New chat", session.owner
