"""Makes an open page check for changes made elsewhere: in another tab or device, or by a worker.

The browser asks the pages' own route (`ui/assets/watch.js`) and redraws the page only when
something differs: an idle page runs no script.
"""

from collections.abc import Sequence

import streamlit as st

from ui import navigation, state
from ui.shared import assets
from ui.shared.watch.lists import NO_LIST, Listed, Row
from ui.shared.watch.stamp import stamp_of

KEY = "watch"

_component = st.components.v2.component(
    "colloquy_watch",
    html="<span hidden></span>",
    js=assets.loader("watch.js"),
    isolate_styles=False,
)


def keep_fresh(listed: Listed = NO_LIST, rows: Sequence[Row] = ()) -> None:
    """Redraw the page when the session list, the open session or the server has changed.

    Also when the page's own list has other rows. The comparison is with what was read for this
    page, so that nothing is missed between two checks.
    """
    held = state.memory()
    session_id = navigation.open_session_id()
    opened = held.opened if held.opened and held.opened.id == session_id else None
    shown = {
        "session": opened and str(opened.id),
        "archived": str(held.archived).lower(),
        "q": state.search_text(),
        **listed.model_dump(mode="json", exclude_defaults=True),
    }
    _component(
        key=KEY,
        data={
            "stamp": stamp_of([*held.pinned, *held.listed.latest], opened, state.server(), rows),
            "shown": {name: value for name, value in shown.items() if value},
            "says_away": held.is_away,  # beside the composer
        },
        on_changed_change=_draw,
    )


def _draw() -> None:
    """Do nothing: the run that the browser asks for draws the page."""
