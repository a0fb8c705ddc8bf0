"""A person chooses the model beside the composer, where the domain offers several."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain, make_session
from tests.stack import Stack

IS_WHOLE = """element => [element, ...element.querySelectorAll("*")]
  .every((each) => each.scrollWidth <= each.clientWidth + 1 || !each.clientWidth)"""


def choice(desk: Desk) -> Locator:
    return desk.page.get_by_role("combobox", name=re.compile("Model"))


def choose(desk: Desk, name: str) -> None:
    desk.is_at_rest()
    choice(desk).click()
    desk.page.get_by_role("option", name=name, exact=True).click()
    expect(desk.page.get_by_role("option")).to_have_count(0)


@pytest.mark.journey
def test_the_chosen_model_answers_is_named_and_stays(
    desk: Desk, stack: Stack, model: ScriptedModel
):
    model.steps = lambda messages, body: {"text": f"Here speaks {body['model']}."}
    domain = make_domain(stack, model="usual", models=["swift", "thorough"])
    desk.open(f"?session={make_session(stack, domain['name'])}")
    desk.ask("one")
    desk.sees("Here speaks usual.")
    desk.is_idle()

    choose(desk, "swift")
    desk.ask("two")  # at once, before the page has heard of the choice
    desk.sees("Here speaks swift.", re.compile("^swift · "))
    desk.is_idle()
    desk.page.reload()
    desk.sees(re.compile("^usual · "), re.compile("^swift · "))
    desk.ask("three")

    expect(desk.main.get_by_text("Here speaks swift.")).to_have_count(2)


def test_a_long_name_is_read_to_its_end_and_without_a_choice_there_is_none(
    desk: Desk, stack: Stack, model: ScriptedModel
):
    names = [f"anthropic.claude-3-5-sonnet-{version}" for version in ("20240620-v1", "20241022-v2")]
    domain = make_domain(stack, model="usual", models=names)
    desk.open(f"?session={make_session(stack, domain['name'])}")

    choose(desk, names[0])

    expect(choice(desk)).to_have_value(names[0])
    assert choice(desk).evaluate(IS_WHOLE)
    choice(desk).click()
    for name in names:
        option = desk.page.get_by_role("option", name=name, exact=True)
        assert option.evaluate(IS_WHOLE)

    model.steps = [{"text": "Done."}]
    desk.open(f"?session={make_session(stack, make_domain(stack)['name'])}")
    desk.ask("one")
    desk.sees("Done.")
    desk.is_at_rest()
    expect(choice(desk)).to_have_count(0)
