"""The administrators' page of domains: list, form, preview, versions."""

import pytest

from backend.schemas.conversations.sessions import Problem
from backend.schemas.domains.configuration import DriftChange, Fault
from backend.schemas.domains.dry_runs import FirstRequest
from backend.schemas.domains.servers import ServerReport, ServerTool
from tests.ui.pages.chat.test_chat import words

PAGE = "app_pages/administration/domains.py"


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


def section(page, domain, name):
    """Open a tab of the form."""
    page.session_state[f"section-domain-{getattr(domain, 'id', domain)}"] = name
    return page.run()


def view(page, domain, name):
    key = f"view-domain-{getattr(domain, 'id', domain)}"
    return page.segmented_control(key=key).set_value(name).run()


def press(page, label):
    return next(b for b in page.button if b.label == label).click().run()


def newest(page, kind, label):
    """The field of this label that was drawn last."""
    return next(w for w in reversed(getattr(page, kind)) if w.label == label)


def test_every_field_arrives_as_the_api_has_it(open_domains, store):
    domain = store.domains.add()
    page = open_domains(domain.id)

    field(page, domain, "model").set_value("gpt-4o")
    field(page, domain, "suggestions").set_value("How much?\n\n Why?")
    section(page, domain, "Tools")
    field(page, domain, "tools.switch").set_value(True).run()
    field(page, domain, "tools").set_value(["get_budget"])
    press(page, "Add tool server")
    newest(page, "text_input", "Address").set_value("http://x/mcp")
    press(page, "Add header")
    newest(page, "text_input", "Value").set_value("Bearer ${T}").run()
    newest(page, "text_input", "Name").set_value("ledger").run()
    section(page, domain, "Agents")
    press(page, "Add agent")
    newest(page, "text_input", "Name").set_value("Anna")
    newest(page, "toggle", "Own middleware").set_value(True)
    newest(page, "text_area", "System prompt").set_value("You are Anna.").run()
    section(page, domain, "Middleware")
    press(page, "Recent messages")
    newest(page, "number_input", "Keep").set_value(5)
    press(page, "Title")
    section(page, domain, "Rules")
    press(page, "Add rule")
    newest(page, "selectbox", "What happens").set_value("deny").run()
    section(page, domain, "Limits")
    field(page, domain, f"limits.steps~{rows(page)}").set_value(7)
    field(page, domain, f"limits.cost~{rows(page)}").set_value(1.5)
    field(page, domain, f"retention_days~{rows(page)}").set_value(30)
    save(page, domain)

    assert not page.exception
    assert store.bodies == [
        {
            "tools": ["get_budget"],
            "model": "gpt-4o",
            "suggestions": ["How much?", "Why?"],
            "retention_days": 30,
            "limits": {"steps": 7, "cost": 1.5},
            "middleware": [
                {"approvals": {"rules": [{"tools": "*", "action": "deny"}]}},
                {"recent_messages": {"keep": 5}},
                "title",
            ],
            "agents": [{"name": "Anna", "middleware": [], "system_prompt": "You are Anna."}],
            "mcp_servers": {
                "ledger": {
                    "transport": "streamable_http",
                    "url": "http://x/mcp",
                    "headers": {"Authorization": "Bearer ${T}"},
                }
            },
            "version": 1,
        }
    ]


def rows(page) -> int:
    (draft,) = page.session_state["domain-forms"].values()
    return draft.rows


def test_rows_are_moved_and_removed(open_domains, store):
    domain = store.domains.add(middleware=["title", {"recent_messages": {"keep": 9}}, "other"])
    page = section(open_domains(domain.id), domain, "Middleware")
    assert "There is no middleware named other." in said(page)

    press(page, "Move Title down")
    assert newest(page, "number_input", "Keep").value == 9
    page.button(key=f"domain-{domain.id}-middleware.2.remove~1").click().run()
    save(page, domain)

    assert store.bodies[0]["middleware"] == [{"recent_messages": {"keep": 9}}, "title"]


def test_faults_stand_at_their_fields_and_those_of_other_tabs_are_named(open_domains, store):
    domain = store.domains.add(agents=[{"name": "A"}])
    store.domains.faults = [
        Fault(path=["agents", 0, "name"], message="Give it a name."),
        Fault(path=["limits", "steps"], message="Too small."),
    ]
    page = open_domains(domain.id)

    assert "agents / 1 / name: Give it a name.] See *Agents*." in said(page)
    section(page, domain, "Agents")
    assert "error: Give it a name.]" in said(page)
    assert "agents / 1 / name" not in said(page)
    assert "limits / steps: Too small.] See *Limits*." in said(page)


def test_a_new_domain_is_not_told_off_before_anybody_has_tried_to_make_it(open_domains, store):
    store.domains.faults = [Fault(path=["name"], message="Give it a name.")]
    page = open_domains("new")
    assert "Give it a name." not in said(page)

    page.button(key="domain-new-save").click().run()

    assert "name: Give it a name." in said(page)
    assert store.domains.items == {}


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


def test_servers_are_looked_at_and_their_tools_offered(open_domains, store):
    servers = {"s": {"transport": "streamable_http", "url": "http://x/mcp"}}
    domain = store.domains.add(mcp_servers=servers, agents=[{"name": "A", "tools": []}])
    tool = ServerTool(
        name="look", called="look", description="Looks.", input_schema={}, effect="acts",
        status="accepted",
    )  # fmt: skip
    report = {"transport": "streamable_http", "seconds": 0.1}
    store.servers.reports = [
        ServerReport(name="s", answers=True, tools=[tool], **report),
        ServerReport(name="t", answers=False, problem="nothing answers", **report),
    ]
    page = section(open_domains(domain.id), domain, "Tools")

    press(page, "Check which tools answer")

    assert "**look**: Looks." in said(page)
    assert "Nothing answers. Turns would go on without its tools." in said(page)
    section(page, domain, "Agents")
    assert "look" in newest(page, "multiselect", "Tools").options


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
    store.server.is_admin = False

    page = open_domains()

    assert "administrators" in page.info[0].value
    assert "new-domain" not in [button.key for button in page.button]
