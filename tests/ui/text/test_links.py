"""Links of tools' results: what leads to the web names its host, all else is words."""

import pytest

from tests.ui.seen import page_of
from ui.shared.links import host, words


def draw(link):
    def page(link):
        from ui.shared import links

        links.show(link, "key")

    return page_of(page, link=link)


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("https://example.org/r.pdf", "example.org"),
        ("http://user@example.org:8080/", "example.org:8080"),
        ("https://bank.example@evil.example/", "evil.example"),
        ("javascript:alert(1)", ""),
        ("file:///etc/passwd", ""),
        ("notes://plan", ""),
        ("https://[broken", ""),
        ("", ""),
    ],
)
def test_only_an_address_of_the_web_is_opened(uri, shown):
    assert host(uri) == shown


def test_a_link_says_where_it_leads():
    link = {"name": "The *plan*", "uri": "notes://plan", "mime_type": "text/plain"}

    page = draw(link)

    assert not page.exception
    assert "notes" in page.caption[0].value and "text/plain" in page.caption[0].value
    assert words({"name": "r", "uri": "https://host/r"}) == "r · host"


def test_a_link_to_the_web_is_a_link():
    page = draw({"name": "report", "uri": "https://h.example/r.pdf", "mime_type": ""})

    assert not page.exception
    assert not page.caption
