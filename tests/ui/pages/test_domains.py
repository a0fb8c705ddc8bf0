"""The administrators' page of domains: list, form, preview, versions."""

import pytest

from backend.schemas.configuration import DriftChange, Fault
from backend.schemas.sessions import Problem
from tests.ui.pages.test_chat import words

PAGE = "app_pages/domains.py"


@pytest.fixture
def open_domains(open_page):
    def open_it(domain=None):
        page = open_page().switch_page(PAGE)
        if domain is not None:
            page.query_params["domain"] = str(domain)
        return page.run()

    return open_it


def said(page) -> str:
    """All words of the page, without what keeps Markdown from reading them."""
    kinds = (page.toast, page.warning, page.error, page.info)
    more = [element.value for kind in kinds for element in kind]
    return "\n".join([words(page), *more]).replace("\\", "").replace("&#58;", ":")


def save(page, domain):
    return page.button(key=f"domain-{domain.id}-save").click().run()


def field(page, domain, name):
    key = f"domain-{getattr(domain, 'id', domain)}-{name}"
    kinds = ("text_input", "text_area", "number_input", "toggle", "multiselect", "selectbox")
    return next(w for kind in kinds for w in getattr(page, kind) if w.key == key)


def test_domains_are_listed_with_their_marks_and_sessions(open_domains, store):
    store.domains.add("finance", sessions=12, description="Budgets.")
    store.domains.add("old", archived=True, sessions=1)

    page = open_domains()

    assert not page.exception
    text = said(page)
    assert all(word in text for word in ("Budgets.", "12 sessions", "1 session ·", "version 1"))
    assert {"Default", "Archived"} <= {badge.strip() for badge in badges(page)}


def badges(page):
    return [
        word
        for markdown in page.markdown
        for word in ("Default", "Archived")
        if "badge" in markdown.value and word in markdown.value
    ]


def test_a_field_is_changed_and_only_that_is_sent(open_domains, store):
    domain = store.domains.add(system_prompt="Be brief.", tools=["get_budget"])
    page = open_domains(domain.id)

    field(page, domain, "system_prompt").input("Be thorough.").run()
    assert "Not saved yet" in said(page)
    save(page, domain)

    assert not page.exception
    assert store.bodies == [{"system_prompt": "Be thorough.", "version": 1}]
    assert "Saved as version 2" in said(page)
    assert field(page, domain, "system_prompt").value == "Be thorough."
    assert "Not saved yet" not in said(page)


def test_every_field_arrives_as_the_api_has_it(open_domains, store):
    domain = store.domains.add()
    page = open_domains(domain.id)

    field(page, domain, "all_tools").set_value(False).run()
    field(page, domain, "tools").set_value(["get_budget"])
    field(page, domain, "model").set_value("gpt-4o")
    field(page, domain, "limits.steps").set_value(7)
    field(page, domain, "limits.cost").set_value(1.5)
    field(page, domain, "retention_days").set_value(30)
    field(page, domain, "middleware").set_value("- recent_messages:\n    keep: 5\n- other")
    field(page, domain, "agents").set_value("- name: Anna\n  system_prompt: |\n    You are Anna.\n")
    field(page, domain, "mcp_servers").set_value(
        '{"s": {"transport": "stdio", "command": "c", "args": ["-v"]}}'
    )
    page.run()
    save(page, domain)

    (body,) = store.bodies
    limits = body.pop("limits")
    assert (limits["steps"], limits["cost"], limits["tool_seconds"]) == (7, 1.5, 600)
    assert body == {
        "tools": ["get_budget"],
        "model": "gpt-4o",
        "retention_days": 30,
        "middleware": [{"recent_messages": {"keep": 5}}, "other"],
        "agents": [{"name": "Anna", "system_prompt": "You are Anna.\n"}],
        "mcp_servers": {"s": {"transport": "stdio", "command": "c", "args": ["-v"]}},
        "version": 1,
    }


def test_faults_stand_at_their_fields(open_domains, store):
    domain = store.domains.add()
    store.domains.faults = [
        Fault(path=["agents", 1, "tools"], message="There is no tool 'x'."),
        Fault(path=["limits", "steps"], message="Too small."),
    ]

    text = said(open_domains(domain.id))

    assert "2 / tools: There is no tool 'x'." in text
    assert "Too small." in text


def test_what_cannot_be_read_is_said_and_kept(open_domains, store):
    domain = store.domains.add()
    page = open_domains(domain.id)

    field(page, domain, "middleware").input("- a: [").run()
    assert "This cannot be read in line" in said(page)
    save(page, domain)

    assert store.bodies == []
    assert "Not saved" in said(page)
    assert field(page, domain, "middleware").value == "- a: ["


