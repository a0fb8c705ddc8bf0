"""Each field of a domain's form arrives as the API has it, and faults are said where they are."""

from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.servers import ServerReport, ServerTool
from tests.ui.pages.domains.domain_page import field, newest, press, said, save, section


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


def test_the_limits_of_a_session_are_called_so(open_domains, store):
    domain = store.domains.add()
    page = section(open_domains(domain.id), domain, "Limits")

    labels = [box.label for box in page.number_input]
    assert {"Session tokens", "Session cost"} <= set(labels)
    assert not [label for label in labels if "onversation" in label]


def test_a_managers_help_speaks_of_the_form_not_of_the_api(open_domains, store):
    domain = store.domains.add(manager={}, agents=[{"name": "A"}])
    page = section(open_domains(domain.id), domain, "Manager")

    assert "Tools that it may call. Empty: none." in said(page)
    assert "absent" not in said(page)
    assert "`" not in said(page)


def test_of_many_agents_ten_are_drawn_at_a_time(open_domains, store):
    def names() -> list[str]:
        return [box.value for box in page.text_input if box.label == "Name"]

    agents = [{"name": f"A{number}"} for number in range(1, 21)]
    domain = store.domains.add(agents=agents)
    page = section(open_domains(domain.id), domain, "Agents")
    assert names() == [f"A{number}" for number in range(1, 11)]

    field(page, domain, "agents.9.description").input("The tenth.").run()
    press(page, "Add agent")
    assert names() == ["assistant"]
    press(page, "Remove agent 21")
    assert names() == [f"A{number}" for number in range(11, 21)]
    save(page, domain)

    (sent,) = store.bodies
    assert sent["agents"][9] == {"name": "A10", "description": "The tenth."}
    assert len(sent["agents"]) == 20


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


def test_an_agent_whose_last_own_policy_is_removed_has_none(open_domains, store):
    domain = store.domains.add(
        middleware=["summarization"], agents=[{"name": "A", "middleware": ["title"]}]
    )
    page = section(open_domains(domain.id), domain, "Agents")

    press(page, "Remove Title")
    save(page, domain)

    assert store.bodies[0]["agents"][0]["middleware"] == []


def test_the_last_rule_is_removed_with_the_policy_that_needs_one(open_domains, store):
    rules = [{"tools": "*", "action": "ask"}, {"tools": "list_sources", "action": "allow"}]
    domain = store.domains.add(middleware=["title", {"approvals": {"rules": rules}}])
    page = section(open_domains(domain.id), domain, "Rules")

    press(page, "Remove rule 1")
    press(page, "Remove rule 1")
    save(page, domain)

    assert store.bodies[0]["middleware"] == ["title"]


def test_a_rule_that_no_longer_asks_loses_what_only_asking_uses(open_domains, store):
    asks = {"tools": "*", "action": "ask", "decisions": ["approve"], "description": "Sure?"}
    domain = store.domains.add(middleware=[{"approvals": {"rules": [asks]}}])
    page = section(open_domains(domain.id), domain, "Rules")

    newest(page, "selectbox", "What happens").set_value("deny").run()
    assert "Allowed decisions" not in [field.label for field in page.multiselect]
    save(page, domain)

    rules = [{"tools": "*", "action": "deny"}]
    assert store.bodies[0]["middleware"] == [{"approvals": {"rules": rules}}]


def test_a_stored_rules_settings_without_effect_can_be_removed(open_domains, store):
    denies = {"tools": "*", "action": "deny", "description": "Sure?"}
    domain = store.domains.add(middleware=[{"approvals": {"rules": [denies]}}])
    page = section(open_domains(domain.id), domain, "Rules")

    newest(page, "text_input", "Note to the person").set_value("").run()
    save(page, domain)

    rules = [{"tools": "*", "action": "deny"}]
    assert store.bodies[0]["middleware"] == [{"approvals": {"rules": rules}}]


def test_faults_stand_at_their_fields_and_those_of_other_tabs_are_named(open_domains, store):
    domain = store.domains.add(agents=[{"name": "A"}])
    store.domains.faults = [
        Fault(path=["agents", 0, "name"], message="Give it a name."),
        Fault(path=["limits", "steps"], message="Too small."),
        Fault(path=["retention_days"], message="Too few."),
        Fault(path=["model"], message="Write text here."),
    ]
    page = open_domains(domain.id)

    assert "agents / 1 / name: Give it a name.] See *Agents*." in said(page)
    section(page, domain, "Agents")
    assert "error: Give it a name.]" in said(page)
    assert "agents / 1 / name" not in said(page)
    assert "limits / steps: Too small.] See *Limits*." in said(page)
    assert "retention_days: Too few.] See *Limits*." in said(page)
    assert "model: Write text here.] See *Basics*." in said(page)


def test_a_new_domain_is_not_told_off_before_anybody_has_tried_to_make_it(open_domains, store):
    store.domains.faults = [Fault(path=["name"], message="Give it a name.")]
    page = open_domains("new")
    assert "Give it a name." not in said(page)

    page.button(key="domain-new-save").click().run()

    assert "name: Give it a name." in said(page)
    assert store.domains.items == {}


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
