"""How the demo model does the tasks of its plan, each as an intent. Pure."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from backend.demo_model.conversation import Call, Conversation
from backend.demo_model.intents import Intent, choose_intent
from backend.demo_model.questions.parsing import parse
from backend.demo_model.reading import UNREADABLE, money, read_rows
from backend.demo_model.team import making, report, workflow
from backend.demo_model.team.comparison import AMOUNTS, LABEL, differences_statement
from backend.demo_model.team.inputs import Task, read_task

MOST_SHOWN = 10
BY_TASKS = frozenset(("compare", "largest", "draw", "write"))  # names of intents that do tasks
_SPEC: dict[str, Any] = {
    "mark": "bar",
    "encoding": {
        "x": {"field": LABEL, "type": "nominal", "sort": "-y"},
        "y": {"field": "difference", "type": "quantitative"},
    },
}
_LEAST_PARTS = 2  # of an answer about differences: what was compared, and what differs
_NOTHING = "This task goes on with a result that it was not given: {}."


def find_task(conversation: Conversation) -> Intent | None:
    """Return the intent that does the task in the last message, if it is a known one."""
    task = read_task(conversation)
    known = _TASKS.get(task.description) if task else None
    return known(task, conversation) if task and known else None


def _compare(task: Task, conversation: Conversation) -> Intent:
    """Compare, and keep all differences as a table."""
    inner = _asking(conversation, task.question)
    asked = choose_intent(inner)
    if asked.name != "compare":
        return _on(inner, asked)
    compared = asked.plan(inner)[0]
    title = task.titled("Differences")
    kept = making.make_table(title, "fi", differences_statement(compared.arguments))

    def words(_: Conversation) -> str:
        parts = asked.answer(inner).split("\n\n")
        artifact = making.find_made(conversation, kept)
        if len(parts) < _LEAST_PARTS or not artifact:
            return UNREADABLE
        return "\n\n".join([parts[0], f"All differences: {artifact.link}.", parts[-1]])

    return Intent("compare", _always, _one_by_one(compared, kept), words, asked.thought)


def _look_into_largest(task: Task, conversation: Conversation) -> Intent:
    """Compare again, find what explains the largest differences, and keep those as a table."""
    question = task.question
    if parse(question, None).limit is None:
        question = f"{question}, the {MOST_SHOWN} largest"
    inner = _asking(conversation, question)
    asked = choose_intent(inner)
    if asked.name != "compare":
        return _on(inner, asked)
    statement = differences_statement(asked.plan(inner)[0].arguments, MOST_SHOWN)
    kept = making.make_table(task.titled("Largest differences"), "fi", statement)

    def needed(_: Conversation) -> list[Call]:
        looked_up = list(asked.plan(inner))
        is_done = all(making.find_result(conversation, call) for call in looked_up)
        return [*looked_up, kept] if is_done else looked_up

    def words(_: Conversation) -> str:
        artifact = making.find_made(conversation, kept)
        parts = asked.answer(inner).split("\n\n")
        if len(parts) < _LEAST_PARTS or not artifact:
            return UNREADABLE
        lead = parts[1].replace("differences:", f"differences{_first(inner)}:")
        return "\n\n".join([lead, *parts[2:], f"Kept as {artifact.link}."])

    return Intent("largest", _always, needed, words, "What explains the largest is looked for.")


def _draw(task: Task, _: Conversation) -> Intent:
    table = task.artifact("largest")
    if table is None:
        return _saying(_NOTHING.format("the largest differences"))
    drawn = making.draw(table, task.titled("Chart"), _SPEC)

    def words(conversation: Conversation) -> str:
        artifact = making.find_made(conversation, drawn)
        return f"I have drawn {table.link}: {artifact.link}." if artifact else UNREADABLE

    return Intent("draw", _always, _one_by_one(drawn), words, "A chart of a table is asked for.")


def _write(task: Task, conversation: Conversation) -> Intent:
    """Read the largest differences, and write the report, each number with its cell."""
    table, everything = task.artifact("largest"), task.artifact("differences")
    if table is None or everything is None:
        return _saying(_NOTHING.format("the differences"))
    looked_up = making.read(table)
    result = making.find_result(conversation, looked_up)
    rows = read_rows(result.content, LABEL, *AMOUNTS) if result else []
    if result is None:
        return Intent("write", _always, _one_by_one(looked_up), _unread, "I read before I write.")
    text = report.write(task, report.Parts(table, everything, task.artifact("chart"), rows))
    written = making.make_document(task.titled("Report"), text)

    def words(conversation: Conversation) -> str:
        artifact = making.find_made(conversation, written)
        return f"The report is written: {artifact.link}." if artifact else UNREADABLE

    return Intent("write", _always, _one_by_one(looked_up, written), words, "I write it down.")


def _first(conversation: Conversation) -> str:
    """Return the amount of the first difference, in words."""
    results = [r for r in conversation.results if r.call.name == "compare_sources"]
    rows = read_rows(results[0].content, "difference") if results else []
    return f", the first of them {money(rows[0]['difference'])}" if rows else ""


def _one_by_one(*calls: Call) -> Callable[[Conversation], list[Call]]:
    """Return a plan that makes each call after the previous ones are answered."""

    def needed(conversation: Conversation) -> list[Call]:
        done = [call for call in calls if making.find_result(conversation, call)]
        return [*done, *[call for call in calls if call not in done][:1]]

    return needed


def _asking(conversation: Conversation, question: str) -> Conversation:
    """Return the conversation as if the plan's question had been asked."""
    return replace(conversation, question=question, transcript=(("user", question),))


def _on(inner: Conversation, asked: Intent) -> Intent:
    """Return an intent that answers another conversation's question."""
    plan, words = asked.plan(inner), asked.answer
    return replace(asked, plan=lambda _: plan, answer=lambda _: words(inner), steps=())


def _saying(words: str) -> Intent:
    return Intent("refused", _always, lambda _: [], lambda _: words)


def _unread(_: Conversation) -> str:
    return UNREADABLE


def _always(_: Conversation) -> bool:
    return True


_TASKS: dict[str, Callable[[Task, Conversation], Intent]] = {
    workflow.COMPARE.description: _compare,
    workflow.LARGEST.description: _look_into_largest,
    workflow.DRAW.description: _draw,
    workflow.WRITE.description: _write,
}
