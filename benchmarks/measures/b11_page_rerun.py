"""B11: a rerun of the chat page at 10,000 messages ÷ at 50, against a page that draws them all.

The measured time is the server's work for one rerun of the whole script, including calls of the
API, as done by Streamlit's own test runner. The other page is that of its chat tutorial
(https://docs.streamlit.io/develop/tutorials/chat-and-llm-apps/build-conversational-apps).
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack

from streamlit.testing.v1 import AppTest

from benchmarks.colloquy import ROWS_PER_TURN, colloquy, fill, new_session
from benchmarks.figures import Figure, Samples, Target
from benchmarks.ground import Ground
from benchmarks.texts import turn_texts
from tests.processes import ROOT
from tests.stack import Stack

SHORT, LONG = 50, 10_000
WARM_RUNS = 3
RUNS = 30
PEER_RUNS = 3
SECONDS = 120.0


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    with ExitStack() as parts:
        services = parts.enter_context(colloquy(ground))
        sessions = {rows: new_session(services) for rows in (SHORT, LONG)}
        for rows, session_id in sessions.items():
            fill(services, session_id, rows // ROWS_PER_TURN, in_state=40)
        ground.analyze(services.settings.database_url)
        stack = Stack(services.settings.database_url, ground.redis_url, ground.home)
        parts.callback(stack.__exit__)
        stack.start_api()
        os.environ["API_URL"] = stack.base_url
        ours = {rows: _page(str(session_id)) for rows, session_id in sessions.items()}
        theirs = {rows: _all_drawn(rows) for rows in (SHORT, LONG)}
        for rows in (SHORT, LONG):
            _check(ours[rows], theirs[rows], rows)
        yield _compare(ours, theirs)


def draw_all(texts: list[str]) -> None:
    """Draw the tutorial's page."""
    import streamlit as st  # this function is run as a separate script

    for number, text in enumerate(texts):
        with st.chat_message("assistant" if number % 5 else "user"):
            st.markdown(text)
    st.chat_input("Say something")


def _compare(ours: dict[int, AppTest], theirs: dict[int, AppTest]) -> Figure:
    times = {(who, rows): Samples() for who in ("ours", "peer") for rows in (SHORT, LONG)}
    for run in range(WARM_RUNS + RUNS):
        for rows in (SHORT, LONG):
            times["ours", rows].add(ours[rows].run)
            if rows == SHORT or run < PEER_RUNS:
                times["peer", rows].add(theirs[rows].run)
        if run < WARM_RUNS:
            for rows in (SHORT, LONG):
                times["ours", rows].seconds.clear()
    growth = times["ours", LONG].median / times["ours", SHORT].median
    peer = times["peer", LONG].median / times["peer", SHORT].median
    return Figure(
        "B11",
        f"page rerun at {LONG:,} messages ÷ at {SHORT}",
        f"{times['ours', LONG]} ÷ {times['ours', SHORT]}",
        f"all drawn: {peer:,.0f} ({times['peer', LONG]})",
        growth,
        Target(1.5, 1.1),
    )


def _page(session_id: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "ui" / "app.py"), default_timeout=SECONDS)
    page.query_params["session"] = session_id
    return page.run()


def _all_drawn(rows: int) -> AppTest:
    texts = [part for said in turn_texts(rows // ROWS_PER_TURN) for part in said.parts]
    return AppTest.from_function(draw_all, args=(texts,), default_timeout=SECONDS).run()


def _check(ours: AppTest, theirs: AppTest, rows: int) -> None:
    """Check that both show the last text: ours with its window, the other one with all."""
    assert not ours.exception
    assert not theirs.exception
    last = [said.answer for said in turn_texts(rows // ROWS_PER_TURN)][-1]
    assert any(last in element.value for element in ours.markdown)
    assert theirs.markdown[-1].value == last
    assert len(theirs.markdown) == rows
