"""Two people, in two browsers and in one: neither ever sees a letter of the other."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from backend.types import JSON
from tests.e2e.files.test_downloads import taken
from tests.e2e.people.people import Office, Person
from tests.fakes import ScriptedModel

SQL = "SELECT '{0}' AS city, 1234.5 AS amount UNION ALL SELECT '{0}b', 2"
WORD = re.compile("zq(?:anna|bodo)")
OTHER = {"zqanna": "zqbodo", "zqbodo": "zqanna"}
PLACES = ["", "data", "inbox", "tasks", "agents", "search?q=about", "shared?link=zqx", "usage"]


def answer(messages: list[JSON], body: JSON) -> JSON:
    """A chart and then words, with the word by which the one who asks is known."""
    asked = max(i for i, one in enumerate(messages) if one["role"] == "user")
    word = WORD.findall(str(messages[asked]["content"]))[0]
    if len(messages) > asked + 1:
        return {"text": f"An answer about {word}.", "delay": 0.02}
    args = {"source": "fi", "sql": SQL.format(word), "title": f"Chart of {word}"}
    return {"tools": [{"name": "make_chart", "args": args}]}


def works(
    person: Person, word: str, tmp_path: Path, stranger: BrowserContext | None = None
) -> tuple[str, str]:
    """Send a file, ask, draw a chart, download it, and begin a draft; return session and file."""
    path = tmp_path / f"{word}.csv"
    path.write_text(f"name,amount\n{word},1\n")
    person.attach(path)
    person.ask(f"Ask about {word}")
    person.sees(f"An answer about {word}.")
    expect(person.charts).to_be_visible()
    person.is_idle()
    person.is_at_rest()
    name, content = taken(person, "CSV")
    assert name.endswith(".csv")
    assert word in content.decode()
    link = person.main.get_by_role("link", name="CSV").first.get_attribute("href")
    address = f"{person.url}{link}"
    assert word in person.context.request.get(address).text()
    if stranger:
        assert stranger.request.get(address).status == 404
    person.composer.fill(f"A draft about {word}")
    person.is_at_rest()
    return person.session_id, address


def check_knows_nothing(person: Person, word: str, place: str = "") -> None:
    assert word not in person.known().lower(), place


def test_two_people_in_two_browsers_at_once(
    office: Office, model: ScriptedModel, contexts: list[BrowserContext], tmp_path: Path
) -> None:
    model.steps = answer
    people = {
        word: Person(context, office.url) for word, context in zip(OTHER, contexts, strict=True)
    }
    for person in people.values():
        person.visit()
        person.sign_in(office.person())
    sessions = {
        word: works(person, word, tmp_path, people[OTHER[word]].context)[0]
        for word, person in people.items()
    }

    for word, person in people.items():
        session = sessions[OTHER[word]]
        for place in (f"?session={session}", f"inspector?session={session}", *PLACES):
            person.visit(place)
            person.is_at_rest()
        assert WORD.search(person.known()), "what it looks at is where words are"
        check_knows_nothing(person, OTHER[word])


def test_two_people_one_after_the_other_in_one_tab(
    office: Office, model: ScriptedModel, context: BrowserContext, tmp_path: Path
) -> None:
    model.steps = answer
    anna, bodo = office.person(), office.person()
    person = Person(context, office.url)
    first = person.visit()
    person.sign_in(anna)
    second = person.visit()  # another tab, where the draft stays
    person.is_here(anna)
    person.composer.fill("A draft in another tab about zqanna")
    person.page = first
    session, file = works(person, "zqanna", tmp_path)
    assert "zqanna" in person.known()

    person.sign_out(anna)
    person.is_out()
    person.forget_frames()
    check_knows_nothing(person, "zqanna", "signed out")
    first.go_back()
    person.is_out()
    check_knows_nothing(person, "zqanna", "after Back")
    person.sign_in(bodo)
    for tab in (first, second):
        person.page = tab
        tab.bring_to_front()
        tab.reload()
        person.is_here(bodo)
        expect(person.composer).to_have_value("")
        check_knows_nothing(person, "zqanna", "after a reload")
    person.page = first
    while first.go_back() and first.url.startswith(office.url):
        check_knows_nothing(person, "zqanna", first.url)
    for place in (f"?session={session}", f"inspector?session={session}", *PLACES):
        first.goto(f"{office.url}/{place}")
        person.is_here(bodo)
        check_knows_nothing(person, "zqanna", place)
    assert context.request.get(file).status == 404


def test_the_other_tab_of_who_signed_out_shows_the_next_person_nothing(
    office: Office, model: ScriptedModel, context: BrowserContext, tmp_path: Path
) -> None:
    model.steps = answer
    anna, bodo = office.person(), office.person()
    person = Person(context, office.url)
    first = person.visit()
    person.sign_in(anna)
    second = person.visit()
    person.is_here(anna)
    works(person, "zqanna", tmp_path)

    person.page = first
    person.sign_out(anna)
    person.is_out()
    person.forget_frames()
    person.sign_in(bodo)  # before the other tab is looked at again
    person.page = second
    second.bring_to_front()

    person.is_out()
    check_knows_nothing(person, "zqanna")
    second.reload()
    person.is_here(bodo)
    check_knows_nothing(person, "zqanna")


@pytest.mark.parametrize("place", ["", "search?q=about"])
def test_a_person_whose_cookie_is_another_persons_loses_the_page(
    office: Office, context: BrowserContext, place: str
) -> None:
    anna, bodo = office.person(), office.person()
    person = Person(context, office.url)
    first = person.visit(place)
    person.sign_in(anna)
    second = person.visit()
    person.is_here(anna)
    person.composer.fill("A draft about zqanna")
    context.clear_cookies(name="colloquy")
    other = person.visit("sign-in")
    person.sign_in(bodo)

    for tab in (first, second, other):
        person.page = tab
        tab.bring_to_front()
        tab.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(person.sidebar.get_by_role("button", name=anna)).to_have_count(0)
        check_knows_nothing(person, "a draft about zqanna")
        tab.reload()
        person.is_here(bodo)
        check_knows_nothing(person, "a draft about zqanna")
