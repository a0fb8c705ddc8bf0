"""The sidebar: the list of sessions, search, and each row's menu."""

from datetime import timedelta

from tests.ui.pages.test_chat import answered
from ui.features.sessions import sidebar
from ui.shared import watch


def titles(page):
    keys = [button for button in page.button if (button.key or "").startswith("open-")]
    return [button.label.strip("*").replace("\\", "") for button in keys]


def test_pinned_sessions_come_first_and_the_rest_by_day(open_page, store):
    store.add_session("Old", age=timedelta(days=40))
    store.add_session("Pinned", age=timedelta(days=90), pinned=True)
    store.add_session("New")

    page = open_page()

    assert titles(page) == ["Pinned", "New", "Old"]
    assert "Pinned" in [caption.value for caption in page.caption]


def test_no_session_yet_says_so(open_page):
    assert "Your conversations will appear here." in [
        caption.value for caption in open_page().caption
    ]


def test_a_title_that_changes_while_the_page_is_drawn_is_seen_at_the_next_look(
    open_page, store, monkeypatch
):
    session, compared = store.add_session("Before"), []
    show, rerun_every = sidebar.show, watch.rerun_every

    def show_and_change(server):
        show(server)
        store.sessions[session.id] = session.model_copy(update={"title": "After"})

    def rerun(seconds, differs):
        compared.append(differs)
        rerun_every(seconds, differs)

    monkeypatch.setattr(sidebar, "show", show_and_change)
    monkeypatch.setattr(watch, "rerun_every", rerun)

    page = open_page()

    assert titles(page) == ["Before"]
    assert compared[0]()


def test_search_narrows_by_title(open_page, store):
    store.add_session("Travel costs"), store.add_session("Budget")
    page = open_page()

    page.text_input(key="search").set_value("travel").run()

    assert titles(page) == ["Travel costs"]


def test_search_without_a_hit_says_so(open_page, store):
    store.add_session("Budget")
    page = open_page()

    page.text_input(key="search").set_value("nothing").run()

    assert "No session has this in its title." in [caption.value for caption in page.caption]


def test_a_row_opens_its_session(open_page, store):
    session = store.add_session("Chosen")
    answered(store, session)
    page = open_page()

    page.button(key=f"open-{session.id}").click().run()

    assert page.query_params["session"] == str(session.id)


def test_older_sessions_come_on_demand(open_page, store):
    for number in range(75):
        store.add_session(f"Session {number}", age=timedelta(minutes=number))
    page = open_page()
    assert len(titles(page)) == 30

    page.button(key="older").click().run()
    page.button(key="older").click().run()

    assert len(titles(page)) == 75
    assert not [button for button in page.button if button.key == "older"]


def test_a_session_whose_last_turn_failed_is_marked(open_page, store):
    session = store.add_session("Reconcile", has_failed=True)

    page = open_page()

    assert page.button(key=f"open-{session.id}").icon == ":material/error:"


def test_titles_are_shown_as_they_are(open_page, store):
    store.add_session("![x](http://evil) *bold* :red[x]")

    page = open_page()

    label = next(button.label for button in page.button if (button.key or "").startswith("open-"))
    assert "![" not in label
    assert "\\*bold\\*" in label


def test_archived_sessions_stand_apart(open_page, store):
    store.add_session("Kept"), store.add_session("Put away", archived=True)
    page = open_page()

    page.button(key="archived").click().run()

    assert titles(page) == ["Put away"]


def test_new_chat_leaves_the_open_session(open_page, store):
    session = store.add_session()
    page = open_page(session=session.id)

    page.button(key="new-chat").click().run()

    assert "session" not in page.query_params
