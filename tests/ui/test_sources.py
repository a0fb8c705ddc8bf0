"""What an answer is based on: a folded list, in which only plain web addresses do something."""

import pytest

from colloquy_kit.messages.kinds import ContentType, MessageType
from ui.features.chat.messages.sources import safe_address, to_lines


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://a.example/x?y=1&z=%20#top", "https://a.example/x?y=1&z=%20#top"),
        ("http://a.example:8080", "http://a.example:8080"),
        ("https://a.example/(x) <b> $1$", "https://a.example/%28x%29%20%3Cb%3E%20%241%24"),
        ("https://a.example/:red[x]", "https://a.example/%3Ared%5Bx%5D"),
        ("https://a.example/é", "https://a.example/%C3%A9"),
        ("javascript:alert(1)", None),
        ("https://bank.example@evil.example/", None),
        ("https://[::1", None),
        ("//a.example", None),
        ("https://a.example)](javascript:x", None),
        ("", None),
    ],
)
def test_only_plain_web_addresses_become_links(url, address):
    assert safe_address(url) == address


def test_titles_are_text_and_each_link_says_where_it_leads():
    lines = to_lines(
        {
            "sources": [
                {"title": "[x](javascript:1) **b**", "url": "https://a.example/1"},
                {"title": "Reference 3"},
                {"title": "Odd", "url": "ftp://a.example"},
            ],
            "more_sources": 4,
            "executed_tools": [{"name": "web_search", "arguments": '{"query": "rate"}'}],
        }
    )

    assert lines[0].startswith("1\\. [\\[x\\]\\(javascript")
    assert lines[0].endswith("](https://a.example/1) · a\\.example")
    assert lines[1] == "2\\. Reference 3"
    assert "](" not in lines[2]
    assert lines[3] == "and 4 more"
    assert "**web\\_search**" in lines[4]


@pytest.mark.parametrize("odd", [{}, {"sources": "x"}, {"sources": ["x"]}, {"sources": None}])
def test_what_is_no_list_shows_nothing(odd):
    assert to_lines(odd) == []


def test_an_answer_shows_its_sources_on_the_page(open_page, store):
    session = store.add_session("Rates")
    turn = store.add_turn(session, "What is the rate?")
    store.start(turn)
    store.add_row(
        session, MessageType.ASSISTANT, ContentType.TEXT, {"text": "It is 4.25 %."}, turn,
        metadata={"sources": [{"title": "Policy rate", "url": "https://bank.example/rate"}]},
    )  # fmt: skip
    store.finish(turn)

    page = open_page(session=session.id)

    assert not page.exception
    assert "1 source" in [box.label for box in page.expander]
    assert any("(https://bank.example/rate)" in each.value for each in page.markdown)
