"""The sidebar: the browser draws the sessions, the script what leads to other pages."""


def test_tools_that_wait_for_acceptance_have_a_badge_for_administrators(open_page, store):
    store.server.pending_tools = 2
    page = open_page()

    assert page.button(key="tools-to-accept").label == "Tools to accept :primary-badge[2]"
