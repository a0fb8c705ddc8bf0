"""The place on the page where a turn streams, and where a sent message appears immediately.

The browser draws it (`ui/assets/live.js`); reruns of the page do not touch it.
"""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

import streamlit as st

from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.conversations.turns import Turn
from colloquy_kit.messages.kinds import ContentType
from ui import navigation, state
from ui.features.agents import marks, route_words
from ui.features.agents.team import Team
from ui.features.chat import state as chat_state
from ui.features.domains import state as domain_state
from ui.features.sharing import team_choice
from ui.shared import assets

KEY = "live"
HTML = """<div class="colloquy-live"><div></div>\
<div class="colloquy-answer" hidden><div class="colloquy-mark"></div>\
<div class="colloquy-drafts"></div></div>\
<div class="colloquy-notice" hidden></div>\
<div class="colloquy-status" hidden><span role="status"></span><span></span></div>\
<div class="colloquy-refusal" role="alert" hidden></div><div></div></div>"""
STREAMED = (ContentType.TEXT, ContentType.THINKING)

_component = st.components.v2.component(
    "colloquy_live",
    html=HTML,
    js=assets.loader("live.js"),
    isolate_styles=False,
)


def show(
    session_id: UUID | None,
    team: Team,
    turns: Sequence[Turn] = (),
    rows: Sequence[DisplayMessage] = (),
    drawn: Sequence[DisplayMessage] = (),
    *,
    is_early: bool = False,
) -> None:
    """Put the place here, below `drawn`, the rows of the latest turn; `rows`: all rows of the page.

    A streamed message disappears when its row is drawn, and a sent one when its turn is. If it
    `is_early`, the turn's own message is not above yet.
    """
    held = state.memory()
    held.draws += 1
    active = turns[0] if turns else None
    known = {row.turn_id for row in (*rows, *drawn)} | {turn.id for turn in turns}
    _component(
        key=KEY,
        data={
            "session": str(session_id) if session_id else None,
            "gone": str(held.gone) if held.gone else None,
            "domain": domain_state.chosen() if session_id is None else None,
            "team": team_choice.chosen() if session_id is None else None,
            "composer": f"st-key-{chat_state.composer_key(session_id)}",
            "choice": asdict(held.choice),
            "active": str(active.id) if active else None,
            "early": is_early,
            "agent": active.agent if active else None,
            "speakers": _speakers(team),
            "reasons": _reasons(team, turns),
            "lastSpeaker": next((row.agent for row in reversed(drawn) if row.agent), None),
            "mentions": team.manager is not None,
            "drawn": [str(row.id) for row in drawn if row.content_type in STREAMED],
            "turns": sorted(str(turn_id) for turn_id in known if turn_id),
            "framed": bool(drawn),
            "edit": _edit(rows),
            "takenBack": _taken_back(session_id),
            "draws": held.draws,
        },
        on_changed_change=_want_rows,
        on_begun_change=_open_begun,
    )


def _taken_back(session_id: UUID | None) -> list[dict[str, str]]:
    """Return the messages to put into the composer; the browser does so once for each."""
    taken = state.memory().taken_back.get(session_id, []) if session_id else []
    return [{"turn": str(turn.id), "text": turn.message} for turn in taken]


def _edit(rows: Sequence[DisplayMessage]) -> dict[str, str] | None:
    """Return the input in which a message is being edited, and the message's text."""
    row = next((row for row in rows if row.id == state.memory().edited), None)
    if row is None:
        return None
    return {"key": chat_state.edit_key(row.id), "text": str(row.content.get("text", ""))}


def _speakers(team: Team) -> list[dict[str, str]]:
    """Return the agents with their marks; none where answers do not name their agent."""
    return [
        {
            "name": agent.name,
            "description": agent.description,
            "colour": marks.colour(agent.name),
            "initial": marks.initial(agent.name),
        }
        for agent in (team.agents if team.is_named else ())
    ]


def _reasons(team: Team, turns: Sequence[Turn]) -> dict[str, dict[str, str]]:
    """Return the agent of each turn, and the reason in a word or two."""
    return {
        str(turn.id): {"agent": turn.agent, "why": route_words.short(turn.route, team.manager)}
        for turn in turns
    }


def take_request() -> bool:
    """Return whether the browser's part started this run because of newer rows."""
    held = state.memory()
    wanted, held.rows_wanted = held.rows_wanted, False
    return wanted


def _want_rows() -> None:
    state.memory().rows_wanted = True


def _open_begun() -> None:
    """Open the session that a new chat has become, unless the tab has moved to another page."""
    value = state.told_by(KEY, "begun")
    if value is None:
        return
    begun = UUID(str(value))
    chat_state.name_composer(None, begun)
    navigation.show_session(begun)
    navigation.set_window(begun, state.Window())
