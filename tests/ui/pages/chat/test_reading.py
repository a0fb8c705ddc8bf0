"""A page makes its calls together, and takes from them only what it asked for in the same run."""

from threading import Barrier

from tests.ui.seen import answered, page_of, words

TOGETHER_SECONDS = 20


def test_the_calls_of_a_chat_are_made_together(store, open_page):
    session = store.add_session("Costs")
    answered(store, session, answer="Ninety.")
    page = open_page(session=session.id)
    barrier = Barrier(2, timeout=TOGETHER_SECONDS)  # breaks where one call waits for the other

    class Sessions(dict):
        def get(self, *arguments):
            barrier.wait()
            return super().get(*arguments)

    def unfinished(session_id):
        barrier.wait()
        return []

    store.sessions, store.unfinished = Sessions(store.sessions), unfinished
    page.run()
    assert "Ninety." in words(page)
    assert not barrier.broken


def test_messages_are_read_after_the_turns_that_they_belong_to(store, open_page):
    session = store.add_session("Costs")
    answered(store, session, answer="Ninety.")
    page = open_page(session=session.id)
    unfinished = store.unfinished

    def end_one_more(session_id):
        store.unfinished = unfinished
        answered(store, session, answer="A hundred.")  # while the page is read
        return []

    store.unfinished = end_one_more
    page.run()
    assert "A hundred." in words(page)


def test_messages_that_cannot_be_read_are_those_read_before(store, open_page, monkeypatch):
    session = store.add_session("Costs")
    answered(store, session, answer="Ninety.")
    page = open_page(session=session.id)
    answered(store, session, answer="A hundred.")

    def away(*_):
        raise RuntimeError("the service ends between two calls")

    monkeypatch.setattr("tests.ui.fakes.api.rows_on_branch", away)
    page.run()

    assert "Ninety." in words(page)
    assert "The page shows the last known state" in words(page)


def test_a_call_that_is_to_follow_another_one_waits_for_its_answer():
    def script():
        from threading import Event

        import streamlit as st

        from ui.shared import last_known

        order, is_third, is_over = [], Event(), Event()
        with last_known.reading_ahead():
            last_known.begin("first", lambda: is_third.wait(20) and order.append("first"))
            last_known.begin(
                "second", lambda: order.append("second") or is_over.set(), after="first"
            )
            last_known.begin("third", is_third.set)
            is_over.wait(20)
        st.text(" ".join(order))

    (text,) = page_of(script).text
    assert text.value == "first second"


def test_a_call_that_a_run_has_begun_is_made_once(store, open_page):
    session = store.add_session("Costs")
    answered(store, session, answer="Ninety.")
    page = open_page(session=session.id)
    store.calls.clear()
    page.run()
    assert len(store.calls) == len(set(store.calls))


def test_what_a_run_has_begun_is_not_read_by_a_later_one():
    def script():
        from threading import Event

        import streamlit as st

        from ui.shared import last_known

        answers, is_told = iter(["earlier", "now"]), Event()

        def tell():
            is_told.set()
            return next(answers)

        with last_known.reading_ahead():
            last_known.begin("what", tell)
            is_told.wait(20)
        st.text(last_known.read("what", tell))

    (text,) = page_of(script).text
    assert text.value == "now"


def test_a_call_that_was_begun_with_something_else_is_made_anew():
    def script():
        from functools import partial
        from threading import Event

        import streamlit as st

        from ui.shared import last_known

        is_told = Event()

        def rows(count):
            is_told.set()
            return count

        with last_known.reading_ahead():
            last_known.begin("rows", partial(rows, 50))
            is_told.wait(20)
            st.text(last_known.read("rows", rows, 52))

    (text,) = page_of(script).text
    assert text.value == "52"


def test_a_call_that_was_begun_and_fails_shows_what_was_read_before():
    def script():
        import streamlit as st

        from ui.client import unreachable
        from ui.shared import last_known

        def fail():
            raise unreachable("http://localhost")

        last_known.read("what", lambda: "before")
        with last_known.reading_ahead():
            last_known.begin("what", fail)
            st.text(last_known.read("what", fail))

    (text,) = page_of(script).text
    assert text.value == "before"
