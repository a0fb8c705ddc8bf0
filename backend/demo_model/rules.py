"""How the demo model responds to a conversation: think, call tools, or answer. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend.demo_model.conversation import Call, Conversation, Result
from backend.demo_model.intents import Intent, choose_intent
from backend.demo_model.reading import UNREADABLE
from backend.demo_model.team import continuity, manager
from backend.demo_model.team.members import leads
from backend.demo_model.team.tasks import BY_TASKS, find_task
from backend.demo_model.todos import next_tick, without_todos

_MAX_ROUNDS = 8


@dataclass(frozen=True)
class Reply:
    """One message of the model: its thinking, and either text or tool calls.

    `gives_up`: the text says why the request could not be fulfilled.
    """

    thinking: str
    text: str = ""
    calls: tuple[Call, ...] = ()
    gives_up: bool = False


def reply(conversation: Conversation, parallel: bool = True) -> Reply:
    """Return the next message: the calls still to be made, or the answer from their results."""
    if continuity.is_asked(conversation):
        return Reply("I am asked who goes on.", continuity.answer(conversation))
    if leads(conversation.system):
        response = manager.respond(conversation)
        return Reply(response["reasoning"], manager.in_form(response))
    everything, conversation = conversation, without_todos(conversation)
    task = find_task(conversation)
    answer = _work(everything, conversation, task or choose_intent(conversation), parallel)
    if task and not answer.calls and (answer.gives_up or task.name not in BY_TASKS):
        return replace(answer, text=manager.in_form(manager.not_done(answer.text)))
    return answer


def _work(
    everything: Conversation, conversation: Conversation, intent: Intent, parallel: bool
) -> Reply:
    planned = intent.plan(conversation)
    called = [result.call for result in conversation.results]
    todo = [call for call in planned if call not in called]
    missing = sorted({call.name for call in todo} - conversation.tools)
    if todo and missing:
        return Reply(f"I would need {_listed(missing)}.", _no_tool(missing), gives_up=True)
    failed = [result for result in conversation.results if is_error(result)]
    is_done = not todo or len(called) >= _MAX_ROUNDS
    if not failed and (tick := next_tick(everything, intent.steps, is_done=is_done)):
        return Reply("This takes several steps; I keep a list of them.", calls=(tick,))
    if not is_done:
        chosen = todo if parallel else todo[:1]
        return Reply(f"{intent.thought} {_announce(chosen)}", calls=tuple(chosen))
    if failed:
        return Reply("A tool answered with an error; I say so.", _admit(failed), gives_up=True)
    answer = intent.answer(conversation)
    return Reply(_look_back(conversation.results), answer, gives_up=answer == UNREADABLE)


def is_error(result: Result) -> bool:
    """Return whether a tool result is an error's text."""
    return result.content.lstrip().lower().startswith("error")


def _announce(calls: Sequence[Call]) -> str:
    names = [call.name for call in calls]
    together = " at the same time" if len(calls) > 1 else ""
    return f"I call {_listed(names)}{together}."


def _look_back(results: Sequence[Result]) -> str:
    if not results:
        return "No tool is needed for this."
    plural = "" if len(results) == 1 else "s"
    return f"I have {len(results)} tool result{plural} to put into words."


def _admit(failed: Sequence[Result]) -> str:
    lines = [f"- `{result.call.name}`: {result.content.strip()}" for result in failed]
    return "I could not look this up. The tool answered with an error:\n\n" + "\n".join(lines)


def _no_tool(missing: Sequence[str]) -> str:
    return (
        f"To answer this I would need the tool {_listed(missing)}, which this agent was not given. "
        "Choose an agent or a domain that has it."
    )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in dict.fromkeys(names))
