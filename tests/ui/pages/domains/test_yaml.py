"""Form, YAML and preview show the same draft of a domain."""

from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.dry_runs import FirstRequest
from tests.ui.pages.domains.domain_page import field, press, said, save, section, view
from tests.ui.pages.domains.test_form import rows


def test_form_and_yaml_show_the_same_draft(open_domains, store):
    domain = store.domains.add(system_prompt="Be brief.", middleware=["title"])
    page = open_domains(domain.id)
    field(page, domain, "description").input("Mine.").run()

    view(page, domain, "YAML")
    text = page.text_area[0].value
    assert "description: Mine.\n" in text
    page.text_area[0].input(f"# mine\n{text}retention_days: 30\n").run()
    assert page.text_area[0].value.startswith("# mine\n")
    view(page, domain, "Form")
    section(page, domain, "Limits")
    assert field(page, domain, f"retention_days~{rows(page)}").value == 30
    section(page, domain, "Basics")
    assert field(page, domain, f"description~{rows(page)}").value == "Mine."
    save(page, domain)

    assert store.bodies == [{"description": "Mine.", "retention_days": 30, "version": 1}]


def test_faults_are_named_at_their_lines(open_domains, store):
    domain = store.domains.add(agents=[{"name": "A"}, {"name": "B"}])
    store.domains.faults = [Fault(path=["agents", 1, "name"], message="Give it a name.")]

    page = view(open_domains(domain.id), domain, "YAML")

    assert "**Line 4**" in said(page)
    assert "agents / 2 / name: Give it a name." in said(page)
    assert page.code[0].value == "   4 |   - name: B"


def test_yaml_that_cannot_be_read_is_said_and_kept(open_domains, store):
    domain = store.domains.add()
    page = view(open_domains(domain.id), domain, "YAML")

    page.text_area[0].input("name: d\nagents: [").run()
    assert "This cannot be read in line" in said(page)
    save(page, domain)
    assert store.bodies == []
    assert "Not saved" in said(page)
    view(page, domain, "Form")
    assert "Correct it under *YAML*" in said(page)
    view(page, domain, "YAML")

    assert page.text_area[0].value == "name: d\nagents: ["


def test_yaml_that_cannot_be_read_is_shown_at_its_line_without_the_faults_of_before(
    open_domains, store
):
    domain = store.domains.add(agents=[{"name": "A"}])
    store.domains.faults = [Fault(path=["agents", 0, "name"], message="Give it a name.")]
    page = view(open_domains(domain.id), domain, "YAML")

    page.text_area[0].input("name: d\nagents:\n  - name: A\n b: 1").run()

    assert "its indentation does not fit" in said(page)
    assert [code.value for code in page.code] == ["   4 |  b: 1"]
    assert "Give it a name." not in said(page)


def test_what_the_form_cannot_show_is_left_to_the_yaml(open_domains, store):
    domain = store.domains.add()
    page = view(open_domains(domain.id), domain, "YAML")

    page.text_area[0].input("name: d\nagents: 1\nlimits: {steps: many}\nmodel: [1]").run()
    view(page, domain, "Form")
    for name in ("Basics", "Tools", "Agents", "Middleware", "Rules", "Limits"):
        section(page, domain, name)
        assert not page.exception
        assert ("edit it in *YAML*" in said(page)) == (name in ("Basics", "Limits"))

    view(page, domain, "YAML")
    assert page.text_area[0].value == "name: d\nagents: 1\nlimits: {steps: many}\nmodel: [1]"


def test_a_dry_run_shows_what_would_be_sent_of_what_is_written_now(open_domains, store):
    domain = store.domains.add(suggestions=["How much?"])
    store.domains.request = FirstRequest(
        agent="assistant",
        model="scripted",
        messages=[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hm?"}],
        tools=[{"function": {"name": "look", "description": "Looks.", "parameters": {}}}],
        settings={"model": "scripted", "stream": True},
        purpose="answer",
    )
    page = open_domains(domain.id)
    field(page, domain, "system_prompt").input("Be kind.").run()
    view(page, domain, "Dry run")

    press(page, "Show it")

    (trial,) = store.domains.trials
    assert (trial["question"], trial["domain_id"]) == ("How much?", str(domain.id))
    assert trial["template"]["system_prompt"] == "Be kind."
    shown = [code.value for code in page.code]
    assert shown[:2] == ["Be kind.", "Hm?"]
    assert '"stream": true' in "".join(shown)
    assert "2 messages, 1 tool" in said(page)
    assert store.bodies == []
