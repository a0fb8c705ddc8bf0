"""The page of the search: empty, with hits, with nothing found, refused; and the way to a hit."""

from backend.schemas.conversations.sessions import Problem
from tests.ui.seen import answered, words
from ui.features.search.results import HINT


def open_search(open_page, **query):
    page = open_page(**query)
    page.switch_page("app_pages/search.py")
    return page.run()


def search_for(page, q):
    return page.text_input(key="q").set_value(q).run()


def hits(page):
    return [link for link in page.get("page_link") if "at=" in str(link.proto)]


def test_an_empty_search_says_how_to_search(open_page, store):
    page = open_search(open_page)

    assert HINT in [caption.value for caption in page.caption]
    assert not [call for call in store.calls if "/search?" in call]


def test_hits_stand_under_their_sessions_with_their_words_marked(open_page, store):
    for title in ("Travel *costs*", "Budgets"):
        session = store.add_session(title)
        answered(store, session, "Where is the pelican?", "Here: **the** `big` pelican [x](y)")

    page = search_for(open_search(open_page), "pelican")

    said = words(page)
    assert "**Travel \\*costs\\***" in said and "**Budgets**" in said
    assert ":primary-background[pelican]" in said
    assert "Here&#58; the big :primary-background[pelican]" in said
    assert "Show more" not in [button.label for button in page.button]


def test_more_hits_come_on_demand_once_for_two_clicks(open_page, store):
    session = store.add_session()
    for number in range(25):
        answered(store, session, f"pelican {number}", "yes")
    page = search_for(open_search(open_page), "pelican")

    page.button(key="more-hits").click().run()

    said = words(page)
    assert all(f" {number}" in said for number in range(25))
    assert "more-hits" not in [button.key for button in page.button]


def test_nothing_found_says_what_to_do(open_page, store):
    store.add_session()

    page = search_for(open_search(open_page), "pelican")

    assert "No results." in words(page)


def test_a_refusal_stands_on_the_page_in_words(open_page, store):
    page = open_search(open_page)
    store.search_refusal = Problem(title="Search too broad", status=422, detail="Use more words.")

    page = search_for(page, "a b")

    assert "Search too broad" in page.warning[0].value


def test_an_index_that_is_made_again_is_told_beside_what_is_found(open_page, store):
    session = store.add_session()
    answered(store, session, "Where is the pelican?", "Here.")
    page = search_for(open_search(open_page), "pelican")
    assert not page.info

    store.search_is_complete = False
    page.run()

    assert "Not all messages are searched yet" in page.info[0].value
    assert "Where is the" in words(page)
