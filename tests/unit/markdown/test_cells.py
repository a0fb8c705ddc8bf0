"""A number that links to a cell leads to it, on pages and from elsewhere; nothing else does."""

from uuid import UUID

import pytest

from backend.markdown.cells import (
    FromElsewhere,
    Target,
    find_targets,
    read_target,
    rewrite_links,
    rewrite_markdown,
    write_anchor,
)
from backend.markdown.html import html_reader
from tests.patience import ends_within

ID = "3f2a9c1e-0000-4000-8000-00000000abcd"
SESSION = UUID("11111111-0000-4000-8000-000000000000")


def page(text):
    """Return a text as a page shows it."""
    html = html_reader().render(text)
    return rewrite_links(html, lambda label, target: write_anchor(label, target.href(SESSION)))


@pytest.mark.parametrize(
    ("written", "target"),
    [
        (f"artifact:{ID}@2#row=3&column=amount", Target(UUID(ID), 2, 3, "amount")),
        (f"artifact:{ID}@2", Target(UUID(ID), 2)),
        (f"artifact:{ID}", Target(UUID(ID))),
        (f"artifact:{ID}@2#row=3&column=amount%20EUR", Target(UUID(ID), 2, 3, "amount EUR")),
        (f"artifact:{ID}@2#row=3&column=amount (EUR)", Target(UUID(ID), 2, 3, "amount (EUR)")),
        (f"artifact:{ID}@2#row=3&column=売上", Target(UUID(ID), 2, 3, "売上")),
        (f"<artifact:{ID}@2#row=x>", Target(UUID(ID), 2)),
    ],
)
def test_a_link_names_a_version_and_a_cell(written, target):
    assert find_targets(f"| [1,234.50]({written}) |") == [target]


def test_its_address_in_the_page_says_the_same_and_nothing_that_markdown_reads():
    target = Target(UUID(ID), 2, 3, "a) [b] *c*")

    href = target.href(SESSION)

    assert not set("()[]* ") & set(href)
    assert read_target(target.query(SESSION)) == target


@pytest.mark.parametrize(
    "text",
    [
        f"`[1](artifact:{ID}@2)`",
        f"\\[1](artifact:{ID}@2)",
        "[1](artifact:nothing@2)",
        "[1](artifact:------------------------------------@2)",
        "[x](javascript:alert(1))",
    ],
)
def test_nothing_else_is_linked(text):
    assert "<a " not in page(text)
    assert not find_targets(text)


def test_an_image_of_an_artifact_within_a_line_is_a_link_and_loads_nothing():
    assert f'see <a href="?session={SESSION}&amp;artifact={ID}@1"' in page(
        f"see ![chart](artifact:{ID}@1)"
    )


def test_a_label_keeps_its_look_and_the_text_around_it_its_own():
    written = page(f"$5 and [**1**](artifact:{ID}@2#row=1&column=a) `x`")

    assert "<strong>1</strong></a> <code>x</code>" in written
    assert "<p>$5 and <a" in written


def test_markdown_for_other_readers_leads_to_the_pages():
    text = f"[**1**](artifact:{ID}@2#row=1&column=net EUR), ![c](artifact:{ID}@1) and `x`"

    written = rewrite_markdown(text, FromElsewhere(SESSION, "https://desk.example.com"))

    link = f"https://desk.example.com/?session={SESSION}&artifact={ID}"
    assert written == f"[**1**]({link}@2&row=1&column=net%20EUR), [c]({link}@1) and `x`"


@pytest.mark.parametrize("sign", ["[", "](artifact:", "![", f"[1](artifact:{ID}@1#", "(("])
def test_a_hostile_text_is_read_at_once(sign):
    with ends_within(20):
        find_targets(sign * (100_000 // len(sign)))
        rewrite_markdown(sign * (100_000 // len(sign)), FromElsewhere(SESSION, ""))


@pytest.mark.parametrize("artifact", ["", "list", ID + "@x", ID[:-1], "@2"])
def test_a_query_that_names_none_leads_nowhere(artifact):
    assert read_target({"artifact": artifact}) is None
