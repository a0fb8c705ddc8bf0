"""A session is shared with a person and shared no longer, and is given to a team."""

from playwright.sync_api import BrowserContext, expect

from tests.e2e.people.people import Office, Person

MAKE = """async () => {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ title: "Budget of 2026" });
  const answer = await fetch("/colloquy/api/sessions", { method: "POST", headers, body });
  return (await answer.json()).id;
}"""


def test_a_session_is_shared_with_a_person_and_given_to_a_team(
    office: Office, contexts: list[BrowserContext]
) -> None:
    owner, other = (Person(context, office.url) for context in contexts)
    names = office.person(), office.person()
    ids = [office.stack.query("SELECT id FROM users WHERE login = :l", l=n)[0][0] for n in names]
    team = office.call("POST", "teams", json={"name": f"Crew of {names[0]}"})["id"]
    member = f"teams/{team}/members/{ids[0]}"
    headers = {"Authorization": f"Bearer {office.admin}"}
    assert office.stack.client.put(f"/{member}", headers=headers).is_success
    for person, name in zip((owner, other), names, strict=True):
        person.visit()
        person.sign_in(name)
    session_id = owner.page.evaluate(MAKE)
    owner.visit(f"?session={session_id}")

    owner.main.get_by_role("button", name="Share", exact=True).click()
    dialog = owner.page.get_by_role("dialog", name="Share this session")
    dialog.get_by_label("Find a person or a team").fill(names[1][:-1])
    expect(dialog.get_by_label("With")).to_have_value(f"user:{ids[1]}")
    dialog.get_by_label("They").select_option("may continue")
    dialog.get_by_role("button", name="Share", exact=True).click()
    expect(dialog.get_by_text(f"{names[1]} may continue")).to_be_visible()
    other.visit(f"?session={session_id}")
    other.sees("Budget of 2026", f"Shared by {names[0]}")
    expect(other.row(session_id)).to_have_text(f"Budget of 2026 · Shared by {names[0]}")
    expect(other.main.get_by_role("button", name="Share", exact=True)).to_have_count(0)

    dialog.get_by_role("button", name="Take away").click()
    expect(dialog.get_by_text(f"{names[1]} may continue")).to_have_count(0)
    expect(other.row(session_id)).to_have_count(0)
    dialog.get_by_label("Belongs to").select_option(f"Team Crew of {names[0]}")
    owner.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    expect(owner.main.get_by_text(f"Team Crew of {names[0]}")).to_be_visible()
