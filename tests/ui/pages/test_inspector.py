"""The inspector: what became of messages, the budget, past calls and what each was sent."""

import pytest

from backend.schemas.conversations.sessions import Problem
from backend.schemas.inspection import ContextStatus


@pytest.fixture
def open_inspector(open_page, store):
    """Open the inspector at a session of the store."""

    def open_it(**query):
        session = store.add_session("Budget of CC-1001")
        page = open_page(session=session.id, **query)
        return page.switch_page("app_pages/inspector.py").run()

    return open_it


def texts(page):
    return [element.value for element in (*page.markdown, *page.caption)]


def says(page, *wanted):
    said = "\n".join(texts(page))
    return all(one in said for one in wanted)


def test_without_a_session_it_leads_back(open_page):
    page = open_page().switch_page("app_pages/inspector.py").run()

    assert not page.exception
    assert "Open a session first" in page.info[0].value


def test_a_session_in_which_nothing_was_said_says_so(open_inspector):
    page = open_inspector()

    assert not page.exception
    assert says(page, "This session has no messages yet.")


def test_each_message_has_its_fate_and_a_lost_one_its_reason(open_inspector, store):
    store.inspected.add_usual()

    page = open_inspector()

    assert not page.exception
    assert says(
        page,
        "blue-badge[summarised]",
        "Summarised before step 3 of turn 12: the model reads the summary instead.",
        "Left out before step 1 of turn 4, to keep the model's context short.",
        "blue-badge[summary]",
        "Not shown to people.",
        "for people only",
        "The last request said this instead",
    )


def test_an_answer_has_the_tokens_of_its_call(open_inspector, store):
    store.inspected.add_usual()
    used = {"input_tokens": 1200, "cached_tokens": 1000, "output_tokens": 56, "reasoning_tokens": 0}
    store.inspected.pairs[0].shown[0].message.metadata = {"usage": used}

    page = open_inspector()

    assert says(page, "1,200 tokens in (1,000 cached), 56 out · 1 model call")


def test_the_budget_stands_beside_what_is_used_of_it(open_inspector, store):
    store.inspected.add_usual()

    page = open_inspector()

    assert says(page, "about **4,320 tokens**", "20 for the system prompt", "300 for tools")
    (bar,) = page.get("progress")
    assert bar.value == 50
    assert "4,000 of 8,000 tokens" in bar.text


def test_a_domain_without_a_budget_has_no_bar(open_inspector, store):
    store.inspected.add_usual()
    store.inspected.budget = None

    assert not open_inspector().get("progress")


def test_only_what_differs_is_shown_when_it_is_wanted(open_inspector, store):
    store.inspected.add_usual()
    page = open_inspector()
    assert says(page, "the last question")

    page.toggle(key="inspector-differs").set_value(True).run()

    assert not says(page, "the last question")
    assert says(page, "the oldest question", "so far they asked", "a long result")


def test_earlier_messages_come_on_demand(open_inspector, store):
    for number in range(120):
        store.inspected.add(f"question {number} ends", ContextStatus.KEPT)
    page = open_inspector()
    assert says(page, "question 119 ends") and not says(page, "question 69 ends")

    page.button(key="inspector-older").click().run()
    assert says(page, "question 69 ends") and not says(page, "question 119 ends")
    page.button(key="inspector-latest").click().run()

    assert says(page, "question 119 ends")


def test_what_is_not_known_is_said(open_inspector, store):
    store.inspected.notes = ["Part of it is missing."]

    assert "Part of it is missing" in open_inspector().info[0].value


def test_a_call_shows_exactly_what_was_sent(open_inspector, store):
    store.inspected.add_call("what is the budget?")
    store.inspected.add_call("and now?")
    page = open_inspector()

    page.button_group(key="inspector-view").set_value("Model calls").run()
    assert says(page, "Choose a call", "gpt\\-4o", "1,234 tokens in, 56 out")
    page.button(key="call-2-1").click().run()

    assert not page.exception
    assert "what is the budget?" in [code.value for code in page.code]
    assert says(page, "Exactly what was sent", "edited or added on the way")
    assert [box.label for box in page.expander] == ["Tools (1)", "Settings"]


def test_a_call_whose_digest_is_another_says_so(open_inspector, store):
    store.inspected.add_call(is_proven=False)
    page = open_inspector(call="2.1")

    page.button_group(key="inspector-view").set_value("Model calls").run()
    page.button(key="call-2-1").click().run()

    assert "may differ" in page.warning[0].value


def test_a_failed_call_says_why(open_inspector, store):
    store.inspected.add_call(failure="Model unavailable", input_tokens=None)
    page = open_inspector()

    page.button_group(key="inspector-view").set_value("Model calls").run()

    assert says(page, "Model unavailable")


def test_an_outage_is_said(open_inspector, store):
    page = open_inspector()
    store.refusal = Problem(title="Database unavailable", status=503, detail="Try again soon.")

    page.run()

    assert not page.exception
    assert "Database unavailable" in page.error[0].value


def test_what_goes_back_to_its_provider_is_shown_with_the_message_and_in_the_call(
    open_inspector, store
):
    store.inspected.add_usual()
    store.inspected.pairs[-1].reads.returned = {"message": {"reasoning_content": "First."}}

    page = open_inspector()

    assert not page.exception
    assert "Sent back to its provider with it" in [box.label for box in page.expander]
    assert any("reasoning_content" in code.value for code in page.code)
