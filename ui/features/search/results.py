"""The search results by session: each hit with its time, speaker and snippet."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from uuid import UUID

import streamlit as st

from backend.schemas.conversations.search import SearchHit, SearchPage, SnippetPart
from colloquy_kit.messages.kinds import ContentType, MessageType
from ui import navigation, state
from ui.client import ClientError
from ui.features.search.form import Wanted
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

_FOUND = "search-found"
# Emphasis, code, headings and the frames of tables: a snippet is one line of plain text.
_MARKUP = re.compile(r"\*\*|`+|(?:(?<=\s)|^)#{1,6} |\|(?: *:?-{3,}:? *\|)+|(?:(?<=\s)|^)\|(?=\s|$)")
_ANSWER = (MessageType.ASSISTANT, ContentType.TEXT)
_SPEAKERS = {
    MessageType.USER: ":material/person:",
    MessageType.ASSISTANT: ":material/forum:",
    MessageType.TOOL: ":material/build:",
    MessageType.SYSTEM: ":material/info:",
}
HINT = (
    "A message must contain all words; the last may be the beginning of a word. "
    "Words in quotes must be adjacent: “travel budget”. Codes match whole or in part: CC-1001."
)
INCOMPLETE = (
    "**Not all messages are searched yet.** The search index is being rebuilt after a crash of the "
    "database, which takes some minutes. Nothing was lost: each message is in its session."
)


@dataclass
class Found:
    """The pages after the first that this tab has loaded."""

    wanted: Wanted = field(default_factory=Wanted)
    first_cursor: str | None = None
    more: list[SearchPage] = field(default_factory=list)


def show(wanted: Wanted) -> None:
    """Draw the results, or why there are none."""
    if not wanted.q:
        st.caption(HINT)
        return
    try:
        pages = _load(wanted)
    except ClientError as problem:
        if problem.status != 422:
            raise
        st.warning(f"**{plain(problem.title)}**  \n{plain(problem.detail)}")
        return
    if not pages[0].is_complete:
        st.info(INCOMPLETE, icon=":material/manage_search:")
    if not pages[0].items:
        _nothing(wanted)
        return
    # Page by page, so that loading more moves nothing above it.
    with st.container(key="search-hits"):
        for page in pages:
            for group in _by_session(page.items):
                _draw_session(group)
    if (cursor := pages[-1].next_cursor) is not None:
        st.button(
            "Show more",
            key="more-hits",
            type="tertiary",
            icon=":material/expand_more:",
            on_click=_load_more,
            args=(wanted, cursor),
        )


def _load(wanted: Wanted) -> list[SearchPage]:
    first, held = wanted.load(), _found()
    if (held.wanted, held.first_cursor) != (wanted, first.next_cursor):
        held = st.session_state[_FOUND] = Found(wanted, first.next_cursor)
    return [first, *held.more]


def _load_more(wanted: Wanted, cursor: str) -> None:
    held = _found()
    last = held.more[-1].next_cursor if held.more else held.first_cursor
    if last != cursor:
        return  # a second click: the page is already here
    with state.flashing():
        held.more.append(wanted.load(cursor))


def _found() -> Found:
    held = st.session_state.get(_FOUND)
    return held if isinstance(held, Found) else Found()


def _by_session(hits: Sequence[SearchHit]) -> list[list[SearchHit]]:
    """Return a page's hits by session, ordered by each session's newest hit."""
    newest: dict[UUID, int] = {}
    for place, hit in enumerate(hits):
        newest.setdefault(hit.session_id, place)
    ordered = sorted(hits, key=lambda hit: newest[hit.session_id])
    return [list(group) for _, group in groupby(ordered, key=lambda hit: hit.session_id)]


def _draw_session(hits: Sequence[SearchHit]) -> None:
    first = hits[0]
    is_own = first.owner == state.server().user
    with st.container(border=True, gap="small"):
        about = [plain(first.domain, 60), *([] if is_own else [plain(first.owner_name, 60)])]
        if first.archived:
            about.append("archived")
        title = plain(first.session_title or "New chat", 120)
        st.markdown(f"**{title}** :small[:gray[{' · '.join(about)}]]")
        for hit in hits:
            _draw_hit(hit, is_own=is_own)


def _draw_hit(hit: SearchHit, *, is_own: bool) -> None:
    place = {"session": str(hit.session_id), "at": str(hit.position)}
    with st.container(gap=None, key=f"found-{hit.message_id}"):
        st.page_link(
            navigation.CHAT_PAGE,
            label=" · ".join([reader.moment(hit.created_at), _speaker(hit)]),
            icon=_SPEAKERS[hit.message_type],
            query_params=place if is_own else {**place, "view": "read"},
        )
        is_markdown = (hit.message_type, hit.content_type) == _ANSWER
        if hit.snippet:
            st.markdown("".join(_marked(part, is_markdown=is_markdown) for part in hit.snippet))
        else:
            st.caption("Somebody else's session: open it to say why you read it.")


def _speaker(hit: SearchHit) -> str:
    words = [plain(hit.agent or "assistant", 60)]
    if hit.message_type is MessageType.USER:
        words = ["You" if hit.owner == state.server().user else plain(hit.owner_name, 60)]
    elif hit.content_type in (ContentType.TOOL_CALL, ContentType.TOOL_RESULT):
        words.append("tool call" if hit.content_type is ContentType.TOOL_CALL else "tool result")
    elif hit.message_type is MessageType.SYSTEM:
        words = [str(hit.content_type)]
    return " · ".join(words if hit.is_on_branch else [*words, "on another branch"])


def _marked(part: SnippetPart, *, is_markdown: bool) -> str:
    """Return a part as escaped Markdown, without the markup it had; hits have a background."""
    text = _MARKUP.sub("", part.text) if is_markdown else part.text
    if part.is_hit:
        return f":primary-background[{plain(text)}]"
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{plain(text)}{after}" if text.strip() else " "


def _nothing(wanted: Wanted) -> None:
    with st.container(horizontal_alignment="center", gap="xsmall"):
        st.markdown("No results.", width="content")
        if wanted.is_narrow:
            st.caption("Search in more places with the switches above, or use fewer words.")
        else:
            st.caption("Use fewer words, or only the beginning of the last one.")
