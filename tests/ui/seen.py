"""What a reader sees of a page, and turns that a page is opened on."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

from streamlit.testing.v1 import AppTest

from backend.schemas.conversations.turns import TurnStatus
from colloquy_kit.messages.kinds import ContentType, MessageType
from tests.samples_of_markdown import words_of

QUESTION = "What's the budget for CC-1001?"


def words(page):
    """All that a reader reads."""
    kinds = (
        page.markdown,
        page.text,
        page.caption,
        page.error,
        page.toast,
        page.warning,
        page.info,
        page.title,
    )
    labels = [str(element.value) for kind in kinds for element in kind]
    return "\n".join([*labels, *map(words_of, html(page))])


def html(page) -> list[str]:
    """The parts of answers and documents as HTML, in order, with `&` as such."""
    return [element.proto.body.replace("&amp;", "&") for element in page.get("html")]


def downloads(page) -> dict[str, str]:
    """Where the API has what the page offers, by the label of the link."""
    link = re.compile(r'download href="/colloquy/api/([^"]+)".*</span> (.+)</a>')
    return {found[2]: unescape(found[1]) for part in html(page) if (found := link.search(part))}


def answered(store, session, question=QUESTION, answer="It is $120,000."):
    turn = store.add_turn(session, question)
    store.start(turn)
    store.add_row(session, MessageType.ASSISTANT, ContentType.TEXT, {"text": answer}, turn)
    store.finish(turn)
    return turn


def failed(store, session):
    turn = store.add_turn(session, QUESTION)
    store.start(turn)
    content = {"title": "Model unavailable", "detail": "Press Retry, or check OPENAI_BASE_URL."}
    store.add_row(session, MessageType.SYSTEM, ContentType.ERROR, content, turn)
    store.finish(turn, TurnStatus.FAILED)
    return turn


def page_of(script: Callable[..., object], **arguments: object) -> AppTest:
    """Draw a function as a page; Streamlit's own limit of three seconds is no busy machine's."""
    return AppTest.from_function(script, kwargs=arguments, default_timeout=60).run()


def component(page: AppTest, name: str) -> Any:
    """The one component of this name, as the browser is told of it."""
    elements = [element.proto for element in page.get("bidi_component")]
    (proto,) = [proto for proto in elements if proto.component_name == name]
    return proto


def shown_as(page: AppTest, view: str) -> Any:
    """The part of the conversation that the browser draws as this view."""
    elements = [element.proto for element in page.get("bidi_component")]
    (proto,) = [one for one in elements if f'"view": "{view}"' in one.json.replace('":"', '": "')]
    return proto
