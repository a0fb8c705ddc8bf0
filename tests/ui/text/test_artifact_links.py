"""A number that links to a cell leads to the panel; nothing else is taken for such a link."""

from uuid import UUID

import pytest

from ui.shared.text.artifact_links import Target, find_targets, read_target, replace_links

ID = "3f2a9c1e-0000-4000-8000-00000000abcd"
SESSION = UUID("11111111-0000-4000-8000-000000000000")


def link(label, target):
    return f"[{label}]({target.href(SESSION)})"


@pytest.mark.parametrize(
    ("written", "target"),
    [
        (f"artifact:{ID}@2#row=3&column=amount", Target(UUID(ID), 2, 3, "amount")),
        (f"artifact:{ID}@2", Target(UUID(ID), 2)),
        (f"artifact:{ID}", Target(UUID(ID))),
        (f"artifact:{ID}@2#row=3&column=amount%20EUR", Target(UUID(ID), 2, 3, "amount EUR")),
        (f"artifact:{ID}@2#row=3&column=amount (EUR)", Target(UUID(ID), 2, 3, "amount (EUR)")),
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
        "[x](http://host/artifact:1)",
    ],
)
def test_all_else_stays_as_it_is_written(text):
    assert replace_links(text, link) == text


def test_an_image_of_an_artifact_is_a_link_and_loads_nothing():
    assert replace_links(f"![chart](artifact:{ID}@1)", link).startswith("[chart](?session=")


def test_the_rest_of_the_text_is_untouched():
    text = f"$5 and [1](artifact:{ID}@2#row=1&column=a), [2](artifact:{ID}@2) `x`"

    assert replace_links(text, lambda label, target: label) == "$5 and 1, 2 `x`"


@pytest.mark.parametrize("sign", ["[", "](artifact:", "![", f"[1](artifact:{ID}@1#", "(("])
def test_a_hostile_text_is_read_at_once(sign):
    assert replace_links(sign * 20_000, link)


@pytest.mark.parametrize("artifact", ["", "list", ID + "@x", ID[:-1], "@2"])
def test_a_query_that_names_none_leads_nowhere(artifact):
    assert read_target({"artifact": artifact}) is None
