"""The session list on a page under test: what it shows, and what a person asks for in it."""

import json
from itertools import count
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

_numbers = count(1)


def shown(page: AppTest) -> dict[str, Any]:
    """What the browser is told."""
    return json.loads(_proto(page).json)


def rows(page: AppTest) -> list[dict[str, Any]]:
    return [row for group in shown(page)["groups"] for row in group["rows"]]


def titles(page: AppTest) -> list[str]:
    return [row["title"] for row in rows(page)]


def act(do: str, **more: Any) -> dict[str, Any]:
    return {"n": next(_numbers), "do": do, **more}


def send(page: AppTest, *acts: dict[str, Any]) -> AppTest:
    """Ask for something, as the component in the browser does."""
    states = page._tree.get_widget_states()
    states.widgets.append(
        WidgetState(
            id=f"$$STREAMLIT_INTERNAL_KEY_{_proto(page).id}__events",
            json_trigger_value=json.dumps([{"event": "acts", "value": list(acts)}]),
        )
    )
    return page._run(states)


def _proto(page: AppTest) -> Any:
    return component(page, "session_list")


def component(page: AppTest, name: str) -> Any:
    """The one component of this name, as the browser is told of it."""
    elements = [element.proto for element in page.get("bidi_component")]
    (proto,) = [proto for proto in elements if proto.component_name == name]
    return proto
