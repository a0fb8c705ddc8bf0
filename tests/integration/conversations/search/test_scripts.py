"""What is written in any script, with its marks and digits, is found by the same text."""

import pytest

from tests.integration.conversations.search.spoken import found, say, search, texts_of
from tests.integration.scenes import make_domain, make_session
from tests.stack import Stack

SAID = (
    *("हिन्दी", "ผู้ใช้ทดสอบ", "தமிழ் சொல்", "বাংলা ভাষা", "שָׁלוֹם", "عَرَبِيّ"),
    *("می\u200cخواهم", "cafe\u0301", "١٢٣", "½", "①", "x²"),  # noqa: RUF001  (Persian)
)


@pytest.mark.parametrize("said", SAID)
def test_a_message_is_found_by_what_it_says(stack: Stack, said: str) -> None:
    session_id = make_session(stack)
    say(stack, session_id, *texts_of(f"one {said}, two", "one, two"))

    for q in (said, f'"one {said} two"'):
        assert found(stack, session_id, q) == [1]


@pytest.mark.parametrize("title", SAID)
def test_a_session_is_found_by_its_title(stack: Stack, title: str) -> None:
    domain = make_domain(stack)["name"]
    made = make_session(stack, domain, title=f"one {title}, two")
    make_session(stack, domain, title="one, two")

    listed = stack.client.get("/sessions", params={"domain": domain, "q": title}).json()

    assert [item["id"] for item in listed["items"]] == [made]


@pytest.mark.parametrize("q", ["%", "_", "'", "™ …"])
def test_no_session_is_found_by_a_text_without_words(stack: Stack, q: str) -> None:
    domain = make_domain(stack)["name"]
    make_session(stack, domain, title=f"one {q}, two")

    listed = stack.client.get("/sessions", params={"domain": domain, "q": q})

    assert (listed.status_code, listed.json()["items"]) == (200, [])


def test_a_beginning_finds_a_whole_word_with_its_marks(stack: Stack) -> None:
    session_id = make_session(stack)
    say(stack, session_id, *texts_of("यह हिन्दी है, ⚠️careful"))

    (hit,) = search(stack, "हिन", session_id=session_id)["items"]
    (warning,) = search(stack, "careful", session_id=session_id)["items"]

    assert [part["text"] for part in hit["snippet"] if part["is_hit"]] == ["हिन्दी"]
    assert [part["text"] for part in warning["snippet"] if part["is_hit"]] == ["careful"]