def test_nothing_typed_is_lost_when_the_service_refuses_or_fails(open_domains, store):
    domain = store.domains.add()
    page = open_domains(domain.id)
    field(page, domain, "description").input("Mine.").run()

    store.domains.refusal = Problem(title="Domain name taken", status=409, detail="Choose another.")
    save(page, domain)
    assert "Choose another." in said(page)
    assert field(page, domain, "description").value == "Mine."

    store.refusal = Problem(title="Database unavailable", status=503, detail="Try again.")
    page.run()
    store.refusal = store.domains.refusal = None
    page.run()

    assert field(page, domain, "description").value == "Mine."
    save(page, domain)
    assert store.domains.items[domain.id].description == "Mine."


def test_typed_text_outlives_a_look_at_the_preview(open_domains, store):
    domain = store.domains.add()
    page = open_domains(domain.id)
    field(page, domain, "system_prompt").input("Mine.").run()

    view = page.segmented_control(key=f"domain-{domain.id}-view")
    view.set_value("Preview").run()
    assert "system_prompt: Mine." in page.code[0].value
    page.segmented_control(key=f"domain-{domain.id}-view").set_value("Edit").run()

    assert field(page, domain, "system_prompt").value == "Mine."


def test_a_version_saved_by_somebody_else_is_told_and_typed_text_is_kept(open_domains, store):
    domain = store.domains.add(description="First.", system_prompt="One.")
    page = open_domains(domain.id)
    field(page, domain, "system_prompt").input("Mine.").run()
    store.domains.change(domain.id, {"description": "Theirs."})

    page.run()
    assert "Version 2 was saved while you edited version 1" in said(page)
    page.button(key=f"domain-{domain.id}-rebase").click().run()

    assert field(page, domain, "system_prompt").value == "Mine."
    assert field(page, domain, "description").value == "Theirs."
    save(page, domain)
    assert store.bodies == [{"system_prompt": "Mine.", "version": 2}]


def test_typed_text_can_be_discarded(open_domains, store):
    domain = store.domains.add(description="First.")
    page = open_domains(domain.id)
    field(page, domain, "description").input("Mine.").run()

    page.button(key=f"domain-{domain.id}-discard").click().run()

    assert field(page, domain, "description").value == "First."


def test_a_new_domain_is_made_and_opened(open_domains, store):
    page = open_domains()
    page.button(key="new-domain").click().run()
    assert not page.exception

    field(page, "new", "name").input("audit").run()
    page.button(key="domain-new-save").click().run()

    assert not page.exception
    (made,) = store.domains.items.values()
    assert made.name == "audit"
    assert page.query_params["domain"] == str(made.id)
    assert "Saved as version 1" in said(page)


def test_versions_show_what_is_another_today_and_one_is_restored(open_domains, store):
    domain = store.domains.add(system_prompt="One.\nTwo.\nThree.")
    store.domains.change(domain.id, {"system_prompt": "One.\nTwo!\nThree."})
    store.domains.versions[domain.id][1].changes = [
        DriftChange(
            path=["system_prompt"],
            kind="changed",
            image="One.\nTwo.\nThree.",
            domain="One.\nTwo!\nThree.",
        )
    ]
    page = open_domains(domain.id)
    page.segmented_control(key=f"domain-{domain.id}-view").set_value("Versions").run()
    assert "what the domain is today" in said(page)

    page.selectbox[0].set_value(1).run()
    assert not page.exception
    assert page.code[0].value.splitlines() == [" One.", "-Two.", "+Two!", " Three."]
    page.button(key=f"restore-{domain.id}-1").click().run()

    assert store.domains.items[domain.id].system_prompt == "One.\nTwo.\nThree."
    assert "Restored: version 3" in said(page)


def test_missing_secrets_are_told(open_domains, store):
    domain = store.domains.add()
    warning = "${COLLOQUY_SECRET_X} is not set here."
    store.domains.warnings = [Fault(path=["mcp_servers", "s", "url"], message=warning)]

    assert "COLLOQUY_SECRET_X" in said(open_domains(domain.id))


def test_a_link_to_no_domain_says_so(open_domains):
    assert "does not lead to a domain" in said(open_domains("nonsense"))


def test_others_are_told_that_it_is_for_administrators(open_domains, store):
    store.server.is_admin = False

    page = open_domains()

    assert "administrators" in page.info[0].value
    assert "new-domain" not in [button.key for button in page.button]
