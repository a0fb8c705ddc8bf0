"""The demo model as a manager: it answers, delegates, or proposes a plan and starts it. Pure."""

import json
from typing import Any

from backend.demo_model.conversation import Conversation
from backend.demo_model.plans.planning import is_compare
from backend.demo_model.questions.parsing import parse
from backend.demo_model.team import matters, workflow
from backend.demo_model.team.members import Member, choose_member, listed, read_members
from backend.demo_model.team.summing import sum_up
from backend.demo_model.words import answers
from backend.types import JSON


def in_form(response: JSON) -> str:
    """Return a response in the form that the system prompt demands."""
    return json.dumps(response, ensure_ascii=False)


def not_done(message: str) -> JSON:
    """Return the response of an agent that could not do its task."""
    return _chat(message, "It cannot be done.")


def respond(conversation: Conversation) -> JSON:
    """Return the manager's response to the newest message, or to the results of its calls."""
    members = read_members(conversation.system)
    if conversation.results:
        return _complete(sum_up(conversation.results), "The results are in.")
    if wanted := _proposed(conversation):
        if matters.agrees(conversation.question):
            return _start(wanted, members)
        if changed := matters.changed_question(wanted, conversation.asked):
            return _propose(changed, members)
        if matters.refuses(conversation.question):
            return _chat(
                "Then nothing is begun. Say what you want instead.", "The plan is refused."
            )
    if matters.asks_for_report(conversation.asked):
        return _plan(conversation, members)
    if answers.counts_to(conversation):
        return _chat(answers.count(conversation), "It takes nobody to count.")
    if matters.is_small_talk(conversation.asked):
        return _chat(_introduction(members), "It is for me.")
    return _delegate(conversation, members)


def _proposed(conversation: Conversation) -> str:
    """Return the question of the plan proposed just before, if any."""
    before = conversation.transcript[-2:-1]
    if not before or before[0][0] != "assistant":
        return ""
    begun, found, rest = before[0][1].partition(workflow.PROPOSAL)
    if not found or begun.strip() or workflow.ASKING not in rest:
        return ""
    return rest.partition("“")[2].partition("”:\n")[0]


def _start(question: str, members: list[Member]) -> JSON:
    graph = workflow.task_graph(question, members)
    message = f"The plan for “{question}” runs."
    return _complete(message, "The person agrees with the plan.", taskGraph=graph)


def _plan(conversation: Conversation, members: list[Member]) -> JSON:
    question = matters.without_report(conversation.asked)
    if not is_compare(parse(question, None)):
        about = f"“{question}”" if question else "nothing that you name"
        return _chat(
            "I can plan a report of one kind: on a reconciliation of FI and BPC, for example "
            f"“Reconcile FI and BPC for 2026 and write me a report”. Yours is about {about}.",
            "It is a report that I have no plan for.",
        )
    return _propose(question, members)


def _propose(question: str, members: list[Member]) -> JSON:
    if missing := workflow.find_missing(members):
        steps = " and ".join(f"“{step.name}”" for step in missing)
        return _chat(f"I have no agent for {steps}. These I have:\n\n{listed(members)}",
                     "The plan lacks an agent.")  # fmt: skip
    proposal = _chat(workflow.propose(question, members), "It takes several agents.")
    return {**proposal, "proposesPlan": True}


def _delegate(conversation: Conversation, members: list[Member]) -> JSON:
    matter = matters.find_matter(conversation)
    if matter is None:
        unread = ", ".join(f"“{run[:80]}”" for run in parse(conversation.asked, None).unread)
        message = f"I do not understand {unread or 'that'}.\n\n{_introduction(members)}"
        return _chat(message, "I do not understand it.")
    member = choose_member(members, matter)
    if member is None:
        return _chat(f"I have no agent for that. These I have:\n\n{listed(members)}",
                     "Nobody is for it.")  # fmt: skip
    invoked = {"name": member.name, "message": conversation.question}
    return _complete("", f"It is for {member.name}.", invokeAgent=invoked)


def _introduction(members: list[Member]) -> str:
    return (
        "I lead this team. Ask me, or name an agent with @:\n\n"
        f"{listed(members)}\n\n"
        "What takes several of them I plan, for example “Reconcile FI and BPC for 2026 and write "
        "me a report”. I am played by the demo model: rules, not a language model."
    )


def _chat(message: str, reasoning: str) -> JSON:
    return {
        "taskComplete": False,
        "message": message,
        "reasoning": reasoning,
        "nextStep": {"type": "Chat"},
    }


def _complete(message: str, reasoning: str, **elements: Any) -> JSON:
    response: JSON = {"taskComplete": True, "message": message, "reasoning": reasoning}
    if elements:
        added = [{"key": key, "value": value} for key, value in elements.items()]
        response["payloadChangeRequest"] = {"newElements": added}
    return response
