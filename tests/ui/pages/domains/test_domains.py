"""Domains are listed, made, saved and restored, and nothing typed is lost meanwhile."""

from backend.schemas.conversations.sessions import Problem
from backend.schemas.domains.configuration import DriftChange, Fault
from tests.ui.pages.domains.domain_page import field, said, save, view


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


def test_typed_text_outlives_a_look_at_the_other_views(open_domains, store):
    domain = store.domains.add()
    page = open_domains(domain.id)
    field(page, domain, "system_prompt").input("Mine.").run()

    view(page, domain, "Versions")
    view(page, domain, "Dry run")
    assert "system_prompt: Mine." in page.code[-1].value
    view(page, domain, "Form")

    assert field(page, domain, "system_prompt").value == "Mine."


def test_a_version_saved_by_somebody_else_is_told_and_typed_text_is_kept(open_domains, store):
    domain = store.domains.add(description="First.", system_prompt="One.")
    page = open_domains(domain.id)
    field(page, domain, "system_prompt").input("Mine.").run()
    store.domains.change(domain.id, {"description": "Theirs."})

    page.run()
    assert "Version 2 was saved while you edited version 1" in said(page)
    page.button(key=f"domain-{domain.id}-rebase").click().run()

    assert field(page, domain, "system_prompt~1").value == "Mine."
    assert field(page, domain, "description~1").value == "Theirs."
    save(page, domain)
    assert store.bodies == [{"system_prompt": "Mine.", "version": 2}]


def test_typed_text_is_kept_when_somebody_else_deletes_its_domain(open_domains, store):
    domain = store.domains.add(system_prompt="One.")
    page = open_domains(domain.id)
    field(page, domain, "system_prompt").input("Mine.").run()
    del store.domains.items[domain.id]
    store.domains.refusal = Problem(title="Domain not found", status=404, detail="There is none.")

    save(page, domain)

    assert "It was deleted while you edited it" in said(page)
    assert "system_prompt: Mine." in page.code[0].value
    page.run()
    assert "system_prompt: Mine." in page.code[0].value


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
    assert (made.name, made.middleware) == ("audit", ["summarization", "title"])
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
    view(page, domain, "Versions")
    assert "This is the current version" in said(page)

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

    assert "COLLOQUY_SECRET_X" in said(view(open_domains(domain.id), domain, "YAML"))


def test_a_link_to_no_domain_says_so(open_domains):
    assert "does not point to a domain" in said(open_domains("nonsense"))


def test_others_are_told_that_it_is_for_administrators(open_domains, store):
    store.server.permissions = []

    page = open_domains()

    assert "administrators" in page.info[0].value
    assert "new-domain" not in [button.key for button in page.button]
